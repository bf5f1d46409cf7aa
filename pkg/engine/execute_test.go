package engine_test

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// CloudFormation's answer decides the status of a claimed step, and what becomes of
// the intent in its record.
func TestStarted(t *testing.T) {
	for _, c := range []struct {
		name     string
		begin    error
		status   run.Status
		attempt  int
		why      string
		records  string
		due, not time.Duration // from now; due while it runs, not before while it is pending
	}{
		{"begun", nil, run.Running, 1, "", "vpc", 5 * time.Second, 0},
		{"busy", fault.New(fault.Busy, "busy"), run.Pending, 0, "busy", "", 0, 2 * time.Second},
		{"throttled", fault.New(fault.Throttled, "slow"), run.Pending, 0, "slow", "", 0, 2 * time.Second},
		{"nobody knows", fault.New(fault.Unavailable, "lost"), run.Running, 1, "", "vpc", 5 * time.Second, 0},
		{"taken", fault.New(fault.Taken, "exists"), run.Failed, 1, "stack shop-vpc exists and is not managed by Stackwright: write another name under stack_name:; taking over existing stacks is not supported yet (exists)", "", 0, 0},
		{"unclassified", io.EOF, run.Failed, 1, "EOF", "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFixture(t)
			h.desire("v1", "vpc")
			h.ask("a", "deploy", "v1")
			loop := h.planned("a", 1)
			h.cloud.begin = c.begin
			h.startReady(loop)
			s, now := h.stored("a").Steps[0], h.Now()
			if s.Status != c.status || s.Attempt != c.attempt || s.Why != c.why || h.records() != c.records {
				t.Errorf("it is %s in attempt %d: %s; records of %q", s.Status, s.Attempt, s.Why, h.records())
			}
			if c.status == run.Running && !s.Due.Equal(now.Add(c.due)) || c.status == run.Pending && !s.NotBefore.Equal(now.Add(c.not)) {
				t.Errorf("due %s, not before %s, now is %s", s.Due, s.NotBefore, now)
			}
			if s.Status == run.Failed && s.Ended.IsZero() {
				t.Error("it has no end")
			}
		})
	}
}

// If nothing was started, the record becomes what it was before the claim.
func TestStartedRestores(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.executed("a", "deploy", "v1")
	before, err := h.Store.RecordsOf(t.Context(), shop, []string{"vpc"})
	h.must(err)
	h.desire("v2", "vpc")
	h.ask("b", "deploy", "v2")
	loop := h.planned("b", 1)
	h.cloud.begin = fault.New(fault.Busy, "busy")
	h.startReady(loop)
	after, err := h.Store.RecordsOf(t.Context(), shop, []string{"vpc"})
	h.must(err)
	if b, a := before["vpc"], after["vpc"]; a.Token != b.Token || a.Digest != b.Digest || a.Run != b.Run || a.StackID != b.StackID {
		t.Errorf("before %+v, after %+v", b, a)
	}
}

// A step is started only by the newest epoch of a run that is running, and only
// once.
func TestExecuteLeavesAlone(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	start := engine.StepInput{Run: "a", Epoch: 1, Step: 0}
	if err := h.Execute(t.Context(), engine.StepInput{Run: "a", Epoch: 1, Step: 7}); !fault.Is(err, fault.Missing) {
		t.Errorf("got %v", err)
	}
	h.must(h.Execute(t.Context(), engine.StepInput{Run: "a", Epoch: 2, Step: 0}))
	h.ask("p", "pause", "a")
	h.must(h.Execute(t.Context(), start))
	if len(h.backend.Cloud.Requests) > 0 {
		t.Fatalf("requested %v", h.backend.Cloud.Requests)
	}
	h.ask("c", "continue", "a")
	h.startReady(loop)
	h.must(h.Execute(t.Context(), start))
	if len(h.backend.Cloud.Requests) != 1 || h.stored("a").Steps[0].Attempt != 1 {
		t.Errorf("requested %v", h.backend.Cloud.Requests)
	}
}

