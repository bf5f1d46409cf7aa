package stepfn_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/figure"
	"github.com/stackwright/stackwright/pkg/run"
)

// A deploy of one stack, and of 80 stacks 8 wide, sends few requests to CloudFormation
// for each stack, whatever the duration of the operations: one that starts the
// operation, one that reads the outputs, and at most one more. If events are lost, it
// sends a few more: one request answers for many stacks, and the polls of a single stack
// come when its operation should have ended. The last column is of stacks whose
// duration has been learned: that of a stack that is new may be unknown.
func TestCalls(t *testing.T) {
	const few, minutes, hours = 5 * time.Second, time.Minute, 3 * time.Hour
	for _, c := range []struct {
		events string
		lost   func(n int) bool
		n      int
		took   []time.Duration

		created, updated, deleted, learned float64
	}{
		{"with events", never, 1, []time.Duration{few, minutes, 30 * time.Minute, hours}, 3, 3, 2, 3},
		{"with events", never, 80, []time.Duration{few, minutes, 30 * time.Minute, hours}, 3, 3, 2.5, 3}, // 2 is the target of a deletion
		{"all events lost", always, 1, []time.Duration{few, minutes}, 10, 8, 8, 6},
		{"all events lost", always, 1, []time.Duration{30 * time.Minute, hours}, 60, 30, 30, 6},
		{"all events lost", always, 80, []time.Duration{few, minutes}, 6, 6, 6, 6},
		{"all events lost", always, 80, []time.Duration{30 * time.Minute, hours}, 12, 7, 7, 6},
	} {
		for _, took := range c.took {
			t.Run(fmt.Sprintf("%s/%d of %s", c.events, c.n, took), func(t *testing.T) {
				counter := newCallCounter(t, c.n, took, c.lost)
				for _, of := range []struct {
					what, operation, version string
					most                     float64
				}{
					{"created", "deploy", "v1", c.created}, {"updated", "deploy", "v2", c.updated}, {"updated again", "deploy", "v3", c.learned},
					{"unchanged", "deploy", "v3", 0}, {"deleted", "destroy", "", c.deleted},
				} {
					calls, detail := counter.count(of.operation, of.version)
					figure.Report(t, fmt.Sprintf("calls/%s, %s, %d of %s", of.what, c.events, c.n, took), calls)
					if calls > of.most {
						t.Errorf("%s: %.2f requests for each stack, want at most %.2f (%s)", of.what, calls, of.most, detail)
					}
				}
			})
		}
	}
}

func never(int) bool  { return false }
func always(int) bool { return true }

// A callCounter counts requests to CloudFormation.
type callCounter struct {
	*memoryBackend
	n int
}

func newCallCounter(t *testing.T, n int, took time.Duration, lost func(int) bool) *callCounter {
	p := newMemory(t, 1)
	t.Cleanup(p.Stop)
	events := 0
	p.Faults.Event = func() []time.Duration {
		if events++; lost(events) {
			return nil
		}
		return []time.Duration{time.Second}
	}
	for _, s := range grid(n, 8) {
		p.Cloud.Seconds[s.physical] = took.Seconds()
	}
	return &callCounter{p, n}
}

// count returns how many requests an operation sends for each stack, and all of them by
// name. Its plan describes all stacks with one request in 100, which is not counted.
func (c *callCounter) count(operation, version string) (each float64, detail string) {
	c.Helper()
	w := grid(c.n, 8)
	for i := range w {
		w[i].version = version
	}
	clear(c.Cloud.Calls)
	began := c.Now()
	id := c.Submit(operation, w, "")
	if !c.WaitIdle() || c.ExecutionStatus(id).State != run.StateSucceeded {
		c.Fatalf("%s is %s: %v", operation, c.ExecutionStatus(id).State, c.ExecutionStatus(id).Messages)
	}
	if plans := c.Cloud.Calls["DescribeStacks of a plan"]; plans != 1 {
		c.Errorf("the plan of %d stacks takes %d requests", c.n, plans)
	}
	delete(c.Cloud.Calls, "DescribeStacks of a plan")
	total := 0
	for _, call := range slices.Sorted(maps.Keys(c.Cloud.Calls)) {
		total += c.Cloud.Calls[call]
		detail += fmt.Sprintf("%s %d, ", call, c.Cloud.Calls[call])
	}
	return float64(total) / float64(c.n), fmt.Sprintf("%sin %s", detail, c.ExecutionStatus(id).Ended.Sub(began))
}
