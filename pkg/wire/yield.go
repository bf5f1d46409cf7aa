package wire

import (
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// How often a request that CloudFormation refuses as one too many is sent, and
// how long it is waited at most before the second time.
const (
	yieldsAfter = 3
	yieldsFor   = 400 * time.Millisecond
)

// yielding has requests to CloudFormation that are one too many give way soon:
// whoever made them hears of it and asks for fewer, and others have their turn.
// All that fails otherwise is tried as often as anything is.
func yielding(o *cloudformation.Options) {
	if all, ok := o.Retryer.(aws.RetryerV2); ok {
		o.Retryer = yields{all}
	}
}

// yields are retries that give way.
type yields struct{ aws.RetryerV2 }

var throttles = retry.IsErrorThrottles(retry.DefaultThrottles)

// RetryDelay says how long to wait after so many attempts, or gives up.
func (y yields) RetryDelay(attempt int, err error) (time.Duration, error) {
	switch {
	case !throttles.IsErrorThrottle(err).Bool():
		return y.RetryerV2.RetryDelay(attempt, err)
	case attempt >= yieldsAfter:
		return 0, err
	}
	return rand.N(yieldsFor << (attempt - 1)), nil
}