// A function that finds a newer epoch when it claims a step leaves the step alone.
func TestExecuteOvertaken(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.store.move = func(move func() error) error {
		h.store.move = nil
		h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "a"}, Epoch: 1}))
		return move()
	}
	h.startReady(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Pending || len(h.backend.Cloud.Requests) > 0 {
		t.Errorf("it is %s, requested %v", s.Status, h.backend.Cloud.Requests)
	}
	loop.Epoch = 2
	h.store.move = func(func() error) error { return fault.New(fault.Unavailable, "no answer") }
	if err := h.Execute(t.Context(), engine.StepInput{Run: "a", Epoch: 2, Step: 0}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}

// A stack whose creation was not answered is found by its first event, and is ours.
// Another stack with its name is not.
func TestFound(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.cloud.lost = true
	h.startReady(loop)
	h.pass(20 * time.Second)
	h.cloud.live = fault.New(fault.Broken, "no")
	if got := h.polled(loop); got.State != run.StateFailedDirty {
		t.Fatalf("it is %s", got.State)
	}
	h.cloud.live, h.cloud.lost = nil, false
	h.executed("r", "refresh", "")
	if s := h.stored("r").Steps[0]; s.Why != "it is not known yet whether Stackwright made this stack: the next deploy finds out" {
		t.Errorf("read, it is %s", s.Why)
	}
	if r := h.executed("b", "deploy", "v1"); r.State != run.StateSucceeded || r.Steps[0].ID != "vpc/update" {
		t.Errorf("it is %s: %+v", r.State, r.Steps)
	}
	records, err := h.Store.Records(t.Context(), shop)
	h.must(err)
	if r := records["vpc"]; r.StackID == "" || r.Digest == "" {
		t.Errorf("it is recorded as %+v", r)
	}
	if r := h.executed("c", "destroy", ""); r.State != run.StateSucceeded || h.backend.Cloud.Status("shop-vpc") != "" {
		t.Errorf("it is %s, and the stack %s", r.State, h.backend.Cloud.Status("shop-vpc"))
	}
}

// A stack that another created under our name while our request was lost is never
// ours.
func TestNeverOurs(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.cloud.begin = fault.New(fault.Unavailable, "it never came there")
	h.startReady(loop)
	h.backend.Cloud.Put("shop-vpc", "CREATE_COMPLETE")
	h.pass(2 * action.MaxStartTime)
	h.cloud.begin = nil
	if got := h.polled(loop); got.State != run.StateFailed || h.records() != "" {
		t.Errorf("it is %s, with records of %q", got.State, h.records())
	}
	if r := h.executed("b", "deploy", "v1"); r.State != run.StateRefused {
		t.Errorf("then it is %s", r.State)
	}
	if r := h.executed("c", "destroy", ""); r.State != run.StateSucceeded || h.backend.Cloud.Status("shop-vpc") != "CREATE_COMPLETE" {
		t.Errorf("a destroy takes it: %s", h.backend.Cloud.Status("shop-vpc"))
	}
}

// A poll that another write overtakes reads again, until what it read is unchanged.
func TestPollOvertaken(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.startReady(loop)
	h.pass(20 * time.Second)
	h.store.move = func(move func() error) error {
		h.store.move = nil
		h.must(move())
		return fault.New(fault.Stale, "settled by another")
	}
	if got := h.polled(loop); got.State != run.StateSucceeded {
		t.Errorf("it is %s", got.State)
	}
	h.ask("b", "destroy", "")
	loop = h.planned("b", 1)
	h.store.seen = func() {
		h.store.seen = nil
		h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "b"}, Epoch: 1}))
	}
	if got := h.polled(loop); got.State != run.StateFencedOff || !slices.Contains(h.started, "b-2") {
		t.Errorf("overtaken by a newer epoch, it is %s, started %v", got.State, h.started)
	}
}

// A stuck is an action whose start is never answered.
type stuck struct{ action.Action }

// Start waits for as long as it may.
func (stuck) Start(ctx context.Context, _ action.Task) (plan.Receipt, error) {
	<-ctx.Done()
	return plan.Receipt{}, fault.New(fault.Unavailable, "no answer: %w", ctx.Err())
}

