package wire

import (
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// How often a request is sent that may be sent again, and how long the pauses
// before that are: a twentieth of a second at most before the second attempt,
// twice as long before each further one. All ten together take eight seconds on
// the average, which a look has, and any function. That half of all
// requests fail, one fails for good in a thousand; the step, or the state
// machine, then tries again.
const (
	attempts   = 10
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
)

// retries makes the SDK's standard retries, with those numbers and without a
// quota. The quota has a client give up at once when many of its requests have
// failed of late, to spare a service that is down. But ours live for seconds,
// what they ask for is bounded by the pauses and by the number of functions, and
// whoever gives up here is only asked again by the state machine.
//
// The adaptive mode has a client hold requests back when some are throttled,
// whatever they ask for: in a function that lives for seconds it would keep a
// look waiting for the sake of others, and it learns nothing before the function
// is gone.
func retries() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.Backoff = retry.BackoffDelayerFunc(pause)
		o.RateLimiter = ratelimit.None
	})
}

// pause is how long to wait after so many attempts: anything up to the bound, so
// that those who were refused together do not come back together.
func pause(attempt int, _ error) (time.Duration, error) {
	bound := min(firstPause<<min(attempt-1, 20), lastPause)
	return rand.N(bound), nil
}
