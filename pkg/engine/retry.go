package engine

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// retry turns r, a retry, into the run that it repeats: it takes over the operation,
// the files and the options. It refuses to repeat a run that has not ended.
func (e *Engine) retry(ctx context.Context, r *run.Run) error {
	old, err := e.runOf(ctx, r.Project, r.Of)
	if err != nil {
		return err
	}
	switch {
	case !old.State.Over():
		return fault.New(fault.Refused, "run %s has not ended (%s): wait until it ends, or cancel it", old.ID, old.State)
	case !e.operation(old).Retryable:
		return fault.New(fault.Refused, "run %s was a %s, which cannot be retried: request it again", old.ID, old.Operation)
	}
	r.Operation, r.Source, r.Schedule = old.Operation, old.Source, old.Schedule
	r.Only, r.Adopt = old.Only, old.Adopt
	if old.Started.IsZero() { // it has done nothing, so its saved plan can still be carried out
		r.Plan = old.Plan
	}
	if r.MaxDeletions == nil {
		r.MaxDeletions = old.MaxDeletions
	}
	return nil
}

// refuseOutdatedRetry refuses to retry a run if something newer was deployed since. It is called
// when r holds the lock, so that nothing newer can be deployed meanwhile.
func (e *Engine) refuseOutdatedRetry(ctx context.Context, r run.Run) error {
	if o := e.operation(r); r.Of == "" || r.Force || !o.Writes || o.Restores {
		return nil
	}
	old, err := e.Store.Run(ctx, r.Of)
	if err != nil {
		return err
	}
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return err
	}
	if l.Newer(old) {
		return fault.New(fault.Refused, "run %s is not retried: run %s has deployed something newer since: deploy that again, or retry with --force", old.ID, l.LastAttempted.Run)
	}
	return nil
}