// A start gives up before a poll may start the step again.
func TestExecuteGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.desire("v1", "vpc")
		h.ask("a", "deploy", "v1")
		verb := h.Verbs.Of(plan.Create)
		verb.Action = stuck{}
		h.Verbs[plan.Create] = verb
		before := time.Now()
		h.startReady(h.planned("a", 1))
		if took := time.Since(before); took >= action.MaxStartTime {
			t.Errorf("it took %s", took)
		}
		if s := h.stored("a").Steps[0]; s.Status != run.Running || s.Attempt != 1 {
			t.Errorf("it is %+v", s)
		}
	})
}

// A step that cannot get what it needs waits or fails, before it is claimed.
func TestExecuteWithout(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc db<vpc.Nothing")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.store.some = fault.New(fault.Throttled, "slow")
	h.startReady(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Pending || s.Attempt != 0 || !s.NotBefore.Equal(h.Now().Add(2*time.Second)) {
		t.Errorf("throttled, it is %+v", s)
	}
	h.store.some = nil
	h.pass(5 * time.Second)
	for turn := 0; !loop.State.Over() && turn < 20; turn++ {
		h.startReady(loop)
		h.pass(5 * time.Second)
		if answer := h.polled(loop); answer.Run != "" {
			loop = answer
		} else {
			loop.Ready = nil
		}
	}
	want := "parameter From: ${vpc.Nothing}: stack vpc has no output Nothing (it has: Name, Value)"
	if s := h.stored("a").Steps[1]; s.ID != "db/create" || s.Status != run.Failed || s.Why != want || s.Attempt != 0 || s.Ended.IsZero() {
		t.Errorf("it is %s: %s", s.Status, s.Why)
	}
	if h.records() != "vpc" {
		t.Errorf("records of %s", h.records())
	}
}

// A poll of an old epoch does nothing, and makes sure that the new epoch has its
// execution.
func TestPollFencedOff(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "a"}, Epoch: 1}))
	if got := h.polled(loop); got.State != run.StateFencedOff || !slices.Contains(h.started, "a-2") {
		t.Errorf("got %+v, started %v", got, h.started)
	}
	h.down = fault.New(fault.Unavailable, "no answer")
	if err := h.Poll(t.Context(), engine.PollInput{Loop: loop, Token: "token", Entered: h.backend.Now()}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	loop.Epoch, loop.Ready = 2, nil
	if err := h.Poll(t.Context(), engine.PollInput{Loop: loop, Token: "token", Entered: h.backend.Now()}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	if err := h.Poll(t.Context(), engine.PollInput{Loop: engine.LoopState{Run: "none"}, Token: "token", Entered: h.backend.Now()}); !fault.Is(err, fault.Missing) {
		t.Errorf("got %v", err)
	}
}

// A poll that finds nothing to do lets its token wait, unless the wait would now
// have another length.
func TestPollWaits(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.backend.Cloud.Seconds["shop-vpc"] = 3600
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.startReady(loop)
	loop = engine.LoopState{Run: "a", Epoch: 1, Wait: 60}
	if got := h.polled(loop); got.State != run.StateWatch || got.Wait != 5 {
		t.Errorf("a shorter wait is answered with %+v", got)
	}
	loop.Wait = 5
	if got := h.polled(loop); got.Run != "" {
		t.Errorf("the same wait is answered with %+v", got)
	}
	h.pass(10 * time.Minute)
	if got := h.polled(loop); got.State != run.StateWatch || got.Wait != 150 {
		t.Errorf("a longer wait is answered with %+v", got)
	}
	h.pass(10 * time.Minute)
	asked := h.stored("a").Steps[0].Due
	loop.Wait = 2 // which is over before anything can be asked
	h.polled(loop)
	if s := h.stored("a").Steps[0]; !s.Due.Equal(asked) {
		t.Errorf("it was polled too late: due %s", s.Due)
	}
}

// A poll that learned nothing is repeated. If no poll can ever learn anything, the
// step fails.
func TestPollLearnsNothing(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.startReady(loop)
	h.pass(6 * time.Second)
	h.cloud.live = fault.New(fault.Throttled, "slow")
	h.polled(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Running || s.Why != "slow" || !s.Due.Equal(h.Now().Add(10*time.Second)) {
		t.Errorf("throttled, it is %+v", s)
	}
	h.pass(11 * time.Second)
	h.cloud.live = fault.New(fault.Denied, "no")
	h.polled(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Running || s.Why != "no" {
		t.Errorf("denied, it is %+v", s)
	}
	h.pass(time.Hour)
	if got := h.polled(loop); got.State != run.StateFailedDirty || h.stored("a").Steps[0].Why != "it cannot be followed: no" {
		t.Errorf("denied for an hour, it is %s: %s", got.State, h.stored("a").Steps[0].Why)
	}
	if h.records() != "vpc" {
		t.Errorf("what may be there is not remembered: %s", h.records())
	}
}

// A run that is polled after its end, or ended twice, has ended.
func TestPollAtTheEnd(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.startReady(loop)
	h.pass(20 * time.Second)
	h.store.end = twice
	if got := h.polled(loop); got.State != run.StateSucceeded {
		t.Errorf("it is %s", got.State)
	}
	if got := h.polled(loop); got.State != run.StateSucceeded {
		t.Errorf("polled again, it is %s", got.State)
	}
}

// An execution with a long history hands over to the next.
func TestHandover(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.startReady(loop)
	h.registered("a", 1, "x", 15_000)
	if got := h.polled(loop); got.State != run.StateFencedOff || !slices.Contains(h.started, "a-2") || h.stored("a").Epoch != 2 || h.stored("a").Events != 0 {
		t.Errorf("got %+v, started %v", got, h.started)
	}
	h.registered("a", 2, "x", 15_000)
	h.store.raise = func(func() error) error { return fault.New(fault.Throttled, "slow") }
	if err := h.Poll(t.Context(), engine.PollInput{Loop: engine.LoopState{Run: "a", Epoch: 2, Wait: 60}, Token: "y", Entered: h.backend.Now()}); !fault.Is(err, fault.Throttled) {
		t.Errorf("got %v", err)
	}
}

// An event makes its step due before it wakes the waiting execution. Other events
// change nothing.
func TestWake(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.startReady(loop)
	loop.Wait = 5
	h.polled(loop) // waits
	nudge := func(token string, s plan.Status) int {
		t.Helper()
		before := len(h.answers)
		h.must(h.StackEvent(t.Context(), engine.StackEvent{Token: token, Status: s}))
		return len(h.answers) - before
	}
	ours := action.Token("a", 0, 1)
	for _, c := range []struct {
		token  string
		status plan.Status
	}{{"Console-1", "CREATE_COMPLETE"}, {ours, "CREATE_IN_PROGRESS"}, {action.Token("none", 0, 1), "CREATE_COMPLETE"}, {"", "CREATE_COMPLETE"}} {
		if n := nudge(c.token, c.status); n != 0 || h.stored("a").Steps[0].Event.Status != "" {
			t.Errorf("%s %s wakes an execution", c.token, c.status)
		}
	}
	for range 2 { // a duplicate is as good as the first
		if n := nudge(ours, "CREATE_COMPLETE"); n != 1 || h.stored("a").Steps[0].Event.Status != "CREATE_COMPLETE" {
			t.Errorf("the event wakes %d, and the event of the step is %+v", n, h.stored("a").Steps[0].Event)
		}
	}
	if got := h.answers[len(h.answers)-1]; got.State != run.StatePoll || len(got.Ready) != 0 || got.Run != "a" || got.Epoch != 1 {
		t.Errorf("who waits is told %+v", got)
	}
	h.pass(time.Minute)
	h.polled(loop)
	if n := nudge(ours, "CREATE_COMPLETE"); n != 0 {
		t.Error("a run that is over is woken")
	}
}

// Many stacks are read at the same time with the same result as one after another.
func TestParallel(t *testing.T) {
	h := newFixture(t)
	h.Engine.Parallel = 4
	h.desire("v1", "a b c d e f g")
	if r := h.executed("r", "deploy", "v1"); r.State != run.StateSucceeded || len(h.backend.Cloud.Requests) != 7 {
		t.Errorf("it is %s: %v", r.State, h.backend.Cloud.Requests)
	}
	if r := h.executed("s", "destroy", ""); r.State != run.StateSucceeded || h.records() != "" {
		t.Errorf("it is %s, records of %s", r.State, h.records())
	}
}
