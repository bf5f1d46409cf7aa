package fact

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// rollbackFact is what the run that a rollback undoes has done.
func rollbackFact() Fact { return Fact{Complete: readRollback} }

func readRollback(ctx context.Context, e Reading, v *plan.View) error {
	if !e.operation(e.Run).Restores {
		return nil
	}
	failed, err := e.RolledBack(ctx)
	if err != nil {
		return err
	}
	if failed, err = e.Store.Load(ctx, failed.ID); err != nil {
		return fmt.Errorf("load run %s, which is rolled back: %w", e.Run.Of, err)
	}
	plan.KeepLevels(v.Desired.Nodes, v.Recorded)
	v.Created, v.Changed, v.Moves = created(e, failed), changed(failed), movesBack(failed)
	return nil
}

// RolledBack returns the head of the run that the run of e, a rollback, rolls back. If it repeats a rollback, it is the same run.
func (e Reading) RolledBack(ctx context.Context) (run.Run, error) {
	r := e.Run
	for e.operation(r).Restores {
		failed, err := e.Store.Run(ctx, r.Of)
		if err != nil {
			return run.Run{}, fmt.Errorf("read run %s, which is rolled back: %w", r.Of, err)
		}
		r = failed
	}
	return r, nil
}

// created returns the IDs of the stacks that a run has created.
func created(e Reading, failed run.Run) map[string]bool {
	ids := make(map[string]bool)
	for _, s := range failed.Steps {
		if e.Verbs.Of(s.Verb).Request == action.CreateStack && s.Receipt.StackID != "" {
			ids[s.Receipt.StackID] = true
		}
	}
	return ids
}

// changed returns the nodes of which a run has started a step that may have changed something. An update that had nothing to
// change has changed nothing.
func changed(failed run.Run) map[string]bool {
	nodes := make(map[string]bool)
	for _, s := range failed.Steps {
		if s.Acted() && !s.Receipt.Unchanged {
			for _, node := range s.Changes() {
				nodes[node] = true
			}
		}
	}
	return nodes
}

// movesBack lists the moves that undo those of a run.
func movesBack(failed run.Run) []plan.Move {
	var steps []plan.Step
	for _, s := range failed.Steps {
		steps = append(steps, s.Step)
	}
	return plan.MovesBack(steps)
}
