package engine_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// CloudFormation's answer decides the status of a claimed step, and whether the intent
// stays in its record.
func TestStartOutcome(t *testing.T) {
	for _, c := range []struct {
		name           string
		answer         error
		status         run.Status
		attempt        int
		why            string
		records        string
		due, notBefore time.Duration // from now: Due of a running step, NotBefore of a pending one
	}{
		{"accepted", nil, run.Running, 1, "", "vpc", 15 * time.Second, 0},
		{"busy", fault.New(fault.Busy, "busy"), run.Pending, 0, "stack shop-vpc is busy (busy)", "", 0, 2 * time.Second},
		{"throttled", fault.New(fault.Throttled, "slow"), run.Pending, 0, "slow", "", 0, 2 * time.Second},
		{"no answer", fault.New(fault.Unavailable, "lost"), run.Running, 1, "", "vpc", 15 * time.Second, 0},
		{"name taken", fault.New(fault.Taken, "exists"), run.Failed, 1, "stack shop-vpc exists and is not managed by Stackwright: to take it over, write adopt: true under the stack in the project file, or use stackwright adopt or deploy --adopt; otherwise write another name under stack_name: (exists)", "", 0, 0},
		{"unclassified", io.EOF, run.Failed, 1, "EOF", "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFixture(t)
			h.setVersion("v1", "vpc")
			h.cloud.beginErr = c.answer
			h.begin("a", "v1")
			s, now := h.stored("a").Steps[0], h.Now()
			if s.Status != c.status || s.Attempt != c.attempt || s.Why != c.why || h.records() != c.records {
				t.Errorf("the step is %s in attempt %d: %s; records of %q", s.Status, s.Attempt, s.Why, h.records())
			}
			if c.status == run.Running && !s.Due.Equal(now.Add(c.due)) || c.status == run.Pending && !s.NotBefore.Equal(now.Add(c.notBefore)) {
				t.Errorf("due %s, not before %s, now is %s", s.Due, s.NotBefore, now)
			}
			if s.Status == run.Failed && s.Ended.IsZero() {
				t.Error("the failed step has no end")
			}
		})
	}
}

// If CloudFormation starts nothing, the record becomes what it was before the claim.
func TestStartRestoresRecord(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	before, err := h.Store.RecordsOf(t.Context(), shop, []string{"vpc"})
	h.must(err)
	h.setVersion("v2", "vpc")
	h.cloud.beginErr = fault.New(fault.Busy, "busy")
	h.begin("b", "v2")
	after, err := h.Store.RecordsOf(t.Context(), shop, []string{"vpc"})
	h.must(err)
	if b, a := before["vpc"], after["vpc"]; a.Token != b.Token || a.Digest != b.Digest || a.Run != b.Run || a.StackID != b.StackID {
		t.Errorf("before %+v, after %+v", b, a)
	}
}

// A step is started only by the newest epoch of a run that is running, and only
// once.
func TestStartOnlyInNewestEpoch(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	loop := h.planned("a", 1)
	old := loop
	old.Epoch = 0
	h.polled(old)
	h.request("p", "pause", "a")
	h.polled(loop)
	if len(h.backend.Cloud.Requests) > 0 {
		t.Fatalf("requested %v", h.backend.Cloud.Requests)
	}
	h.request("c", "continue", "a")
	loop = h.planned("a", h.stored("a").Epoch)
	h.polled(loop)
	h.polled(loop)
	if len(h.backend.Cloud.Requests) != 1 || h.stored("a").Steps[0].Attempt != 1 {
		t.Errorf("requested %v", h.backend.Cloud.Requests)
	}
}

