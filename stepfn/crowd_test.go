package stepfn_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	local "github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/run"
)

// crowd returns n stacks without dependencies.
func crowd(n int) stacks {
	var w stacks
	for i := range n {
		name := fmt.Sprintf("s%03d", i)
		w = append(w, stack{name: name, version: "v1", physical: physicalName(name)})
	}
	return w
}

// TestCrowd deploys and destroys many stacks at once. CloudFormation throttles no
// request if it allows as many as we assume, and few if it allows less.
func TestCrowd(t *testing.T) {
	for name, c := range map[string]struct {
		limit     sim.Limit
		events    []time.Duration
		throttled int           // at most
		took      time.Duration // at most, each run
	}{
		"as many as we assume": {sim.Limit{Reads: 5, Writes: 4, Burst: 50}, []time.Duration{time.Second}, 0, 5 * time.Minute},
		"without a burst":      {sim.Limit{Reads: 5, Writes: 4, Burst: 10}, []time.Duration{time.Second}, 60, 11 * time.Minute},
		"half of that":         {sim.Limit{Reads: 2.5, Writes: 2, Burst: 20}, []time.Duration{time.Second}, 40, 8 * time.Minute},
		"without events":       {sim.Limit{Reads: 5, Writes: 4, Burst: 50}, nil, 0, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			p := newMemory(t, 1)
			defer p.Stop()
			p.Events(c.events...)
			p.Cloud.Limit = c.limit
			for _, operation := range []string{"deploy", "destroy"} {
				id := p.Submit(operation, crowd(300), "")
				if !p.WaitIdle() {
					t.Fatalf("the %s never ends", operation)
				}
				r := p.ExecutionStatus(id)
				took, throttled := r.Ended.Sub(r.Requested), p.Cloud.Limit.Refused
				t.Logf("the %s has %s after %s, with %d throttled requests and %d executions", operation, r.State, took, throttled, r.Epoch)
				if r.State != run.StateSucceeded || took > c.took || throttled > c.throttled {
					t.Errorf("the %s has %s after %s, with %d throttled requests; want at most %s and %d", operation, r.State, took, throttled, c.took, c.throttled)
				}
				if requests := p.Requests(); len(requests) != 300 {
					t.Errorf("the %s made %d requests, want one for each of 300 stacks", operation, len(requests))
				}
				p.Cloud.Limit.Refused = 0
			}
		})
	}
}

// TestCrowdOnEmulators does the same through the real adapters, which send a throttled
// request up to three times. Every read is taken from the budget before it is sent.
// So nothing is throttled at the assumed rate, whatever the order in which functions
// run and however long the SDK pauses. At a lower rate the number depends on both.
func TestCrowdOnEmulators(t *testing.T) {
	for name, c := range map[string]struct {
		rate      float64
		throttled int // at most
	}{
		"as many as we assume": {5, 0},
		"less than half":       {2, 320},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				r.inject(local.Fault{Rate: c.rate})
				id := r.Submit("deploy", crowd(120), "")
				if !r.WaitIdle() {
					t.Fatal("the deploy never ends")
				}
				got := r.ExecutionStatus(id)
				throttled := 0
				for _, n := range r.cloud.Stacks.Throttled() {
					throttled += n
				}
				t.Logf("the deploy has %s after %s; throttled were %v, answered %v and %v", got.State, got.Ended.Sub(got.Requested),
					r.cloud.Stacks.Throttled(), r.cloud.Stacks.Reads(), r.cloud.Stacks.Calls())
				if got.State != run.StateSucceeded || throttled > c.throttled {
					t.Errorf("the deploy has %s, with %d throttled requests; want at most %d", got.State, throttled, c.throttled)
				}
			})
		})
	}
}
