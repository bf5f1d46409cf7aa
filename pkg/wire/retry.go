package wire

import (
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// A request is sent up to ten times. The pause before the second attempt is at
// most a twentieth of a second; the bound doubles before each further attempt. All
// pauses together take eight seconds on average, and every function has that time.
// If half of all requests fail, one request in a thousand fails ten times; then
// the step, or the state machine, tries again.
const (
	attempts   = 10
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
)

// retries returns the SDK's standard retryer with those numbers and without its
// quota. With the quota, a client gives up at once when many of its requests have
// failed lately, to spare a service that is down. Our clients live for seconds, and
// the pauses and the number of functions bound their requests. If a client gave up,
// the state machine would only call the function again.
//
// The adaptive mode delays all requests of a client when some are throttled. A
// function lives for seconds: the delay would hold back polls for the sake of
// other requests, and the client would learn nothing before the function ends.
func retries() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.Backoff = retry.BackoffDelayerFunc(pause)
		o.RateLimiter = ratelimit.None
	})
}

// pause returns a random time up to the bound of the attempt, so that requests
// that were throttled together are not sent together again.
func pause(attempt int, _ error) (time.Duration, error) {
	bound := min(firstPause<<min(attempt-1, 20), lastPause)
	return rand.N(bound), nil
}
