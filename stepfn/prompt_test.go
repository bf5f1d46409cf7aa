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

// A step starts soon after the step that it depends on has ended, while another step
// takes an hour and 40 others start: with events within 2 seconds, and without events
// within the poll interval, a quarter of the time that the first step took.
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
				for i := range 40 { // they start together with b, c or d, or just before
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
					t.Fatal("the deploy never ends")
				}
				got := r.ExecutionStatus(id)
				if got.State != run.StateSucceeded {
					t.Fatalf("%s %v", got.State, got.Messages)
				}
				for _, pair := range []string{"ab", "bc", "cd"} {
					first, second := pair[:1], pair[1:]
					gap := got.Step(second + "/create").Claimed.Sub(r.ended(first))
					t.Logf("%s starts %s after %s has ended", second, gap, first)
					if gap < 0 || gap > c.most {
						t.Errorf("%s starts %s after %s has ended, want at most %s", second, gap, first, c.most)
					}
				}
			})
		})
	}
}
