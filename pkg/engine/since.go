package engine

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// since completes the selection of r with the stacks whose files differ from those of the run that it names. now is the project of r.
func (e *Engine) since(ctx context.Context, r *run.Run, now project.Project) error {
	if r.ChangedSince == "" {
		return nil
	}
	of, err := e.runOf(ctx, r.Project, r.ChangedSince)
	switch {
	case fault.Is(err, fault.Missing):
		return fault.New(fault.Refused, "changed_since: there is no run %s of %s: give a run that stackwright runs lists", r.ChangedSince, r.Project)
	case err != nil:
		return fmt.Errorf("changed_since: %w", err)
	case of.Source == (run.Source{}):
		return fault.New(fault.Refused, "changed_since: run %s was a %s without files: give a run that has deployed files", of.ID, of.Operation)
	}
	before, err := e.Configurations.Project(ctx, of)
	if err != nil {
		return fmt.Errorf("changed_since: the files of run %s: %w", of.ID, err)
	}
	r.Selection, err = r.Selection.Since(before, now)
	return err
}
