package engine

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// recall finds out what a schedule is to deploy, which reads nothing new: what
// all stacks were last brought to. Only who owns the lock can tell.
func (e *Engine) recall(ctx context.Context, r *run.Run) error {
	if r.Schedule == "" || r.Operation != "deploy" || r.Source != (run.Source{}) {
		return nil
	}
	if err := e.lock(ctx, *r); err != nil {
		return err
	}
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return err
	}
	if r.Source = l.Whole; r.Source == (run.Source{}) {
		return fault.New(fault.Refused, "schedule %s deploys what was last deployed to %s, and nothing was yet, or not since a person destroyed it: deploy the project", r.Schedule, r.Project)
	}
	return nil
}

// arrange has the project's schedules be those of the files that are deployed.
// That a person destroys the project removes them. To do so before the plan is
// committed is safe: whoever dies in between is planned again.
func (e *Engine) arrange(ctx context.Context, r run.Run, desired project.Project) error {
	switch {
	case r.Operation == preview, r.Operation == "refresh", len(r.Only) > 0, r.Operation == "destroy" && r.Schedule != "":
		return nil
	}
	if err := e.Schedules.Arrange(ctx, r.Project, desired.Schedules, e.Now()); err != nil {
		return fmt.Errorf("schedules: %w", err)
	}
	return nil
}
