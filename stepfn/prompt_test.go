package stepfn_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/pkg/run"
)

// While a sibling takes an hour and 40 others start, from a predecessor's end to
// its dependent's begin pass at most 2 seconds with events, and without them at
// most the predecessor's own poll interval: a quarter of what it took, or 5
// seconds.
func TestPrompt(t *testing.T) {
	const took = 60 * time.Second
	for name, c := range map[string]struct {
		events []time.Duration
		most   time.Duration
	}{
		"with events":    {[]time.Duration{200 * time.Millisecond}, 2 * time.Second},
		"without events": {nil, took/4 + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t, func(o *cloud.Options) {
					o.Latency = func(*http.Request) time.Duration { return 30 * time.Millisecond }
				})
				r.Events(c.events...)
				words := []string{"hour", "a", "b<a", "c<b", "d<c"}
				for i := range 40 { // they start when b does, or c, or d, or just before
					words = append(words, fmt.Sprintf("o%02d<%s", i, []string{"a", "b", "c", "x"}[i%4]))
				}
				words = append(words, "x")
				for _, name := range []string{"a", "b", "c", "d"} {
					r.Slow(name, took)
				}
				r.Slow("x", took-time.Second)
				r.Slow("hour", time.Hour)
				id := r.Submit("deploy", parseStacks(words), "")
				if !r.WaitIdle() {
					t.Fatal("it never ends")
				}
				got := r.ExecutionStatus(id)
				if got.State != run.StateSucceeded {
					t.Fatalf("%s %v", got.State, got.Messages)
				}
				for _, after := range []string{"ab", "bc", "cd"} {
					ended := r.ended(after[:1])
					begun := got.Step(after[1:] + "/create").Claimed
					t.Logf("%s begins %s after %s has ended", after[1:], begun.Sub(ended), after[:1])
					if gap := begun.Sub(ended); gap < 0 || gap > c.most {
						t.Errorf("%s begins %s after %s has ended, not within %s", after[1:], gap, after[:1], c.most)
					}
				}
			})
		})
	}
}
