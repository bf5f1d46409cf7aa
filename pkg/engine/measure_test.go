package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/run"
)

// wantMeasured checks what was measured since the last check.
func (h *fixture) wantMeasured(want ...string) {
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
	h.setVersion("v1", "vpc db<vpc")
	h.requestAndExecute("a", "deploy", "v1")
	h.wantMeasured("a succeeded, 2 steps")
	before := len(h.notified)
	h.polled(engine.LoopState{Run: "a", Epoch: 1, Wait: 60})
	h.planned("a", 1)
	if len(h.notified) != before+2 {
		t.Errorf("notified of %v", h.notified[before:])
	}
	h.wantMeasured()

	h.requestAndExecute("b", "deploy", "none")
	h.wantMeasured("b refused, 0 steps")

	h.requestAndExecute("c", "deploy", "v1")
	h.wantMeasured("c succeeded, 0 steps")

	h.request("d", "destroy", "")
	h.request("e", "cancel", "d")
	h.planned("d", 1)
	h.wantMeasured("d cancelled, 0 steps")

	h.request("f", "destroy", "")
	h.planned("f", 1)
	h.must(h.Start(t.Context(), run.Request{ID: "u", Project: shop, Operation: "unlock", Of: "f", Who: "ann", Options: run.Options{Reason: "it hangs"}}))
	h.wantMeasured("f cancelled, 2 steps")
}

// The end of a run that another replaces in the queue is measured too.
func TestEndOfReplacedRunIsMeasured(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	for _, id := range []string{"a", "b", "c"} {
		h.must(h.Start(t.Context(), run.Request{
			ID: id, Project: shop, Operation: "deploy", Source: run.Source{Key: "k", Version: "v1"},
			Upload: true, Sequencer: id,
		}))
		h.planned(id, 1)
	}
	h.wantMeasured("b superseded, 0 steps")
}

// The end of a run is measured even if the function fails before it starts the next
// owner of the lock.
func TestAnEndThatIsNotPassedOnIsMeasured(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.bringToQueue("a", "b")
	h.store.raise = failedWrite
	h.endNotPassedOn("a")
	h.wantMeasured("a cancelled, 1 steps")
}

// A sweep measures the runs as it finds them. It reads the steps of a run that is
// older than an hour, because they show whether the run is stuck.
func TestSweepMeasures(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc db<vpc")
	h.must(h.Sweep(t.Context()))
	h.wantMeasured("open 0, stuck [], oldest 0s")
	h.bringToQueue("a", "b")
	loop := engine.LoopState{Run: "a", Epoch: 1, Wait: 60}
	h.passTime(30*time.Minute - 2*time.Second)
	h.polled(loop)
	h.passTime(40 * time.Minute)
	h.must(h.Sweep(t.Context()))
	h.wantMeasured("open 2, stuck [], oldest 1h10m0s")
	h.passTime(20 * time.Minute)
	h.must(h.Sweep(t.Context()))
	h.wantMeasured("open 2, stuck [a], oldest 1h30m0s")
}
