package engine

import (
	"context"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
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
	case len(r.Skip) > 0 && !slices.Contains(e.operation(old).Options, plan.OptionSkip):
		return fault.New(fault.Refused, "run %s was a %s, which has no option skip: remove it", old.ID, old.Operation)
	}
	if old.FromEnvironment != "" && old.Revision == "" { // its requester could read the environment; nobody knows whether that of r can
		return fault.New(fault.Refused, "run %s was to promote from %s and was refused before it had found a revision: request the promotion again", old.ID, old.FromEnvironment)
	}
	r.Repeat(old)
	return nil
}

// refuseOutdated refuses to retry a run, or to roll one back, if something newer was deployed since. It is called
// when r holds the lock, so that nothing newer can be deployed meanwhile. A rollback needs no approval and is not
// denied by policies, because it restores what was deployed before: so force does not help it.
func (e *Engine) refuseOutdated(ctx context.Context, r run.Run) error {
	o := e.operation(r)
	if r.Of == "" || !o.Writes || r.Force && !o.Restores {
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
	switch {
	case !o.Restores && l.Newer(old):
		return fault.New(fault.Refused, "run %s is not retried: run %s has deployed something newer since: deploy that again, or retry with --force", old.ID, l.LastAttempted.Run)
	case !o.Restores:
		return nil
	}
	failed, err := e.reading(r).RolledBack(ctx)
	if err != nil {
		return err
	}
	if last := l.LastAttempted.Run; last != failed.ID || l.LastSuccessful != r.Source {
		return fault.New(fault.Refused, "run %s is not rolled back: run %s has deployed since, and a rollback would undo that too: deploy the files that you want instead", failed.ID, last)
	}
	if why := l.MovedBefore(failed.ID); why != "" {
		return fault.New(fault.Refused, "run %s is not rolled back: %s", failed.ID, why)
	}
	return nil
}