// A poll that finds a newer epoch when it claims a step leaves the step alone.
func TestFencedOffAtClaim(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.store.move = func(move func() error) error {
		h.store.move = nil
		h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "a"}, Epoch: 1}))
		return move()
	}
	h.polled(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Pending || len(h.backend.Cloud.Requests) > 0 {
		t.Errorf("the step is %s, requested %v", s.Status, h.backend.Cloud.Requests)
	}
	loop.Epoch = 2
	h.store.move = func(func() error) error { return fault.New(fault.Unavailable, "no answer") }
	if err := h.Poll(t.Context(), engine.PollInput{Loop: loop, Token: "token", Entered: h.Now()}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}

// A panickingStart is an action whose start panics.
type panickingStart struct{ action.Action }

// Start panics.
func (panickingStart) Start(context.Context, action.Task) (plan.Receipt, error) {
	panic("a fault in its code")
}

// A start that panics, before its claim or after it, is reported and does not stop other
// starts. A step that is not claimed is tried again later.
func TestStartPanics(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v0", "old")
	h.requestAndExecute("r", "deploy", "v0")
	h.setVersion("v1", "old vpc web")
	h.request("a", "deploy", "v1")
	loop := h.planned("a", 1)
	update := h.Verbs.Of(plan.Update)
	update.Action = panickingStart{}
	h.Verbs[plan.Update] = update
	moves := 0
	h.store.move = func(move func() error) error {
		if moves++; moves == 1 { // the claim of vpc, which starts first
			panic("a fault in the store")
		}
		return move()
	}
	_, err := h.Execute(t.Context(), engine.StartInput{Loop: loop, Entered: h.backend.Now()})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "start old/update: panic: a fault in its code") || !strings.Contains(err.Error(), "start vpc/create: panic: a fault in the store") {
		t.Errorf("it reports %v", err)
	}
	steps := h.stored("a").Steps
	if s := steps[0]; s.Status != run.Running || s.Receipt.Known() {
		t.Errorf("the claimed step is %s (%s)", s.Status, s.Why)
	}
	if s := steps[1]; s.Status != run.Pending || !s.NotBefore.After(h.Now()) || !strings.Contains(s.Why, "see the log of its function") {
		t.Errorf("the step that is not claimed is %s (%s)", s.Status, s.Why)
	}
	if s := steps[2]; s.Status != run.Running || !s.Receipt.Known() {
		t.Errorf("the other step is %s (%s)", s.Status, s.Why)
	}
}

// If CloudFormation's answer to a creation is lost, the next deploy finds the stack by
// its token, and the project keeps it.
func TestCreationWithoutAnswerIsFound(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.cloud.loseAnswers = true
	loop := h.begin("a", "v1")
	h.passTime(20 * time.Second)
	h.cloud.readErr = fault.New(fault.Broken, "no")
	if got := h.polled(loop); got.State != run.StateFailedDirty {
		t.Fatalf("the run is %s", got.State)
	}
	h.cloud.readErr, h.cloud.loseAnswers = nil, false
	h.requestAndExecute("r", "refresh", "")
	if s := h.stored("r").Steps[0]; s.Why != "it is not known yet whether Stackwright made this stack: the next deploy finds out" {
		t.Errorf("the refresh says: %s", s.Why)
	}
	if r := h.requestAndExecute("b", "deploy", "v1"); r.State != run.StateSucceeded || r.Steps[0].ID != "vpc/update" {
		t.Errorf("the second deploy is %s: %+v", r.State, r.Steps)
	}
	records, err := h.Store.Records(t.Context(), shop)
	h.must(err)
	if r := records["vpc"]; r.StackID == "" || r.Digest == "" {
		t.Errorf("the record is %+v", r)
	}
	if r := h.requestAndExecute("c", "destroy", ""); r.State != run.StateSucceeded || h.backend.Cloud.Status("shop-vpc") != "" {
		t.Errorf("the destroy is %s, and the stack %s", r.State, h.backend.Cloud.Status("shop-vpc"))
	}
}

// If a request to create a stack is lost, and somebody else creates a stack with its
// name, Stackwright neither updates nor deletes that stack.
func TestForeignStackIsNotTakenOver(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.cloud.beginErr = fault.New(fault.Unavailable, "the request is lost")
	loop := h.begin("a", "v1")
	h.backend.Cloud.Put("shop-vpc", "CREATE_COMPLETE")
	h.passTime(2 * action.MaxStartTime)
	h.cloud.beginErr = nil
	if got := h.polled(loop); got.State != run.StateFailed || h.records() != "" {
		t.Errorf("the first deploy is %s, with records of %q", got.State, h.records())
	}
	if r := h.requestAndExecute("b", "deploy", "v1"); r.State != run.StateRefused {
		t.Errorf("the second deploy is %s", r.State)
	}
	if r := h.requestAndExecute("c", "destroy", ""); r.State != run.StateSucceeded || h.backend.Cloud.Status("shop-vpc") != "CREATE_COMPLETE" {
		t.Errorf("after a destroy the stack of somebody else is %s", h.backend.Cloud.Status("shop-vpc"))
	}
}

