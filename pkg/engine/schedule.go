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

// errGone means that a run that a schedule requested comes too late.
var errGone = errors.New("nothing is done")

// scheduledSource finds the source of a run that a schedule requested: that of the
// last full deployment. It also checks that this source still has the schedule. Only
// the owner of the lock can decide that.
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

// current is errGone if the source of the last full deployment no longer has the
// schedule's operation: it was deployed while the run was queued, or before a late
// call of Scheduler arrived. A retry is requested by a person and is not checked. A
// source that cannot be read, or an installation without a full deployment, does not
// stop the run.
func (e *Engine) current(ctx context.Context, r run.Run, full run.Source) error {
	if r.Of != "" || full == (run.Source{}) {
		return nil
	}
	of := r
	of.Source = full
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

// setSchedules makes the project's schedules those of the files that are deployed. A
// destroy that a person requested removes them. This happens before the plan is
// committed, which is safe: after a crash the run is planned again.
func (e *Engine) setSchedules(ctx context.Context, r run.Run, desired project.Project) error {
	if o := e.operation(r); !o.Writes || len(r.Only) > 0 || o.DeletesAll && r.Schedule != "" {
		return nil
	}
	if err := e.Schedules.SetSchedules(ctx, r.Project, desired.Schedules, e.Now()); err != nil {
		return fmt.Errorf("schedules: %w", err)
	}
	return nil
}
