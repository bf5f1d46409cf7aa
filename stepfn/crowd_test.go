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

// crowd is a setup of so many stacks that need nothing.
func crowd(n int) stacks {
	var w stacks
	for i := range n {
		name := fmt.Sprintf("s%03d", i)
		w = append(w, stack{name: name, version: "v1", physical: physicalName(name)})
	}
	return w
}

// However few requests CloudFormation allows, many stacks go up and down again,
// and few requests are refused.
func TestCrowd(t *testing.T) {
	for name, c := range map[string]struct {
		limit   sim.Limit
		events  []time.Duration
		refused int           // at most
		most    time.Duration // that each run takes
	}{
		"as many as we think": {sim.Limit{Reads: 5, Writes: 4, Burst: 50}, []time.Duration{time.Second}, 30, 5 * time.Minute},
		"without a burst":     {sim.Limit{Reads: 5, Writes: 4, Burst: 10}, []time.Duration{time.Second}, 100, 12 * time.Minute},
		"half of that":        {sim.Limit{Reads: 2.5, Writes: 2, Burst: 20}, []time.Duration{time.Second}, 100, 12 * time.Minute},
		"without events":      {sim.Limit{Reads: 5, Writes: 4, Burst: 50}, nil, 30, 8 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			p := newMemory(t, 1)
			defer p.Stop()
			p.Events(c.events...)
			p.Cloud.Limit = c.limit
			for _, operation := range []string{"deploy", "destroy"} {
				id := p.Submit(operation, crowd(300), "")
				if !p.WaitIdle() {
					t.Fatalf("%s never ends", operation)
				}
				r := p.ExecutionStatus(id)
				took := r.Ended.Sub(r.Requested)
				t.Logf("%s is %s after %s, %d requests refused, %d executions", operation, r.State, took, p.Cloud.Limit.Refused, r.Epoch)
				if r.State != run.StateSucceeded || took > c.most || p.Cloud.Limit.Refused > c.refused {
					t.Errorf("%s is %s after %s, and %d requests were refused; want at most %s, %d", operation, r.State, took, p.Cloud.Limit.Refused, c.most, c.refused)
				}
				if asked := p.Requests(); len(asked) != 300 {
					t.Errorf("%s asked for %d things", operation, len(asked))
				}
				p.Cloud.Limit.Refused = 0
			}
		})
	}
}

// The same through the real adapters, which send what is refused again.
func TestCrowdOnEmulators(t *testing.T) {
	for name, c := range map[string]struct {
		rate    float64
		refused int // at most
	}{
		"as many as we think": {5, 120}, // of some 500; it depends on the jitter of retries
		"less than half":      {2, 400},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				r.inject(local.Fault{Rate: c.rate})
				id := r.Submit("deploy", crowd(120), "")
				if !r.WaitIdle() {
					t.Fatal("it never ends")
				}
				got := r.ExecutionStatus(id)
				refused := 0
				for _, n := range r.cloud.Stacks.Throttled() {
					refused += n
				}
				t.Logf("it is %s after %s; refused were %v, answered %v and %v", got.State, got.Ended.Sub(got.Requested),
					r.cloud.Stacks.Throttled(), r.cloud.Stacks.Reads(), r.cloud.Stacks.Calls())
				if got.State != run.StateSucceeded || refused > c.refused {
					t.Errorf("it is %s, and %d requests were refused: want at most %d", got.State, refused, c.refused)
				}
			})
		})
	}
}
