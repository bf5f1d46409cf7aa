package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/run"
)

// An upload that is heard of after a newer one is superseded, and nothing is
// planned for it.
func TestLateUpload(t *testing.T) {
	h := newHouse(t)
	h.desire("v1", "vpc")
	for id, sequencer := range map[string]string{"newer": "0B", "older": "0A"} {
		q := engine.Request{ID: id, Project: shop, Operation: "deploy", Source: run.Source{Key: "k", Version: "v1"}, Upload: true, Sequencer: sequencer}
		h.must(h.Start(t.Context(), q))
	}
	h.planned("newer", 1)
	h.planned("older", 1)
	if r := h.kept("older"); r.State != run.Superseded || len(r.Steps) > 0 || h.waits() != "newer" {
		t.Errorf("it is %s with %d steps; in line are %s", r.State, len(r.Steps), h.waits())
	}
}

// The world is told of a run that waits, and of one whose place another takes.
func TestTheWorldIsToldOfTheLine(t *testing.T) {
	h := newHouse(t)
	h.desire("v1", "vpc")
	for i, id := range []string{"a", "b", "c"} {
		h.must(h.Start(t.Context(), engine.Request{
			ID: id, Project: shop, Operation: "deploy", Source: run.Source{Key: "k", Version: "v1"},
			Upload: true, Sequencer: fmt.Sprint(i),
		}))
		h.planned(id, 1)
	}
	want := []run.State{run.Going, run.Queued, run.Superseded, run.Queued}
	if d := cmp.Diff(want, h.told); d != "" {
		t.Error(d)
	}
	if by := h.kept("b").By; by != "c" {
		t.Errorf("b is superseded by %q", by)
	}
}
