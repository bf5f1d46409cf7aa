package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/run"
)

// measures checks what was measured since it was last checked.
func (h *fixture) measures(want ...string) {
	h.Helper()
	if d := cmp.Diff(want, h.measured); d != "" {
		h.Error(d)
	}
	h.measured = nil
}

// The function that writes the end of a run measures it. A function that finds the
// run over only notifies again.
func TestEndsAreMeasuredOnce(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc db<vpc")
	h.executed("a", "deploy", "v1")
	h.measures("a succeeded, 2 steps")
	got := len(h.notified)
	h.polled(engine.LoopState{Run: "a", Epoch: 1, Wait: 60})
	h.planned("a", 1)
	if len(h.notified) != got+2 {
		t.Errorf("notified of %v", h.notified[got:])
	}
	h.measures()

	h.executed("b", "deploy", "none")
	h.measures("b refused, 0 steps")

	h.executed("c", "deploy", "v1")
	h.measures("c succeeded, 0 steps")

	h.ask("d", "destroy", "")
	h.ask("e", "cancel", "d")
	h.planned("d", 1)
	h.measures("d cancelled, 0 steps")

	h.ask("f", "destroy", "")
	h.planned("f", 1)
	h.must(h.Start(t.Context(), run.Request{ID: "u", Project: shop, Operation: "unlock", Of: "f", Who: "ann", Options: run.Options{Reason: "it hangs"}}))
	h.measures("f cancelled, 2 steps")
}

// The end of a run that another replaces in the queue is measured too.
func TestTheEndOfWhatIsReplacedIsMeasured(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	for _, id := range []string{"a", "b", "c"} {
		h.must(h.Start(t.Context(), run.Request{
			ID: id, Project: shop, Operation: "deploy", Source: run.Source{Key: "k", Version: "v1"},
			Upload: true, Sequencer: id,
		}))
		h.planned(id, 1)
	}
	h.measures("b superseded, 0 steps")
}

// An end is measured although the lock could not be passed on.
func TestAnEndThatIsNotPassedOnIsMeasured(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.queued("a", "b")
	h.store.raise = lost
	h.refusesEnd("a")
	h.measures("a cancelled, 1 steps")
}

// A sweep measures the runs as it finds them. It reads the steps of a run that is
// older than an hour, because they show whether the run is stuck.
func TestSweepMeasures(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc db<vpc")
	h.must(h.Sweep(t.Context()))
	h.measures("open 0, stuck [], oldest 0s")
	h.queued("a", "b")
	loop := engine.LoopState{Run: "a", Epoch: 1, Ready: []int{0}}
	h.pass(30*time.Minute - 2*time.Second)
	h.startReady(loop)
	h.pass(40 * time.Minute)
	h.must(h.Sweep(t.Context()))
	h.measures("open 2, stuck [], oldest 1h10m0s")
	h.pass(20 * time.Minute)
	h.must(h.Sweep(t.Context()))
	h.measures("open 2, stuck [a], oldest 1h30m0s")
}