// A poll whose write is stale reads again. If the run has a newer epoch, the poll makes
// sure that its execution is started.
func TestPollReadsAgainWhenStale(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	loop := h.begin("a", "v1")
	h.passTime(20 * time.Second)
	h.store.move = func(move func() error) error {
		h.store.move = nil
		h.must(move())
		return fault.New(fault.Stale, "another poll has written the step")
	}
	if got := h.polled(loop); got.State != run.StateSucceeded {
		t.Errorf("after a stale write the run is %s", got.State)
	}
	h.request("b", "destroy", "")
	loop = h.planned("b", 1)
	h.store.afterRegister = func() {
		h.store.afterRegister = nil
		h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "b"}, Epoch: 1}))
	}
	if got := h.polled(loop); got.State != run.StateFencedOff || !slices.Contains(h.started, "b-2") {
		t.Errorf("with a newer epoch the state is %s, started %v", got.State, h.started)
	}
}

// An unansweredStart is an action whose start gets no answer.
type unansweredStart struct{ action.Action }

// Start waits until its context ends.
func (unansweredStart) Start(ctx context.Context, _ action.Task) (plan.Receipt, error) {
	<-ctx.Done()
	return plan.Receipt{}, fault.New(fault.Unavailable, "no answer: %w", ctx.Err())
}

// A start without an answer ends before a poll may start the step again.
func TestStartHasTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.setVersion("v1", "vpc")
		h.request("a", "deploy", "v1")
		verb := h.Verbs.Of(plan.Create)
		verb.Action = unansweredStart{}
		h.Verbs[plan.Create] = verb
		before := time.Now()
		h.polled(h.planned("a", 1))
		if took := time.Since(before); took >= action.MaxStartTime {
			t.Errorf("the start took %s", took)
		}
		if s := h.stored("a").Steps[0]; s.Status != run.Running || s.Attempt != 1 {
			t.Errorf("the step is %+v", s)
		}
	})
}

// A step whose records cannot be read stays pending, and a step whose parameter has no
// value fails. Neither is claimed.
func TestExecuteWithoutInputs(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc db<vpc.Nothing")
	h.request("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.store.readErr = fault.New(fault.Throttled, "slow")
	h.polled(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Pending || s.Attempt != 0 || !s.NotBefore.Equal(h.Now().Add(2*time.Second)) {
		t.Errorf("throttled, the step is %+v", s)
	}
	h.store.readErr = nil
	h.passTime(5 * time.Second)
	for polls := 0; !loop.State.Over() && polls < 20; polls++ {
		h.passTime(5 * time.Second)
		if answer := h.polled(loop); answer.Run != "" {
			loop = answer
		}
	}
	want := "parameter From: ${vpc.Nothing}: stack vpc has no output Nothing (it has: Name, Value)"
	if s := h.stored("a").Steps[1]; s.ID != "db/create" || s.Status != run.Failed || s.Why != want || s.Attempt != 0 || s.Ended.IsZero() {
		t.Errorf("the step is %s: %s", s.Status, s.Why)
	}
	if h.records() != "vpc" {
		t.Errorf("records of %s", h.records())
	}
}

// A poll of an old epoch does nothing, and makes sure that the new epoch has its
// execution.
func TestPollFencedOff(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "a"}, Epoch: 1}))
	if got := h.polled(loop); got.State != run.StateFencedOff || !slices.Contains(h.started, "a-2") {
		t.Errorf("got %+v, started %v", got, h.started)
	}
	h.machineErr = fault.New(fault.Unavailable, "no answer")
	if err := h.Poll(t.Context(), engine.PollInput{Loop: loop, Token: "token", Entered: h.backend.Now()}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	loop.Epoch = 2
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
	h.loseEvents()
	h.setVersion("v1", "vpc")
	h.backend.Cloud.Seconds["shop-vpc"] = 3600
	h.begin("a", "v1")
	loop := engine.LoopState{Run: "a", Epoch: 1, Wait: 60}
	if got := h.polled(loop); got.State != run.StateWatch || got.Wait != 15 {
		t.Errorf("a shorter wait is answered with %+v", got)
	}
	loop.Wait = 15
	if got := h.polled(loop); got.Run != "" {
		t.Errorf("the same wait is answered with %+v", got)
	}
	h.passTime(10 * time.Minute)
	if got := h.polled(loop); got.State != run.StateWatch || got.Wait != 150 {
		t.Errorf("a longer wait is answered with %+v", got)
	}
	h.passTime(10 * time.Minute)
	due := h.stored("a").Steps[0].Due
	h.store.afterRegister = func() { h.passTime(14 * time.Second) }
	if got := h.polled(loop); got.State != run.StatePoll || got.Wait != 60 {
		t.Errorf("a poll whose time is over is answered with %+v", got)
	}
	if s := h.stored("a").Steps[0]; !s.Due.Equal(due) {
		t.Errorf("the step was polled after the deadline of the poll: due %s", s.Due)
	}
}

