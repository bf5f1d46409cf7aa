package wire

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"
)

// A throttled request is sent three times; a request that fails otherwise is
// retried as usual.
func TestThrottledRequestsAreSentThreeTimes(t *testing.T) {
	o := cloudformation.Options{Retryer: retries()}
	fewerRetries(&o)
	throttled := &smithy.GenericAPIError{Code: "Throttling", Message: "Rate exceeded"}
	for attempt, most := range map[int]time.Duration{1: 400 * time.Millisecond, 2: 800 * time.Millisecond} {
		for range 100 {
			if wait, err := o.Retryer.RetryDelay(attempt, throttled); err != nil || wait < 0 || wait > most {
				t.Fatalf("after %d attempts it waits %s, %v", attempt, wait, err)
			}
		}
	}
	if _, err := o.Retryer.RetryDelay(3, throttled); !errors.Is(err, throttled) {
		t.Errorf("after three attempts: %v", err)
	}
	if _, err := o.Retryer.RetryDelay(3, context.DeadlineExceeded); err != nil || o.Retryer.MaxAttempts() != attempts {
		t.Errorf("another failure: %v, %d attempts", err, o.Retryer.MaxAttempts())
	}
}
