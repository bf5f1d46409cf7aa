package engine_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Who claimed a step and comes back only when it was thought dead no longer says
// what became of it: a look has begun it meanwhile.
func TestBegunMeanwhile(t *testing.T) {
	for _, answer := range []error{fault.New(fault.Throttled, "slow"), fault.New(fault.Refused, "no")} {
		h := newHouse(t)
		h.desire("v1", "vpc")
		h.ask("a", "deploy", "v1")
		tick := h.planned("a", 1)
		h.cloud.begin = answer
		moves := 0
		h.store.move = func(move func() error) error {
			if moves++; moves == 2 { // after the claim
				h.store.move, h.cloud.begin = nil, nil
				h.world.Clock.After(2*action.Life, func() {})
				h.pass(2 * action.Life)
				h.looked(tick)
			}
			return move()
		}
		h.begun(tick)
		s := h.kept("a").Steps[0]
		if s.Status != run.Running || s.Attempt != 1 || !s.Note.Known() || h.records() != "vpc" {
			t.Errorf("after %v it is %s in attempt %d, noted %+v; records of %q", answer, s.Status, s.Attempt, s.Note, h.records())
		}
		if len(h.world.Cloud.Asked) != 1 {
			t.Errorf("asked for %v", h.world.Cloud.Asked)
		}
	}
}
