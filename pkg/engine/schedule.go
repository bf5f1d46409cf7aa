package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// early is how much before its time a schedule may seem to come up: clocks differ.
const early = 5 * time.Minute

// errGone says that a run requested by a schedule comes too late.
var errGone = errors.New("nothing is done")

// recall finds out what a schedule is to deploy, which reads nothing new: what
// all stacks were last brought to; and whether that still has the schedule. Only
// who owns the lock can tell.
func (e *Engine) scheduledSource(ctx context.Context, r *run.Run) error {
	if r.Schedule == "" {
		return nil
	}
	if err := e.lock(ctx, *r); err != nil {
		return err
	}
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return err
	}
	if e.operation(*r).NeedsFiles && r.Source == (run.Source{}) {
		switch r.Source = l.LastFull; {
		case l.CancelledBy != "":
			return fault.New(fault.Refused, "schedule %s deploys what was last deployed to %s, and that was cancelled: retry run %s, or deploy the project", r.Schedule, r.Project, l.CancelledBy)
		case r.Source == (run.Source{}):
			return fault.New(fault.Refused, "schedule %s deploys what was last deployed to %s, and nothing was yet, or not since a person destroyed it: deploy the project", r.Schedule, r.Project)
		}
	}
	return e.current(ctx, *r, l.LastFull)
}

// current is errGone if the files that all stacks were last brought to no longer
// have what a schedule requested: they were deployed while its run waited, or
// before Scheduler's call, which may be late, was found. What a person retries is
// requested by that person; and what cannot be read, or was never deployed, says
// nothing against it.
func (e *Engine) current(ctx context.Context, r run.Run, whole run.Source) error {
	if r.Of != "" || whole == (run.Source{}) {
		return nil
	}
	of := r
	of.Source = whole
	p, err := e.Configurations.Project(ctx, of)
	if err != nil {
		if refusal(err) {
			return nil
		}
		return err
	}
	s, ok := p.Schedules[r.Schedule]
	if ok && s.Operation == r.Operation && (s.Once.IsZero() || s.Past(r.Requested.Add(early))) {
		return nil
	}
	return fmt.Errorf("schedule %s came up, but what was deployed since has no such %s, or at a later time: %w", r.Schedule, r.Operation, errGone)
}

// arrange has the project's schedules be those of the files that are deployed.
// That a person destroys the project removes them. To do so before the plan is
// committed is safe: anyone who dies in between is planned again.
func (e *Engine) setSchedules(ctx context.Context, r run.Run, desired project.Project) error {
	if o := e.operation(r); !o.Writes || len(r.Only) > 0 || o.DeletesAll && r.Schedule != "" {
		return nil
	}
	if err := e.Schedules.SetSchedules(ctx, r.Project, desired.Schedules, e.Now()); err != nil {
		return fmt.Errorf("schedules: %w", err)
	}
	return nil
}
