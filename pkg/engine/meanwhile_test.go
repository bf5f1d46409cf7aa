package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A function that writes late that its step did not start changes nothing, if a poll
// has started the step meanwhile.
func TestLateOutcomeOfStart(t *testing.T) {
	for _, answer := range []error{fault.New(fault.Throttled, "slow"), fault.New(fault.Refused, "no")} {
		h := newFixture(t)
		h.setVersion("v1", "vpc")
		h.request("a", "deploy", "v1")
		loop := h.planned("a", 1)
		h.cloud.beginErr = answer
		moves := 0
		h.store.move = func(move func() error) error {
			if moves++; moves == 2 { // after the claim
				h.store.move, h.cloud.beginErr = nil, nil
				h.backend.Clock.After(2*action.MaxStartTime, func() {})
				h.passTime(2 * action.MaxStartTime)
				h.polled(loop)
			}
			return move()
		}
		h.polled(loop)
		s := h.stored("a").Steps[0]
		if s.Status != run.Running || s.Attempt != 1 || !s.Receipt.Known() || h.records() != "vpc" {
			t.Errorf("after %v the step is %s in attempt %d, with the receipt %+v; records of %q", answer, s.Status, s.Attempt, s.Receipt, h.records())
		}
		if len(h.backend.Cloud.Requests) != 1 {
			t.Errorf("requested %v", h.backend.Cloud.Requests)
		}
	}
}

// A poll that registers its token while an event arrives reads the mark of that event.
func TestWaitsMeanwhile(t *testing.T) {
	h := newFixture(t)
	h.backend.Faults.Event = func() []time.Duration { return nil } // no event arrives but that of the test
	h.setVersion("v1", "vpc")
	loop := h.begin("a", "v1")
	h.passTime(9 * time.Second)
	h.polled(loop) // the operation is running: no step is due for five seconds
	h.passTime(2 * time.Second)
	h.Store = &hookedStore{Store: h.store, after: func() { h.polled(loop) }}
	h.must(h.StackEvent(t.Context(), engine.StackEvent{Token: action.Token("a", "", 0, 1), Status: "CREATE_COMPLETE"}))
	if r := h.stored("a"); r.State != run.StateSucceeded {
		t.Errorf("the run is %s", r.State)
	}
}

// An event during a poll does not wake the execution: the poll finds the mark before it
// ends, even if it has already read the run. The same holds for a command.
func TestEventDuringPoll(t *testing.T) {
	for _, command := range []bool{false, true} {
		h := newFixture(t)
		h.backend.Faults.Event = func() []time.Duration { return nil } // no event arrives but that of the test
		h.setVersion("v1", "vpc db<vpc")
		loop := h.begin("a", "v1")
		loop.Wait = 5
		h.passTime(9900 * time.Millisecond)
		arrive := func() {
			h.passTime(200 * time.Millisecond) // the operation ends
			before := len(h.answers)
			if command {
				h.request("p", "pause", "a")
			}
			h.must(h.StackEvent(t.Context(), engine.StackEvent{Token: action.Token("a", "", 0, 1), Status: "CREATE_COMPLETE"}))
			if len(h.answers) > before {
				t.Errorf("an event answers %+v while a poll works", h.answers[before:])
			}
		}
		h.Store = &hookedStore{Store: h.store, beforeEnd: arrive}
		got := h.polled(loop)
		r := h.stored("a")
		if r.Steps[0].Status != run.Done || !command && r.Steps[1].Status != run.Running || command && got.State != run.StateWaiting {
			t.Errorf("after the poll, which answers %+v, the steps are %s and %s", got, r.Steps[0].Status, r.Steps[1].Status)
		}
	}
}

// A poll that has crashed delays a wake at most until no function can be working any more.
func TestEventAfterCrashedPoll(t *testing.T) {
	h := newFixture(t)
	h.backend.Faults.Event = func() []time.Duration { return nil }
	h.setVersion("v1", "vpc")
	h.begin("a", "v1")
	_, err := h.Store.Register(t.Context(), "a", 1, engine.PollInput{Token: "t", Entered: h.Now()}, 0, h.Now().Add(action.MaxStartTime))
	h.must(err)
	event := engine.StackEvent{Token: action.Token("a", "", 0, 1), Status: "CREATE_COMPLETE"}
	before := len(h.answers)
	for range 2 {
		h.must(h.StackEvent(t.Context(), event))
		if len(h.answers) > before {
			t.Fatalf("%s after the poll has started, the event wakes the execution", h.Now())
		}
		h.passTime(action.MaxStartTime / 2)
	}
	if h.must(h.StackEvent(t.Context(), event)); len(h.answers) != before+1 {
		t.Error("the event does not wake the execution")
	}
}

// A hookedStore calls after once, when a run has been read or a step marked, and
// beforeEnd once, before a poll ends.
type hookedStore struct {
	engine.Store
	after, beforeEnd func()
}

func (b *hookedStore) EndPoll(ctx context.Context, r run.Run) error {
	if do := b.beforeEnd; do != nil {
		b.beforeEnd = nil
		do()
	}
	return b.Store.EndPoll(ctx, r)
}

func (b *hookedStore) runHook() {
	if do := b.after; do != nil {
		b.after = nil
		do()
	}
}

func (b *hookedStore) MarkEvent(ctx context.Context, id string, number, attempt int, s plan.Status) (bool, error) {
	defer b.runHook()
	return b.Store.MarkEvent(ctx, id, number, attempt, s)
}

func (b *hookedStore) Run(ctx context.Context, id string) (run.Run, error) {
	defer b.runHook()
	return b.Store.Run(ctx, id)
}

// The sweep does not restart a run that is marked as waiting while the sweep reads the
// state of its execution.
func TestStartsWaitingMeanwhile(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	h.planned("a", 1)
	h.Store = &hookedStore{Store: h.store, after: func() {
		h.must(h.store.MarkWaiting(t.Context(), h.stored("a")))
		h.ended["a-1"] = ""
	}}
	h.must(h.Sweep(t.Context()))
	if r := h.stored("a"); r.State != run.StateWaiting || r.Epoch != 1 {
		t.Errorf("the run is %s, in epoch %d", r.State, r.Epoch)
	}
}
