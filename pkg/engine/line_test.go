package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/run"
)

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
