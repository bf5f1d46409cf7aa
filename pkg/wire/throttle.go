package wire

import (
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// A request that CloudFormation throttles is sent up to three times. The pause
// before the second attempt is at most throttlePause; it doubles after that.
const (
	throttleAttempts = 3
	throttlePause    = 400 * time.Millisecond
)

// fewerRetries gives up early on requests that CloudFormation throttles: the
// caller learns of it and lowers its rate, and other runs get their share. All other
// failed requests are retried as usual.
func fewerRetries(o *cloudformation.Options) {
	if all, ok := o.Retryer.(aws.RetryerV2); ok {
		o.Retryer = throttleRetries{all}
	}
}

// throttleRetries gives up early on throttled requests.
type throttleRetries struct{ aws.RetryerV2 }

var throttles = retry.IsErrorThrottles(retry.DefaultThrottles)

// RetryDelay returns the pause after an attempt, or gives up.
func (r throttleRetries) RetryDelay(attempt int, err error) (time.Duration, error) {
	switch {
	case !throttles.IsErrorThrottle(err).Bool():
		return r.RetryerV2.RetryDelay(attempt, err)
	case attempt >= throttleAttempts:
		return 0, err
	}
	return rand.N(throttlePause << (attempt - 1)), nil
}
