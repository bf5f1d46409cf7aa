package wire

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/smithy-go"
)

// What is refused as one too many is sent three times, with pauses that others
// can use; what fails otherwise as often as anything.
func TestYielding(t *testing.T) {
	o := cloudformation.Options{Retryer: retries()}
	yielding(&o)
	crowded := &smithy.GenericAPIError{Code: "Throttling", Message: "Rate exceeded"}
	for attempt, most := range map[int]time.Duration{1: 400 * time.Millisecond, 2: 800 * time.Millisecond} {
		for range 100 {
			if wait, err := o.Retryer.RetryDelay(attempt, crowded); err != nil || wait < 0 || wait > most {
				t.Fatalf("after %d attempts it waits %s, %v", attempt, wait, err)
			}
		}
	}
	if _, err := o.Retryer.RetryDelay(3, crowded); !errors.Is(err, crowded) {
		t.Errorf("after three attempts: %v", err)
	}
	if _, err := o.Retryer.RetryDelay(3, context.DeadlineExceeded); err != nil || o.Retryer.MaxAttempts() != attempts {
		t.Errorf("of what fails otherwise: %v, %d attempts", err, o.Retryer.MaxAttempts())
	}
}
