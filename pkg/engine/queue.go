package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Why a run does not get the lock: it is queued, or it ends as superseded.
var (
	errQueued    = errors.New("another run holds the lock")
	errOutdated  = errors.New("a newer upload was requested before")
	errDuplicate = errors.New("has not ended: a schedule has one run at a time")
)

// lock makes r the only writer of its project, or queues it.
func (e *Engine) lock(ctx context.Context, r run.Run) error {
	if e.operation(r).Preview {
		return nil
	}
	for {
		err := e.enter(ctx, r)
		if !fault.Is(err, fault.Stale) {
			return err
		}
		now, again := e.Store.Run(ctx, r.ID)
		if again != nil || now.Epoch != r.Epoch || now.State != run.StatePending {
			return errors.Join(err, again) // another execution plans it now
		}
	}
}

// enter requests the lock for r. It is Stale if the lock has changed meanwhile.
func (e *Engine) enter(ctx context.Context, r run.Run) error {
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return err
	}
	entry := l.Enter(r, e.operation(r))
	switch {
	case entry.Outdated:
		return errOutdated
	case entry.Duplicate != "":
		return fmt.Errorf("run %s of schedule %s %w", entry.Duplicate, r.Schedule, errDuplicate)
	case entry.Full:
		return fault.New(fault.Refused, "%d runs are queued for %s already: cancel some of them, or wait until they end", run.MaxQueued, r.Project)
	case entry.Owns && l.Owner.Run == r.ID:
		return nil
	case !entry.Owns && r.Refuse:
		return e.lockedError(ctx, r, l.Owner.Run)
	}
	if err := e.Store.Enter(ctx, r, entry, e.Now()); err != nil {
		return fmt.Errorf("enter the queue of %s: %w", r.Project, err)
	}
	if entry.Owns {
		return nil
	}
	if err := e.wakeOwner(ctx, entry.StopOwner); err != nil {
		return err
	}
	if err := e.notifyReplaced(ctx, entry.Superseded); err != nil {
		return err
	}
	return errQueued
}

// notifyReplaced notifies about the runs that ended because another replaced them.
func (e *Engine) notifyReplaced(ctx context.Context, ids []string) error {
	for _, id := range ids {
		r, err := e.Store.Run(ctx, id)
		if err != nil {
			return err
		}
		e.Meter.Ended(ctx, r)
		e.Notifier.Notify(ctx, r)
	}
	return nil
}

// lockedError is the error for a run that must not be queued: owner holds the lock.
func (e *Engine) lockedError(ctx context.Context, r run.Run, owner string) error {
	held, err := e.Store.Run(ctx, owner)
	if err != nil {
		return err
	}
	return fault.New(fault.Refused, "run %s (%s, %s) holds the lock on %s: wait until it ends, or leave out refuse to queue this run", owner, held.Operation, held.State, r.Project)
}

// wakeOwner wakes the owner that another run supersedes, so that it obeys at once.
func (e *Engine) wakeOwner(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	r, err := e.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	return e.ensureRunning(ctx, r)
}
