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

// early is how long before its time the event of a schedule may arrive, because clocks
// differ.
const early = 5 * time.Minute

// errUnscheduled means that the files no longer have the schedule that requested a run.
var errUnscheduled = errors.New("nothing was done")

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
			return fault.New(fault.Refused, "schedule %s deploys the files of the last full deployment of %s, which was cancelled: retry run %s, or deploy the project", r.Schedule, r.Project, l.CancelledBy)
		case r.Source == (run.Source{}):
			return fault.New(fault.Refused, "schedule %s deploys the files of the last full deployment of %s, and there is none: nobody has deployed the whole project yet, or not since it was destroyed: deploy it", r.Schedule, r.Project)
		}
	}
	return e.checkSchedule(ctx, *r, l.LastFull)
}

// checkSchedule returns errUnscheduled if the source of the last full deployment no longer has the
// schedule's operation: other files were deployed while the run was queued, or before a
// late call of EventBridge Scheduler arrived. A retry is requested by a person and is
// not checked. If there is no full deployment, or its source cannot be read, the run
// continues.
func (e *Engine) checkSchedule(ctx context.Context, r run.Run, full run.Source) error {
	if r.Of != "" || full == (run.Source{}) {
		return nil
	}
	of := r
	of.Source = full
	p, err := e.Configurations.Project(ctx, of)
	if err != nil {
		if fault.Final(err) {
			return nil
		}
		return err
	}
	s, ok := p.Schedules[r.Schedule]
	if ok && s.Operation == r.Operation && (s.Once.IsZero() || s.Past(r.Requested.Add(early))) {
		return nil
	}
	return fmt.Errorf("schedule %s requested this run, but the files deployed since then schedule no %s at this time: %w", r.Schedule, r.Operation, errUnscheduled)
}

// setSchedules makes the project's schedules those of the files that are deployed. A
// destroy that a person requested removes them. This happens before the plan is
// committed, or continued if it had to be approved, which is safe: after a crash it is done again.
func (e *Engine) setSchedules(ctx context.Context, r run.Run, desired project.Project) error {
	if o := e.operation(r); !o.Writes || r.Partial() || o.DeletesAll && r.Schedule != "" {
		return nil
	}
	if err := e.Schedules.SetSchedules(ctx, r.Project, desired.Schedules, r.AllAuthors(), e.Now()); err != nil {
		return fmt.Errorf("schedules: %w", err)
	}
	return nil
}
