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

// Who claimed a step and comes back only when it was thought dead no longer says
// what became of it: a look has begun it meanwhile.
func TestStartedMeanwhile(t *testing.T) {
	for _, answer := range []error{fault.New(fault.Throttled, "slow"), fault.New(fault.Refused, "no")} {
		h := newFixture(t)
		h.desire("v1", "vpc")
		h.ask("a", "deploy", "v1")
		tick := h.planned("a", 1)
		h.cloud.begin = answer
		moves := 0
		h.store.move = func(move func() error) error {
			if moves++; moves == 2 { // after the claim
				h.store.move, h.cloud.begin = nil, nil
				h.world.Clock.After(2*action.MaxStartTime, func() {})
				h.pass(2 * action.MaxStartTime)
				h.looked(tick)
			}
			return move()
		}
		h.begun(tick)
		s := h.kept("a").Steps[0]
		if s.Status != run.Running || s.Attempt != 1 || !s.Receipt.Known() || h.records() != "vpc" {
			t.Errorf("after %v it is %s in attempt %d, noted %+v; records of %q", answer, s.Status, s.Attempt, s.Receipt, h.records())
		}
		if len(h.world.Cloud.Requests) != 1 {
			t.Errorf("asked for %v", h.world.Cloud.Requests)
		}
	}
}

// A wait that begins just when an event is told of sees its mark.
func TestWaitsMeanwhile(t *testing.T) {
	h := newFixture(t)
	h.world.Faults.Event = func() []time.Duration { return nil } // it is told by hand
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	tick := h.planned("a", 1)
	h.begun(tick)
	h.pass(9 * time.Second)
	h.looked(tick) // CloudFormation is at it: for five seconds nothing is due
	h.pass(2 * time.Second)
	h.Store = &between{Store: h.store, do: func() { h.looked(tick) }}
	h.must(h.StackEvent(t.Context(), engine.StackEvent{Token: action.Token("a", 0, 1), Status: "CREATE_COMPLETE"}))
	if r := h.kept("a"); r.State != run.StateSucceeded {
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

// A run that parks while it is found out that its execution is over is left in
// peace.
func TestParksMeanwhile(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	h.planned("a", 1)
	h.Store = &between{Store: h.store, do: func() {
		h.must(h.store.MarkWaiting(t.Context(), h.kept("a")))
		h.ended["a-1"] = ""
	}}
	h.must(h.Sweep(t.Context()))
	if r := h.kept("a"); r.State != run.StateWaiting || r.Epoch != 1 {
		t.Errorf("it is %s, driven by %d", r.State, r.Epoch)
	}
}
