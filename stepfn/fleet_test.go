package stepfn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/figure"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// The fleet: stacks in layers, in many targets, each an account of its own. All operations take the same time.
const (
	fleetWide, fleetDeep = 5, 4
	fleetTargets         = 300
	fleetFailing         = 6  // targets in which the stacks of the first layer fail
	fleetThrottling      = 30 // targets whose accounts accept few requests
	fleetTakes           = time.Minute
	fleetBakes           = 10 * time.Minute
)

// fleetTarget is the name of a target of the fleet.
func fleetTarget(i int) string { return fmt.Sprintf("fleet%03d", i) }

// fleetFails reports whether stacks fail in a target.
func fleetFails(i int) bool { return i%(fleetTargets/fleetFailing) == fleetTargets/fleetFailing-1 }

// newFleet returns a backend with a fleet.
func newFleet(t *testing.T) (*watched, stacks) {
	w := newWatched(t)
	w.Engine.Budgets = sim.NewBudgets(budget.CloudFormation())
	w.Events(eventTime)
	all := grid(fleetWide*fleetDeep, fleetWide)
	w.Cloud.Limits = make(map[string]*sim.Limit)
	for i := range fleetTargets {
		if i%(fleetTargets/fleetThrottling) == 3 {
			w.Cloud.Limits[targetOf(fleetTarget(i)).Where()] = &sim.Limit{Reads: 1, Writes: 0.5, Burst: 3}
		}
	}
	for n := range all {
		s := &all[n]
		s.options = []string{"fleet"}
		for i := range fleetTargets {
			s.targets = append(s.targets, fleetTarget(i))
			w.Slow(s.name+"@"+fleetTarget(i), fleetTakes)
			if n < fleetWide && fleetFails(i) {
				w.FailNext(s.name+"@"+fleetTarget(i), plan.Create)
			}
		}
		for m := range s.needs {
			s.needs[m].bare = true
		}
	}
	return w, all
}

// A rollout of 20 stacks in 300 targets goes on although 2 % of the targets fail and 10 % throttle, and a retry deploys the rest. It takes hardly longer
// than the order and the limits of the rollout demand, and sends as many requests as any other run.
func TestFleet(t *testing.T) {
	w, all := newFleet(t)
	defer w.Stop()
	id := w.Submit("deploy", all, "")
	if !w.WaitIdle() {
		t.Fatal("the deploy never ends")
	}
	r := w.ExecutionStatus(id)
	healthy := fleetTargets - fleetFailing
	n := make(map[run.Status]int)
	for _, s := range r.Steps {
		n[s.Status]++
	}
	want := map[run.Status]int{run.Done: fleetWide*fleetDeep*healthy + fleetWide*fleetDeep, run.Failed: fleetWide * fleetFailing, run.Skipped: fleetWide * (fleetDeep - 1) * fleetFailing}
	if r.State != run.StateFailed || fmt.Sprint(n) != fmt.Sprint(want) || r.Restarts > 0 || len(r.Messages) != fleetWide*fleetDeep {
		t.Fatalf("the run is %s after %d restarts, and its steps are %v, want %v: %v", r.State, r.Restarts, n, want, r.Messages)
	}
	if m := r.Messages[0]; !strings.HasPrefix(m, fmt.Sprintf("rollout of %s: of %d targets, %d deployed, %d failed (", all[0].name, fleetTargets, healthy, fleetFailing)) {
		t.Errorf("the run says %s", m)
	}
	w.inWaves(r)
	w.withinHistory(id)
	throttled := 0
	for _, l := range w.Cloud.Limits {
		throttled += l.Refused
	}
	if throttled == 0 {
		t.Error("no request was throttled")
	}
	batches := (fleetTargets - 1 + rolloutLimits["fleet"].concurrent - 1) / rolloutLimits["fleet"].concurrent
	least := fleetTakes + fleetBakes + time.Duration(batches+fleetDeep-1)*fleetTakes
	took := r.Ended.Sub(r.Requested)
	requests := 0
	for _, calls := range w.Cloud.Calls {
		requests += calls
	}
	stacks := float64(fleetWide * fleetDeep * healthy)
	figure.Report(t, "makespan/fleet", took.Seconds()/least.Seconds(), fleetMost.makespan)
	figure.Report(t, "calls/fleet", float64(requests)/stacks, fleetMost.calls)
	figure.Report(t, "transitions/fleet", float64(w.transitions(id)), fleetMost.transitions)
	figure.Report(t, "cost/fleet", w.cost(id)+perWriteUnit*float64(len(r.Steps)), fleetMost.cost)
	t.Logf("%s, at least %s; %d throttled, requests %v, functions %v", took, least, throttled, w.Cloud.Calls, w.Invoked)

	again := w.Submit("retry", nil, id)
	if !w.WaitIdle() {
		t.Fatal("the retry never ends")
	}
	r = w.ExecutionStatus(again)
	if r.State != run.StateSucceeded || r.Unchanged != fleetWide*fleetDeep*healthy || w.creates(r) != fleetWide*fleetDeep*fleetFailing {
		t.Errorf("the retry is %s: %d stacks are unchanged, and %d were created: %v", r.State, r.Unchanged, w.creates(r), r.Messages)
	}
}

// fleetMost are the figures of today: lower them when a change makes them better.
var fleetMost = struct{ makespan, calls, transitions, cost float64 }{1.06, 2.15, 1300, 0.16}

// creates counts the stacks that a run has created.
func (w *watched) creates(r run.Run) (n int) {
	for _, s := range r.Steps {
		if s.Verb == plan.Create && s.Status == run.Done {
			n++
		}
	}
	return n
}

// inWaves checks by the times of the steps that no wave began too early, and that no more targets of a stack changed at the same time
// than its rollout allows.
func (w *watched) inWaves(r run.Run) {
	type change struct {
		at   time.Time
		more int
	}
	by := make(map[string][]change)
	baked := make(map[string]time.Time)
	for _, s := range r.Steps {
		stack, target, _ := strings.Cut(s.Node, "@")
		if s.Attempt == 0 || s.Verb != plan.Create {
			continue
		}
		by[stack] = append(by[stack], change{s.Claimed, 1}, change{s.Ended, -1})
		if target == fleetTarget(0) {
			baked[stack] = s.Ended.Add(fleetBakes)
		}
	}
	for _, s := range r.Steps {
		if stack, target, _ := strings.Cut(s.Node, "@"); s.Attempt > 0 && s.Verb == plan.Create && target != fleetTarget(0) && s.Claimed.Before(baked[stack]) {
			w.Errorf("%s starts %s before its canary has baked", s.ID, baked[stack].Sub(s.Claimed))
			return
		}
	}
	for stack, changes := range by {
		slices.SortFunc(changes, func(a, b change) int {
			if c := a.at.Compare(b.at); c != 0 {
				return c
			}
			return a.more - b.more
		})
		now, most := 0, 0
		for _, c := range changes {
			now += c.more
			most = max(most, now)
		}
		if limit := rolloutLimits["fleet"].concurrent; most != limit {
			w.Errorf("up to %d targets of %s change at the same time, want %d", most, stack, limit)
		}
	}
}

// withinHistory checks that no execution of a run comes near the end of its history. The interpreter of the state machine refuses a
// payload that is too large, and then the execution is restarted.
// https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
func (w *watched) withinHistory(id string) {
	for epoch := 1; epoch <= w.ExecutionStatus(id).Epoch; epoch++ {
		if x := w.Execution(fmt.Sprintf("%s-%d", id, epoch)); x.History > 20_000 {
			w.Errorf("execution %d had %d events, want at most 20,000", epoch, x.History)
		}
	}
}
