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

// A deploy of one stack, and of 100 stacks 8 wide, sends few requests to CloudFormation
// for each stack, whatever the duration of the operations: one that starts the
// operation, one that reads the outputs, and at most one more. The plan of a deploy that creates stacks counts those of the account, and one that adds exports lists those that there are. If events are lost, it
// sends a few more: one request answers for many stacks, and the polls of a single stack
// come when its operation should have ended. The last column is of stacks whose
// duration has been learned: that of a stack that is new may be unknown.
func TestCalls(t *testing.T) {
	const few, minutes, hours = 5 * time.Second, time.Minute, 3 * time.Hour
	for _, c := range []struct {
		name string
		lost func(n int) bool
		n    int
		took []time.Duration

		created, updated, deleted, learned float64
	}{
		{"one stack, with events", never, 1, []time.Duration{few, minutes, 30 * time.Minute, hours}, 5, 3, 2, 3},
		{"80 stacks, with events", never, 80, []time.Duration{few, minutes, 30 * time.Minute, hours}, 3, 3, 2, 3},
		{"one stack, all events lost", always, 1, []time.Duration{few, minutes}, 12, 8, 8, 6},
		{"one stack, all events lost", always, 1, []time.Duration{30 * time.Minute, hours}, 60, 30, 30, 6},
		{"80 stacks, all events lost", always, 80, []time.Duration{few, minutes}, 6, 6, 6, 6},
		{"80 stacks, all events lost", always, 80, []time.Duration{30 * time.Minute, hours}, 12, 7, 7, 6},
	} {
		for _, took := range c.took {
			t.Run(fmt.Sprintf("%s, %s", c.name, took), func(t *testing.T) {
				counter := newCallCounter(t, c.n, took, c.lost)
				for _, of := range []struct {
					what, version string
					most          float64
				}{
					{"created", "v1", c.created}, {"updated", "v2", c.updated}, {"updated again", "v3", c.learned},
				} {
					calls, detail := counter.count("deploy", of.version)
					t.Log(of.what, detail)
					figure.Report(t, fmt.Sprintf("calls/%s/%s, %s", of.what, c.name, took), calls, of.most)
				}
				unchanged, detail := counter.count("deploy", "v3")
				if unchanged > 0 {
					t.Errorf("an unchanged stack: %.2f requests after the plan (%s)", unchanged, detail)
				}
				deleted, detail := counter.count("destroy", "")
				t.Log("deleted", detail)
				figure.Report(t, fmt.Sprintf("calls/deleted/%s, %s", c.name, took), deleted, c.deleted)
			})
		}
	}
}

// The plan of 100 stacks describes all of them with one request. If nothing has changed,
// it is the only one.
func TestCallsOfUnchangedStacks(t *testing.T) {
	const n = 100
	counter := newCallCounter(t, n, time.Minute, never)
	counter.count("deploy", "v1")
	unchanged, detail := counter.count("deploy", "v1")
	t.Log(detail)
	figure.Report(t, "calls/unchanged", unchanged+1.0/n, 1.0/n)
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
// name. Its plan describes all stacks with one request in 100, and lists the importers of the exports that it deletes, unless these are many. Both are
// not counted.
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
	few := map[bool]int{true: c.n}[operation == "destroy" && c.n <= 50]
	if sent := c.Cloud.Calls["ListImports"]; sent != few {
		c.Errorf("the plan of a %s lists the importers of %d exports", operation, sent)
	}
	delete(c.Cloud.Calls, "ListImports")
	total := 0
	for _, call := range slices.Sorted(maps.Keys(c.Cloud.Calls)) {
		total += c.Cloud.Calls[call]
		detail += fmt.Sprintf("%s %d, ", call, c.Cloud.Calls[call])
	}
	return float64(total) / float64(c.n), fmt.Sprintf("%sin %s", detail, c.ExecutionStatus(id).Ended.Sub(began))
}
