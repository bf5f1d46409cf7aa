package stepfn_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/run"
)

// Of several steps that are ready, no other starts after the start of one has failed, if that is more failures than the run allows: the
// function does not start the rest of those that it has found ready.
func TestFailedStartStopsTheOthers(t *testing.T) {
	p := newMemory(t, 1)
	defer p.Stop()
	p.Engine.Parallel = func(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
		for i := range n {
			if err := do(ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
	p.MaxFailures(0)
	p.Hook(parseHook(strings.Fields("a before_create check")))
	p.FailHook("check")
	id := p.Submit("deploy", parseStacks(strings.Fields("a b c d e")), "")
	if !p.WaitIdle() {
		t.Fatal("the deploy never ends")
	}
	r := p.ExecutionStatus(id)
	for _, s := range r.Steps {
		if s.Node != "a" && (s.Status != run.Skipped || s.Cause != run.Cause{Kind: run.CauseFailures, Step: "a/hook:check"}) {
			t.Errorf("%s is %s (%s)", s.ID, s.Status, s.Why)
		}
	}
	if r.State != run.StateFailed || len(r.Steps) != 6 {
		t.Errorf("the run is %s, and has %d steps", r.State, len(r.Steps))
	}
}