// A poll that cannot read the stack is repeated. The step fails if the permission is
// missing for an hour.
func TestPollCannotRead(t *testing.T) {
	h := newFixture(t)
	h.loseEvents()
	h.setVersion("v1", "vpc")
	loop := h.begin("a", "v1")
	h.passTime(16 * time.Second)
	h.cloud.readErr = fault.New(fault.Throttled, "slow")
	h.polled(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Running || s.Why != "slow" || !s.Due.Equal(h.Now().Add(10*time.Second)) {
		t.Errorf("throttled, the step is %+v", s)
	}
	h.passTime(11 * time.Second)
	h.cloud.readErr = fault.New(fault.Denied, "no")
	h.polled(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Running || s.Why != "no" {
		t.Errorf("denied, the step is %+v", s)
	}
	h.passTime(time.Hour)
	if got := h.polled(loop); got.State != run.StateFailedDirty || h.stored("a").Steps[0].Why != "it cannot be followed: no" {
		t.Errorf("denied for an hour, the run is %s: %s", got.State, h.stored("a").Steps[0].Why)
	}
	if h.records() != "vpc" {
		t.Errorf("the stack may exist, but the records are of %q", h.records())
	}
}

// A run that has ended stays ended when its end is written again, and when it is polled
// again.
func TestPollAfterTheEnd(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	loop := h.begin("a", "v1")
	h.passTime(20 * time.Second)
	h.store.end = repeatedWrite
	if got := h.polled(loop); got.State != run.StateSucceeded {
		t.Errorf("the run is %s", got.State)
	}
	if got := h.polled(loop); got.State != run.StateSucceeded {
		t.Errorf("polled again, the run is %s", got.State)
	}
}

// An execution whose history is long is replaced by a new one.
func TestHandover(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	loop := h.begin("a", "v1")
	h.registerToken("a", 1, "x", 15_000)
	if got := h.polled(loop); got.State != run.StateFencedOff || !slices.Contains(h.started, "a-2") || h.stored("a").Epoch != 2 || h.stored("a").Events != 0 {
		t.Errorf("got %+v, started %v", got, h.started)
	}
	h.registerToken("a", 2, "x", 15_000)
	h.store.raise = func(func() error) error { return fault.New(fault.Throttled, "slow") }
	if err := h.Poll(t.Context(), engine.PollInput{Loop: engine.LoopState{Run: "a", Epoch: 2, Wait: 60}, Token: "y", Entered: h.backend.Now()}); !fault.Is(err, fault.Throttled) {
		t.Errorf("got %v", err)
	}
}

// An event makes its step due before it wakes the waiting execution. Other events
// change nothing.
func TestWake(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	loop := h.begin("a", "v1")
	loop.Wait = 15
	h.polled(loop) // its token waits
	answersTo := func(token string, s plan.Status) int {
		t.Helper()
		before := len(h.answers)
		h.must(h.StackEvent(t.Context(), engine.StackEvent{Token: token, Status: s}))
		return len(h.answers) - before
	}
	ours := action.Token("a", "", 0, 1)
	for _, c := range []struct {
		token  string
		status plan.Status
	}{{"Console-1", "CREATE_COMPLETE"}, {ours, "CREATE_IN_PROGRESS"}, {action.Token("none", "", 0, 1), "CREATE_COMPLETE"}, {"", "CREATE_COMPLETE"}} {
		if n := answersTo(c.token, c.status); n != 0 || h.stored("a").Steps[0].Event.Status != "" {
			t.Errorf("%s %s wakes an execution", c.token, c.status)
		}
	}
	for range 2 { // a duplicate of an event that no poll has seen wakes the execution too
		if n := answersTo(ours, "CREATE_COMPLETE"); n != 1 || h.stored("a").Steps[0].Event.Status != "CREATE_COMPLETE" {
			t.Errorf("the event answers %d tokens, and the event of the step is %+v", n, h.stored("a").Steps[0].Event)
		}
	}
	if got := h.answers[len(h.answers)-1]; got.State != run.StatePoll || got.Run != "a" || got.Epoch != 1 {
		t.Errorf("the waiting execution gets %+v", got)
	}
	h.passTime(time.Minute)
	h.polled(loop)
	if n := answersTo(ours, "CREATE_COMPLETE"); n != 0 {
		t.Error("an event wakes a run that has ended")
	}
}

// Steps can be polled at the same time, with the same result as one after another.
func TestParallel(t *testing.T) {
	h := newFixture(t)
	h.Engine.Parallel = engine.AtMost(4)
	h.setVersion("v1", "a b c d e f g")
	if r := h.requestAndExecute("r", "deploy", "v1"); r.State != run.StateSucceeded || len(h.backend.Cloud.Requests) != 7 {
		t.Errorf("the deploy is %s: %v", r.State, h.backend.Cloud.Requests)
	}
	if r := h.requestAndExecute("s", "destroy", ""); r.State != run.StateSucceeded || h.records() != "" {
		t.Errorf("the destroy is %s, records of %s", r.State, h.records())
	}
}

// A step that is over by its events, while DescribeStacks shows its stack as it was
// before, is polled again after 2, 4 and 8 seconds, and ends with the new outputs.
func TestPollBehind(t *testing.T) {
	h := newFixture(t)
	h.loseEvents()
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	before := h.recorded("vpc").Outputs["Value"]
	h.setVersion("v2", "vpc")
	h.request("b", "deploy", "v2")
	loop := h.planned("b", 1)
	h.passTime(20 * time.Second)
	h.backend.Cloud.Lag = 20 * time.Second
	h.polled(loop)
	h.passTime(10 * time.Second)
	for _, due := range []time.Duration{2, 4, 8, 8} {
		h.polled(loop)
		s := h.stored("b").Steps[0]
		if s.Status != run.Running || s.Due.Sub(h.Now()) != due*time.Second || h.recorded("vpc").Outputs["Value"] != before {
			t.Fatalf("it is %s (%s), due in %s, and not in %ds", s.Status, s.Why, s.Due.Sub(h.Now()), due)
		}
		h.passTime(due * time.Second)
	}
	h.polled(loop)
	if s, after := h.stored("b").Steps[0], h.recorded("vpc").Outputs["Value"]; s.Status != run.Done || after == before || after != h.backend.Cloud.Output("shop-vpc", "Value") {
		t.Errorf("it is %s (%s), and the output is %q", s.Status, s.Why, after)
	}
}

// A step that was put off keeps its reason, and starts after its pause.
func TestPauseOfStep(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.cloud.beginErr = fault.New(fault.Throttled, "slow down")
	loop := h.begin("a", "v1")
	h.cloud.beginErr = nil
	before := h.stored("a").Steps[0]
	h.passTime(time.Second)
	if got := h.polled(loop); loop.Wait != 2 || got.Run != "" {
		t.Errorf("the wait is %d s, and the poll answers %+v", loop.Wait, got)
	}
	if s := h.stored("a").Steps[0]; s.Why != "slow down" || !s.NotBefore.Equal(before.NotBefore) {
		t.Errorf("it is put off from %s to %s, because %q", before.NotBefore, s.NotBefore, s.Why)
	}
	h.passTime(time.Second)
	h.polled(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Running {
		t.Errorf("after its pause it is %s", s.Status)
	}
}

// A poll that starts a step again takes it over first: then the function that claimed
// the step can no longer write that it did not start.
func TestPollTakesOverStep(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.cloud.beginErr = fault.New(fault.Unavailable, "the request is lost")
	loop := h.begin("a", "v1")
	claimed := h.stored("a").Steps[0]
	h.cloud.beginErr = nil
	h.passTime(2 * action.MaxStartTime)
	late, again := error(nil), 0
	h.cloud.beforeBegin = func() {
		back := claimed
		back.Status, back.Attempt = run.Pending, claimed.Attempt-1
		late = h.Store.Move(t.Context(), engine.Change{
			Run: "a", Epoch: 1, Project: shop, From: run.Running, Attempt: claimed.Attempt, Nonce: claimed.Nonce, Step: back, Forget: true,
		})
		again++
	}
	h.polled(loop)
	if again != 1 || !fault.Is(late, fault.Stale) {
		t.Errorf("%d requests were sent, and before the last one the late function could write: %v", again, late)
	}
	if s := h.stored("a").Steps[0]; s.Status != run.Running || !s.Receipt.Known() {
		t.Errorf("the step is %s, its receipt %+v", s.Status, s.Receipt)
	}
}

// A poll starts up to eight ready steps itself. More are started by execute-step.
func TestWideStartsAreLeftToExecuteStep(t *testing.T) {
	for n, left := range map[int]bool{8: false, 9: true} {
		h := newFixture(t)
		h.setVersion("v1", "hub "+dependents("hub", n))
		loop := h.begin("a", "v1")
		h.passTime(20 * time.Second)
		answer := h.polledOnce(loop)
		if started := len(h.backend.Cloud.Requests) - 1; left && (answer.State != run.StateReady || len(answer.Ready) != n || started != 0) || !left && started != n {
			t.Errorf("with %d ready steps the poll starts %d and answers %+v", n, started, answer)
		}
	}
}

// dependents returns a list of n stacks that use an output of the stack on.
func dependents(on string, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("s%d<%s", i, on))
	}
	return strings.Join(all, " ")
}

// A call of execute-step that is late starts no step that is not ready any more: here, one
// that was put off meanwhile.
func TestLateExecuteLeavesStepThatWasPutOff(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.cloud.beginErr = fault.New(fault.Throttled, "slow down")
	h.executed(loop)
	h.cloud.beginErr = nil
	if h.executed(loop); len(h.backend.Cloud.Requests) != 0 {
		t.Errorf("the late call requests %v", h.backend.Cloud.Requests)
	}
	if s := h.stored("a").Steps[0]; s.Status != run.Pending {
		t.Errorf("the step is %s", s.Status)
	}
}

// A call of execute-step that is still working when the execution waits again starts
// nothing: the poll of that wait decides what starts.
func TestLateExecuteStartsNothing(t *testing.T) {
	for name, c := range map[string]struct{ begins bool }{"it begins late": {true}, "it continues late": {false}} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.setVersion("v1", "vpc")
			h.request("a", "deploy", "v1")
			loop, entered := h.planned("a", 1), h.backend.Now()
			h.passTime(time.Second)
			register := func() {
				_, err := h.backend.Store.Register(t.Context(), "a", 1, engine.PollInput{Loop: loop, Token: "next", Entered: h.backend.Now()}, 1, time.Time{})
				h.must(err)
			}
			if c.begins {
				register()
			} else {
				h.store.move = func(move func() error) error {
					register()
					return move()
				}
			}
			_, err := h.Execute(t.Context(), engine.StartInput{Loop: loop, Entered: entered})
			h.must(err)
			if s := h.stored("a").Steps[0]; s.Status != run.Pending || s.Attempt != 0 || len(h.backend.Cloud.Requests) != 0 {
				t.Errorf("the step is %s, and the late call requests %v", s.Status, h.backend.Cloud.Requests)
			}
		})
	}
}

// A poll that learns the receipt of a step whose answer was lost keeps the time of the
// claim: the operation began then.
func TestReceiptLearntLateKeepsTimeOfClaim(t *testing.T) {
	h := newFixture(t)
	h.loseEvents()
	h.setVersion("v1", "vpc")
	h.backend.Cloud.Seconds["shop-vpc"] = 600
	h.cloud.loseAnswers = true
	loop := h.begin("a", "v1")
	before := h.stored("a").Steps[0]
	h.passTime(30 * time.Second)
	h.polled(loop)
	if s := h.stored("a").Steps[0]; before.Receipt.Known() || !s.Receipt.Known() || !s.Claimed.Equal(before.Claimed) {
		t.Errorf("the receipt is %+v, before %+v; the step is claimed at %s, before %s", s.Receipt, before.Receipt, s.Claimed, before.Claimed)
	}
}
