package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Expiry is who requests the destroy of an environment that has expired, and the warning before.
const Expiry = "expiry"

// sweepLifetimes requests the warnings and destroys that are due. A lifetime that cannot be read or written does not stop the others.
func (e *Engine) sweepLifetimes(ctx context.Context) error {
	all, unread := e.Store.Lifetimes(ctx)
	if unread != nil {
		unread = fmt.Errorf("sweep lifetimes: %w", unread)
	}
	failed := make([]error, len(all))
	err := e.Parallel(ctx, len(all), func(ctx context.Context, i int) error {
		if err := e.expire(ctx, all[i]); err != nil {
			failed[i] = fmt.Errorf("sweep the lifetime of %s: %w", all[i].Project, err)
		}
		return nil
	})
	return errors.Join(append(failed, err, unread)...)
}

// expire requests what is due of a lifetime. The request comes before the write that it was made: after a crash it is made again, with the same ID. If
// the lifetime has changed meanwhile, the run that was requested finds that.
func (e *Engine) expire(ctx context.Context, l project.Lifetime) error {
	now := e.Now()
	q := run.Request{Project: l.Project, Who: Expiry, Subject: Expiry, Expiry: l.Expires}
	words := []string{Expiry, l.Project, l.Run, l.Expires.UTC().Format(time.RFC3339Nano)}
	switch {
	case l.Warns(now):
		q.ID, q.Operation = RunID(append(words, "warning")...), plan.WarnName
		l.Warned = true
	case l.Destroy(now):
		if over, err := e.over(ctx, l.Attempt); err != nil || !over {
			return err
		}
		q.ID, q.Operation = RunID(append(words, strconv.Itoa(l.Attempts))...), plan.DestroyName
		l = l.Attempted(q.ID, now)
	default:
		return nil
	}
	if err := e.Start(ctx, q); err != nil {
		return err
	}
	if err := e.Store.SetLifetime(ctx, l); !fault.Is(err, fault.Stale) {
		return err
	}
	return nil
}

// over reports whether a run has ended, or does not exist.
func (e *Engine) over(ctx context.Context, id string) (bool, error) {
	if id == "" {
		return true, nil
	}
	r, err := e.Store.Run(ctx, id)
	if fault.Is(err, fault.Missing) {
		return true, nil
	}
	return r.State.Over(), err
}

// change writes what becomes of the lifetime of r's environment. It is repeated if somebody else has changed the lifetime meanwhile.
func (e *Engine) change(ctx context.Context, r run.Run, to func(project.Lifetime) (project.Lifetime, error)) error {
	for {
		was, err := e.Store.Lifetime(ctx, r.Project)
		if err != nil {
			return fmt.Errorf("lifetime: %w", err)
		}
		is, err := to(was)
		if err != nil || is == was {
			return err
		}
		if err := e.Store.SetLifetime(ctx, is); !fault.Is(err, fault.Stale) {
			return err
		}
	}
}

// checkExpired refuses the destroy of an environment whose lifetime is not the one that has requested it: it was extended, or deployed, meanwhile. Only the owner
// of the lock can decide that. From here on, nobody can extend it.
func (e *Engine) checkExpired(ctx context.Context, r *run.Run) error {
	if r.Expiry.IsZero() {
		return nil
	}
	if err := e.lock(ctx, *r); err != nil {
		return err
	}
	var by string // the run that has set the lifetime
	if err := e.change(ctx, *r, func(l project.Lifetime) (project.Lifetime, error) {
		switch {
		case !l.Known():
			return l, fmt.Errorf("%s does not expire any more: %w", r.Project, errUnscheduled)
		case !l.Expires.Equal(r.Expiry):
			return l, fmt.Errorf("%s lives until %s since run %s: %w", r.Project, l.Expires.UTC().Format(time.RFC3339), l.Run, errUnscheduled)
		}
		if l.Attempt != r.ID { // it is not written yet that this run was requested
			l = l.Attempted(r.ID, e.Now())
		}
		r.Messages = []string{l.Attempting()}
		l.Destroys = r.ID
		by = l.Run
		return l, nil
	}); err != nil {
		return err
	}
	setter, err := e.Store.Run(ctx, by)
	if fault.Is(err, fault.Missing) { // it was deleted, and its author is not known any more
		r.Authors = []string{""}
		return nil
	}
	r.Authors = setter.AllAuthors()
	return err
}

// ofLifetime carries out a run that is about the lifetime of an environment, and about no stack.
func (e *Engine) ofLifetime(ctx context.Context, r *run.Run, o plan.Operation) error {
	l, err := e.Store.Lifetime(ctx, r.Project)
	if err != nil {
		return fmt.Errorf("lifetime: %w", err)
	}
	destroyed, err := e.over(ctx, l.Destroys)
	if err != nil {
		return err
	}
	destroying := l.Destroys
	return e.change(ctx, *r, func(l project.Lifetime) (project.Lifetime, error) {
		is, message, err := o.Lifetime(plan.Extension{
			Lifetime: l, Project: r.Project, Run: r.ID, Who: r.By(), For: r.For, Until: r.Until, Expiry: r.Expiry, Requested: r.Requested, Destroyed: destroyed || l.Destroys != destroying,
		})
		if err == nil {
			r.Messages = []string{message}
		}
		return is, err
	})
}

// setLifetime makes the lifetime of the environment the one that r gives it: from the files that it deploys, or none any more from when it
// destroys all stacks. A schedule, and a run of some stacks, neither extend nor end it.
func (e *Engine) setLifetime(ctx context.Context, r run.Run, desired project.Project) error {
	o := e.operation(r)
	if !o.Writes || o.Restores && r.Source == (run.Source{}) {
		return nil
	}
	return e.change(ctx, r, func(l project.Lifetime) (project.Lifetime, error) {
		switch {
		case (r.Schedule != "" || r.Partial()) && (l.Known() || o.DeletesAll):
		case !o.DeletesAll:
			return l.Deployed(desired, r.ID, r.By(), e.Now()), nil
		case l.Known():
			l.Destroys = r.ID
		}
		return l, nil
	})
}

// lifetimeAfter returns what becomes of the lifetime of r's environment, which has the lock l, when r has ended; nil if that is nothing. An
// environment that still has stacks because nobody could reach them has its lifetime still.
func (e *Engine) lifetimeAfter(ctx context.Context, r run.Run, l run.Lock) (*project.Lifetime, error) {
	o := e.operation(r)
	if !o.Writes || r.Partial() || r.State != run.StateSucceeded || r.Schedule != "" {
		return nil, nil
	}
	was, err := e.Store.Lifetime(ctx, r.Project)
	if err != nil {
		return nil, fmt.Errorf("lifetime: %w", err)
	}
	is := was.Finished(r.ID, r.By(), r.Ended)
	if o.DeletesAll && was.Known() {
		left, err := e.Store.Records(ctx, r.Project)
		if err != nil {
			return nil, fmt.Errorf("records: %w", err)
		}
		if is = was; !plan.Undestroyed(l.OfDestroy(project.Project{}), left) {
			is = was.Ended()
		}
	}
	if is == was {
		return nil, nil
	}
	return &is, nil
}
