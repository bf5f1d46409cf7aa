package stepfn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/enginetest/figure"
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

// states counts how often the executions of a run entered each state.
func (w *watched) states(id string) map[string]int {
	n := make(map[string]int)
	for _, path := range w.Path(id) {
		for _, state := range path {
			n[state]++
		}
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

// Prices of AWS in USD, in us-east-1, beyond the free tiers, in November 2026.
const (
	perTransition = 25e-6      // https://aws.amazon.com/step-functions/pricing/, standard workflows
	perInvocation = 0.2e-6     // https://aws.amazon.com/lambda/pricing/
	perGBSecond   = 13.3334e-6 // the same page, arm64
	perWriteUnit  = 0.625e-6   // https://aws.amazon.com/dynamodb/pricing/on-demand/, of one KB; a transaction counts twice
	perReadUnit   = 0.125e-6   // the same page, consistent, of four KB
	perBusEvent   = 1e-6       // https://aws.amazon.com/eventbridge/pricing/: custom events; those of AWS are free
	perPut        = 5e-6       // https://aws.amazon.com/s3/pricing/
	perGet        = 0.4e-6     // the same page
)

// units are the write and read units of the calls of a store, about: an item of a run or a
// step has 1 KB, and a poll follows ten running steps.
var units = map[string]struct{ writes, reads float64 }{
	"Store.CreateRun": {8, 1}, "Store.RaiseEpoch": {2, 1}, "Store.Enter": {6, 0}, "Store.Commit": {104, 0}, "Store.End": {10, 0},
	"Store.Register": {2, 0}, "Store.EndPoll": {2, 0}, "Store.MarkTidied": {2, 0}, "Store.Select": {4, 0}, "Store.Move": {6, 0}, "Store.Postpone": {6, 0}, "Store.MarkEvent": {4, 0},
	"Store.Follow": {0, 6}, "Store.Run": {0, 1}, "Store.RecordsOf": {0, 1}, "Store.Records": {0, 25}, "Store.Lock": {0, 1}, "Store.Open": {0, 1}, "Store.Tidy": {0, 1}, "Store.Lifetime": {0, 1}, "Store.Lifetimes": {0, 1}, "Store.SetLifetime": {2, 0},
	"Budgets.Take": {1, 1},
}

// memories are the sizes of functions in GB, as in infra/aws/functions.go.
var memories = map[string]float64{"start": 0.5, "plan": 1.727, "execute-step": 0.5, "wait-status": 0.5, "stack-event": 0.25}

// cost returns what AWS charges for a run in the backend in memory, without logs and
// storage.
func (w *watched) cost(id string) float64 {
	w.Helper()
	total := perTransition*float64(w.transitions(id)) + 2*perBusEvent // that it has started, and that it has ended
	for name, use := range w.Invoked {
		if memories[name] == 0 {
			w.Errorf("the function %s has no size", name)
		}
		total += perInvocation*float64(use.Times) + perGBSecond*memories[name]*use.Took.Seconds()
	}
	for call, n := range w.calls {
		u, known := units[call]
		if strings.HasPrefix(call, "Store.") && !known {
			w.Errorf("the call %s has no price", call)
		}
		each := perWriteUnit*u.writes + perReadUnit*u.reads
		switch {
		case strings.HasPrefix(call, "Specs.Save"):
			each = perPut
		case strings.HasPrefix(call, "Specs."), strings.HasPrefix(call, "Configurations."):
			each = perGet
		}
		total += each * float64(n)
	}
	return total
}

// A deploy of 100 stacks in ten chains needs few state transitions, and costs about a cent.
func TestCostOfTenChains(t *testing.T) {
	for _, c := range []struct {
		name        string
		duration    func(*rand.Rand) time.Duration
		transitions int     // at most, today: lower it when a change makes runs cheaper
		cost        float64 // likewise
	}{
		{"operations of a minute", lognormal, 240, 0.0095},
		{"operations of ten seconds", func(*rand.Rand) time.Duration { return 10 * time.Second }, 40, 0.0037},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWatched(t)
			defer w.Stop()
			w.Engine.Budgets = sim.NewBudgets(budget.CloudFormation())
			w.Events(eventTime)
			p := grid(100, 10)
			random := rand.New(rand.NewPCG(1, 1))
			for _, s := range p {
				w.Slow(s.name, c.duration(random))
			}
			r := w.deploys(p)
			transitions, cost := w.transitions(r.ID), w.cost(r.ID)
			figure.Report(t, "transitions/ten chains, "+c.name, float64(transitions), float64(c.transitions))
			figure.Report(t, "cost/ten chains, "+c.name, cost, c.cost)
			t.Logf("states %v", w.states(r.ID))
			t.Logf("%d transitions, $%.4f; functions %v, calls %v", transitions, cost, w.Invoked, w.calls)
		})
	}
}
