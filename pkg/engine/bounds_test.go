package engine

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A wait is rounded up, and is never shorter or longer than the state machine
// may wait.
func TestSeconds(t *testing.T) {
	for wait, want := range map[time.Duration]int{
		-time.Hour: 5, 0: 5, time.Millisecond: 2, 2 * time.Second: 2, 2*time.Second + 1: 3, 5 * time.Second: 5, 5*time.Second + 1: 6, 59500 * time.Millisecond: 60,
		300 * time.Second: 300, 300*time.Second + 1: 300, 1 << 62: 300,
	} {
		if got := seconds(wait); got != want {
			t.Errorf("a wait of %s is %d seconds", wait, got)
		}
	}
}

// A step whose end no event reports is polled less often the longer it has run. The
// polls of a single step come closer together when the step should have ended. They come
// sooner if one request answers for many steps.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		verb     plan.Verb
		expected plan.Seconds
		flying   int
		ran      time.Duration
		want     time.Duration
	}{
		{plan.Create, 60, 1, 0, 15 * time.Second},
		{plan.Create, 60, 1, 20 * time.Second, 20 * time.Second},
		{plan.Create, 60, 3, 50 * time.Second, 10 * time.Second},
		{plan.Create, 60, 1, 58 * time.Second, 5 * time.Second},
		{plan.Create, 60, 1, time.Minute, 7500 * time.Millisecond},
		{plan.Create, 60, 1, 70 * time.Second, 10 * time.Second},
		{plan.Create, 60, 1, 120 * time.Second, 30 * time.Second},
		{plan.Create, 60, 1, time.Hour, 300 * time.Second},
		{plan.Create, 7200, 1, 0, 30 * time.Minute},
		{plan.Create, 7200, 1, 2 * time.Hour, 15 * time.Minute},
		{plan.Create, 0, 1, 40 * time.Second, 10 * time.Second},
		{plan.Create, 60, 8, time.Minute, 7500 * time.Millisecond},
		{plan.Create, 60, 8, 10 * time.Second, 5 * time.Second},
		{plan.Create, 60, 500, 10 * time.Hour, 72 * time.Second},
		{plan.Create, 1600, 8, 0, 100 * time.Second},
		{plan.Create, 0, 1, 0, 5 * time.Second},
		{plan.Continue, 0, 0, 10 * time.Hour, 300 * time.Second},
		{plan.Wait, 0, 40, time.Minute, 15 * time.Second},
		{plan.Wait, 0, 0, 10 * time.Hour, 30 * time.Second},
		{plan.Read, 0, 0, 10 * time.Hour, 30 * time.Second},
		{plan.Create, 0, 0, -time.Hour, 5 * time.Second},
	} {
		e := &Engine{Verbs: action.Named(action.All(nil, nil, nil, nil, nil)...)}
		s := &run.Step{Step: plan.Step{Verb: c.verb, Expected: c.expected}}
		if got := e.interval(s, c.ran, c.flying); got != c.want {
			t.Errorf("%s of %ds, one of %d, that has run %s is polled after %s, not %s", c.verb, c.expected, c.flying, c.ran, got, c.want)
		}
	}
}

// The state machine has no end of its own for a superseded run: its execution ends
// as that of a cancelled one.
func TestLoopStateOfSupersededRun(t *testing.T) {
	got := loopState(run.Run{Request: run.Request{ID: "r"}, Epoch: 2}, run.StateSuperseded, time.Minute)
	if got.Run != "r" || got.Epoch != 2 || got.State != run.StateCancelled || got.Wait != 60 {
		t.Errorf("got %+v", got)
	}
}

// A failed run ends dirty if a stack is in a bad state, or if nobody knows because its
// steps could not be read.
func TestLoopStateOfFailedRun(t *testing.T) {
	failed := func(result plan.Result) []run.Step {
		return []run.Step{{Step: plan.Step{Node: "db"}, Status: run.Failed, Result: result}}
	}
	started := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		run  run.Run
		want run.State
	}{
		"no plan was made":      {run.Run{}, run.StateFailed},
		"no stack is broken":    {run.Run{Started: started, Steps: failed(plan.Result{NothingStarted: true})}, run.StateFailed},
		"a stack is broken":     {run.Run{Started: started, Steps: failed(plan.Result{Status: "ROLLBACK_COMPLETE"})}, run.StateFailedDirty},
		"the steps are missing": {run.Run{Started: started}, run.StateFailedDirty},
	} {
		if got := loopState(c.run, run.StateFailed, 0); got.State != c.want {
			t.Errorf("%s: %s, want %s", name, got.State, c.want)
		}
	}
}

// An event may arrive before CloudFormation's API shows the new status: the step is
// polled again after 2, 4 and 8 seconds, and then as if there had been no event. If
// only the description of the stack is older than the events, the step is polled
// every 8 seconds until the description agrees.
func TestPostpone(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	e := &Engine{Now: func() time.Time { return now }}
	s := run.Step{Step: plan.Step{Verb: plan.Update}, Claimed: now, Event: run.Event{Status: "UPDATE_COMPLETE"}}
	for _, want := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, minWait, minWait} {
		e.postpone(&s, action.Progress{}, 1)
		if got := s.Due.Sub(now); got != want || s.DueAt().IsZero() {
			t.Errorf("the step is due in %s, want %s (%+v)", got, want, s.Event)
		}
	}
	if s.Event.Status != "" {
		t.Error("the event stays")
	}
	s.Event = run.Event{Status: "UPDATE_COMPLETE"}
	for _, want := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second} {
		e.postpone(&s, action.Progress{Ended: "UPDATE_COMPLETE"}, 1)
		if got := s.Due.Sub(now); got != want || s.DueAt().IsZero() {
			t.Errorf("while the description is older it is due in %s, and not in %s (%+v)", got, want, s.Event)
		}
	}
}

// A step that cannot start yet waits twice as long after each attempt, at most 30
// seconds. Two steps that were refused together do not try again together.
func TestBackoff(t *testing.T) {
	s := run.Step{}
	for _, want := range []time.Duration{2, 4, 8, 16, 30, 30} {
		got := backoff(s)
		if got != want*time.Second {
			t.Errorf("got %s, want %ds", got, want)
		}
		s.Claimed = s.Claimed.Add(time.Hour)
		s.NotBefore = s.Claimed.Add(got)
	}
	if one, other := backoff(run.Step{Number: 1}), backoff(run.Step{Number: 2}); one == other {
		t.Errorf("both steps wait %s", one)
	}
}
