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
	r, err := e.subject(ctx, q)
	if err == nil && c.EndsRun {
		err = e.ownsLock(ctx, r)
	}
	if err == nil {
		r, err = e.Store.RecordCommand(ctx, r.ID, run.GivenCommand{ID: q.ID, Command: c.Recorded(q.Options), Force: q.Force, Who: q.Who, Why: q.Reason, At: e.Now()})
	}
	switch {
	case err != nil || r.State.Over():
	case c.EndsRun:
		err = e.endByForce(ctx, r, run.StateCancelled, fmt.Sprintf("unlocked by %s: %s", q.Who, q.Reason))
	default:
		err = e.ensureRunning(ctx, r) // the poll that this causes obeys the command
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q.Operation, err)
	}
	return nil
}

// subject returns the run that q gives a command to. It must be of q's project.
func (e *Engine) subject(ctx context.Context, q run.Request) (run.Run, error) {
	r, err := e.Store.Run(ctx, q.Of)
	if err == nil && r.Project != q.Project {
		err = fault.New(fault.Refused, "run %s is of %s, not of %s", r.ID, r.Project, q.Project)
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
