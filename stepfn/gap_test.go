package stepfn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// latency is how long a call of a function takes on AWS, about.
func latency(call string) time.Duration {
	if strings.HasPrefix(call, "Cloud") {
		return cloudFormationTime
	}
	return dynamoTime
}

// A watched backend counts what functions call, and records when operations of
// CloudFormation start and end.
type watched struct {
	*memoryBackend
	calls          map[string]int
	started, ended map[string]time.Time // by node
}

// newWatched returns a backend with realistic latencies and budgets that grant every
// request.
func newWatched(t testing.TB) *watched {
	w := &watched{memoryBackend: newMemory(t, 1), calls: make(map[string]int), started: make(map[string]time.Time), ended: make(map[string]time.Time)}
	w.Latency = latency
	w.Engine.Budgets = sim.NewBudgets(opened)
	w.Faults.Call = func(_, call, _ string) sim.Fault {
		w.calls[call]++
		return sim.None
	}
	deliver := w.Cloud.Changed
	w.Cloud.Changed = func(t action.Task, s plan.Status) {
		if s.Busy() {
			w.started[t.Step.Node] = w.Now()
		} else {
			w.ended[t.Step.Node] = w.Now()
		}
		deliver(t, s)
	}
	return w
}

// gaps returns the time between the end of a step's last dependency and its start, for
// each step that has dependencies, sorted.
func (w *watched) gaps(r run.Run) []time.Duration {
	var all []time.Duration
	for _, s := range r.Steps {
		var last time.Time
		for _, n := range s.After {
			if end := w.ended[r.Steps[n].Node]; end.After(last) {
				last = end
			}
		}
		if !last.IsZero() {
			all = append(all, w.started[s.Node].Sub(last))
		}
	}
	slices.Sort(all)
	return all
}

// deploys deploys a project and returns its run.
func (w *watched) deploys(p stacks) run.Run {
	w.Helper()
	id := w.Submit("deploy", p, "")
	if !w.WaitIdle() {
		w.Fatal("the deploy never ends")
	}
	r := w.ExecutionStatus(id)
	if r.State != run.StateSucceeded {
		w.Fatalf("the deploy has %s: %v", r.State, r.Messages)
	}
	return r
}

// transitions counts the states that the executions of a run entered.
func (w *watched) transitions(id string) int {
	n := 0
	for _, path := range w.Path(id) {
		n += len(path)
	}
	return n
}

// In a large run, dependents start sooner with events than without. While a poll works,
// an event does not start another one, so that events do not multiply the requests.
func TestEventsShortenGaps(t *testing.T) {
	mean := make(map[string]time.Duration)
	for name, events := range map[string][]time.Duration{"with events": {500 * time.Millisecond}, "without events": nil} {
		w := newWatched(t)
		defer w.Stop()
		w.Events(events...)
		p := grid(1000, 500)
		random := rand.New(rand.NewPCG(1, 1))
		for _, s := range p {
			w.Slow(s.name, time.Duration(30+random.IntN(60))*time.Second)
		}
		r := w.deploys(p)
		gaps := w.gaps(r)
		for _, g := range gaps {
			mean[name] += g / time.Duration(len(gaps))
		}
		took, critical := r.Ended.Sub(r.Started), r.CriticalPath()
		t.Logf("%s: gap %s on average, %s at most; %d DescribeStacks, %d DescribeStackEvents; %s is %.3f of the critical path; %d transitions, functions %v",
			name, mean[name], gaps[len(gaps)-1], w.calls["Cloud.Live"], w.calls["Cloud.Events"], took, float64(took)/float64(critical), w.transitions(r.ID), w.Invoked)
	}
	if mean["with events"] >= mean["without events"] {
		t.Errorf("the gap is %s with events, and %s without", mean["with events"], mean["without events"])
	}
}

// lognormal returns durations with a median of one minute.
func lognormal(random *rand.Rand) time.Duration {
	return time.Duration(float64(time.Minute) * math.Exp(0.5*random.NormFloat64()))
}

func TestCostOfTenChains(t *testing.T) {
	w := newWatched(t)
	defer w.Stop()
	w.Engine.Budgets = sim.NewBudgets(budget.CloudFormation())
	w.Events(500 * time.Millisecond)
	p := grid(100, 10)
	random := rand.New(rand.NewPCG(1, 1))
	for _, s := range p {
		w.Slow(s.name, lognormal(random))
	}
	r := w.deploys(p)
	t.Logf("%d transitions, functions %v, calls %v", w.transitions(r.ID), w.Invoked, w.calls)
}
