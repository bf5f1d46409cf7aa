package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A plan is made from the stacks as they are when the run owns the lock, and not as they
// were before another run ended.
func TestPlanReadsStacksWithLock(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	first := h.planned("a", 1)
	h.request("b", "deploy", "v1")
	h.Clouds = &hookedClouds{Clouds: h.cloud, afterObserve: func() { h.executeToEnd(first) }}
	h.planned("b", 1)
	h.Clouds = h.cloud
	if h.stored("b").State == run.StateQueued {
		h.executeToEnd(first)
	}
	if r := h.planAndExecute("b"); r.State != run.StateSucceeded || len(r.Steps) > 0 {
		t.Errorf("all stacks are deployed, but the run has %d steps, and is %s", len(r.Steps), r.State)
	}
}

// hookedClouds calls afterObserve after each read of the stacks.
type hookedClouds struct {
	engine.Clouds
	afterObserve func()
}

func (w *hookedClouds) Observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error) {
	seen, err := w.Clouds.Observe(ctx, places)
	w.afterObserve()
	return seen, err
}

// An upload whose event arrives after that of a newer one is superseded, and no plan
// is made for it.
func TestLateUpload(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	for id, sequencer := range map[string]string{"newer": "0B", "older": "0A"} {
		q := run.Request{ID: id, Project: shop, Operation: "deploy", Source: run.Source{Key: "k", Version: "v1"}, Upload: true, Sequencer: sequencer}
		h.must(h.Start(t.Context(), q))
	}
	h.planned("newer", 1)
	h.planned("older", 1)
	if r := h.stored("older"); r.State != run.StateSuperseded || len(r.Steps) > 0 || h.queue() != "newer" {
		t.Errorf("the older upload is %s with %d steps; the queue has %s", r.State, len(r.Steps), h.queue())
	}
}

// Users are notified about a run that is queued, and about a run that a newer one
// replaces in the queue.
func TestQueuedAndReplacedAreNotified(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	for i, id := range []string{"a", "b", "c"} {
		h.must(h.Start(t.Context(), run.Request{
			ID: id, Project: shop, Operation: "deploy", Source: run.Source{Key: "k", Version: "v1"},
			Upload: true, Sequencer: fmt.Sprint(i),
		}))
		h.planned(id, 1)
	}
	want := []run.State{run.StateRunning, run.StateQueued, run.StateSuperseded, run.StateQueued}
	if d := cmp.Diff(want, h.notified); d != "" {
		t.Error(d)
	}
	if by := h.stored("b").SupersededBy; by != "c" {
		t.Errorf("b is superseded by %q", by)
	}
}
