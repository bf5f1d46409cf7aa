package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Command gives a run the command that q requests. The error is Refused if the run cannot
// obey, and Invalid if there is no such command. Unlike Start, Command makes no run of a
// refused command.
func (e *Engine) Command(ctx context.Context, q run.Request) error {
	c, ok := run.ControlNamed(q.Operation)
	if !ok {
		return fault.New(fault.Invalid, "there is no command %q: give one of %s", q.Operation, strings.Join(run.ControlNames(), ", "))
	}
	r, err := e.runOf(ctx, q.Project, q.Of)
	if c.Answers {
		return e.answer(ctx, c, q, err)
	}
	if c.EndsRun && fault.Is(err, fault.Missing, fault.Broken) {
		return e.release(ctx, q, err)
	}
	if err == nil && c.EndsRun {
		err = e.ownsLock(ctx, r)
	}
	if err == nil {
		r, err = e.Store.RecordCommand(ctx, r.ID, run.GivenCommand{ID: q.ID, Command: c.CommandFor(q.Options), Force: q.Force, Who: q.By(), From: q.From, Why: q.Reason, At: e.Now()})
	}
	switch {
	case err != nil || r.State.Over():
	case c.EndsRun:
		err = e.endByForce(ctx, r, run.StateCancelled, fmt.Sprintf("unlocked by %s: %s", q.By(), q.Reason))
	default:
		err = e.ensureRunning(ctx, r) // the poll that this causes obeys the command
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q.Operation, err)
	}
	return nil
}

// runOf returns a run of a project. A run of another project is answered as one that does not
// exist, so that a request for one project says nothing about the runs of others.
func (e *Engine) runOf(ctx context.Context, project, id string) (run.Run, error) {
	r, err := e.Store.Run(ctx, id)
	if err == nil && r.Project != project {
		return run.Run{}, fault.New(fault.Missing, "there is no run %s", id)
	}
	return r, err
}

// ownsLock returns an error if r is not over and does not own the lock of its project:
// such a run cannot be unlocked.
func (e *Engine) ownsLock(ctx context.Context, r run.Run) error {
	l, err := e.Store.Lock(ctx, r.Project)
	if err == nil && l.Owner.Run != r.ID && !r.State.Over() {
		err = fault.New(fault.Refused, "run %s does not hold the lock on %s: cancel it instead", r.ID, r.Project)
	}
	return err
}

// release takes the lock from the run that q is about, which cannot be read because
// of unreadable. Nothing else is known about the run, so nothing else is done: the
// next run finds the operations that are in progress.
func (e *Engine) release(ctx context.Context, q run.Request, unreadable error) error {
	why := fmt.Sprintf("unlocked by %s: %s: only the lock was released, because the run cannot be read: %v", q.By(), q.Reason, unreadable)
	for {
		l, err := e.Store.Lock(ctx, q.Project)
		if err == nil && l.Owner.Run != q.Of {
			if done, err := e.Store.Released(ctx, q.Of, q.ID); done || err != nil {
				return err // the request was delivered before
			}
			err = fault.New(fault.Refused, "%w; and run %s does not hold the lock on %s, so there is nothing to unlock", unreadable, q.Of, q.Project)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", q.Operation, err)
		}
		// A run is created before it gets the lock. If it can be read now, it was created after
		// the read that failed.
		if _, err = e.Store.Run(ctx, q.Of); !fault.Is(err, fault.Missing, fault.Broken) {
			if err == nil {
				err = e.Command(ctx, q)
			}
			return err
		}
		next := l.Without(q.Of)
		err = e.Store.Release(ctx, q.Project, q.Of, next, run.GivenCommand{ID: q.ID, Command: run.Cancel, Who: q.By(), From: q.From, Why: why, At: e.Now()})
		switch {
		case fault.Is(err, fault.Stale):
			continue // the lock has changed: read it again
		case err != nil:
			return fmt.Errorf("%s: %w", q.Operation, err)
		}
		e.Notifier.Notify(ctx, run.Run{
			Request: run.Request{ID: q.Of, Project: q.Project}, State: run.StateCancelled, Messages: limitMessages([]string{why}), Ended: e.Now(),
		})
		return e.startNextOwner(ctx, next.Owner.Run)
	}
}
