package fact

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// retryFact is what the run that a retry repeats has left to do.
func retryFact() Fact { return Fact{Before: readSkipped, Complete: readRetried} }

// readSkipped adds to a view what the request says that the rollbacks skip. A retry skips only what it says itself.
func readSkipped(_ context.Context, e Reading, v *plan.View) error {
	v.Skip = e.Run.Skip
	return nil
}

func readRetried(ctx context.Context, e Reading, v *plan.View) error {
	o, of := e.operation(e.Run), e.Run.Of
	if of == "" || !o.Writes || o.Restores {
		return nil
	}
	before, err := e.Store.Load(ctx, of)
	if err != nil {
		return fmt.Errorf("load run %s, which is retried: %w", of, err)
	}
	v.Uncalled, err = uncalled(before)
	return err
}

// uncalled lists the steps of a run that call hooks after the deletion of a stack, and have not succeeded.
func uncalled(before run.Run) ([]plan.Step, error) {
	var steps []plan.Step
	for _, s := range before.Steps {
		c, calls, err := plan.CallOf(s.Step)
		switch {
		case err != nil:
			return nil, fmt.Errorf("run %s, which is retried: step %s: %w", before.ID, s.ID, err)
		case calls && c.Moment == project.AfterDelete && s.Status != run.Done:
			steps = append(steps, s.Step)
		}
	}
	return steps, nil
}
