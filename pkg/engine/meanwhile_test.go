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
		h.startReady(loop)
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
	h.request("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.startReady(loop)
	h.passTime(9 * time.Second)
	h.polled(loop) // the operation is running: no step is due for five seconds
	h.passTime(2 * time.Second)
	h.Store = &hookedStore{Store: h.store, after: func() { h.polled(loop) }}
	h.must(h.StackEvent(t.Context(), engine.StackEvent{Token: action.Token("a", 0, 1), Status: "CREATE_COMPLETE"}))
	if r := h.stored("a"); r.State != run.StateSucceeded {
		t.Errorf("the run is %s", r.State)
	}
}

// A hookedStore calls after once, when a run has been read or a step marked.
type hookedStore struct {
	engine.Store
	after func()
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
