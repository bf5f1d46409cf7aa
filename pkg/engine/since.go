package engine

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// since returns the project of the run that the selection of r names; none if it names none.
func (e *Engine) since(ctx context.Context, r run.Run) (project.Project, error) {
	if r.ChangedSince == "" {
		return project.Project{}, nil
	}
	refuse := func(format string, args ...any) (project.Project, error) {
		return project.Project{}, fault.New(fault.Refused, "changed_since: "+format, args...)
	}
	of, err := e.runOf(ctx, r.Project, r.ChangedSince)
	switch {
	case fault.Is(err, fault.Missing):
		return refuse("there is no run %s of %s: give a run that stackwright runs lists", r.ChangedSince, r.Project)
	case err != nil:
		return project.Project{}, fmt.Errorf("changed_since: %w", err)
	case of.Source == (run.Source{}):
		return refuse("run %s was a %s without files: give a run that has deployed files", of.ID, of.Operation)
	}
	before, err := e.Configurations.Project(ctx, of)
	if err != nil {
		return before, fmt.Errorf("changed_since: the files of run %s: %w", of.ID, err)
	}
	return before, nil
}
