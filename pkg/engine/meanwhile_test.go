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

// A function that is late with the outcome of its start no longer writes it: a poll
// has started the step meanwhile.
func TestStartedMeanwhile(t *testing.T) {
	for _, answer := range []error{fault.New(fault.Throttled, "slow"), fault.New(fault.Refused, "no")} {
		h := newFixture(t)
		h.desire("v1", "vpc")
		h.ask("a", "deploy", "v1")
		loop := h.planned("a", 1)
		h.cloud.begin = answer
		moves := 0
		h.store.move = func(move func() error) error {
			if moves++; moves == 2 { // after the claim
				h.store.move, h.cloud.begin = nil, nil
				h.backend.Clock.After(2*action.MaxStartTime, func() {})
				h.pass(2 * action.MaxStartTime)
				h.polled(loop)
			}
			return move()
		}
		h.startReady(loop)
		s := h.stored("a").Steps[0]
		if s.Status != run.Running || s.Attempt != 1 || !s.Receipt.Known() || h.records() != "vpc" {
			t.Errorf("after %v it is %s in attempt %d, with the receipt %+v; records of %q", answer, s.Status, s.Attempt, s.Receipt, h.records())
		}
		if len(h.backend.Cloud.Requests) != 1 {
			t.Errorf("requested %v", h.backend.Cloud.Requests)
		}
	}
}

// A wait that begins just when an event arrives sees the mark of the event.
func TestWaitsMeanwhile(t *testing.T) {
	h := newFixture(t)
	h.backend.Faults.Event = func() []time.Duration { return nil } // it is told by hand
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.startReady(loop)
	h.pass(9 * time.Second)
	h.polled(loop) // CloudFormation is at it: for five seconds nothing is due
	h.pass(2 * time.Second)
	h.Store = &between{Store: h.store, do: func() { h.polled(loop) }}
	h.must(h.StackEvent(t.Context(), engine.StackEvent{Token: action.Token("a", 0, 1), Status: "CREATE_COMPLETE"}))
	if r := h.stored("a"); r.State != run.StateSucceeded {
		t.Errorf("it waits on, and is %s", r.State)
	}
}

// A between does something once, after a run was first read, or a step marked.
type between struct {
	engine.Store
	do func()
}

func (b *between) then() {
	if do := b.do; do != nil {
		b.do = nil
		do()
	}
}

func (b *between) MarkEvent(ctx context.Context, id string, number, attempt int, s plan.Status) (bool, error) {
	defer b.then()
	return b.Store.MarkEvent(ctx, id, number, attempt, s)
}

func (b *between) Run(ctx context.Context, id string) (run.Run, error) {
	defer b.then()
	return b.Store.Run(ctx, id)
}

// A run that begins to wait for a person while its execution is found to be over is
// left alone.
func TestStartsWaitingMeanwhile(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	h.planned("a", 1)
	h.Store = &between{Store: h.store, do: func() {
		h.must(h.store.MarkWaiting(t.Context(), h.stored("a")))
		h.ended["a-1"] = ""
	}}
	h.must(h.Sweep(t.Context()))
	if r := h.stored("a"); r.State != run.StateWaiting || r.Epoch != 1 {
		t.Errorf("it is %s, in epoch %d", r.State, r.Epoch)
	}
}
