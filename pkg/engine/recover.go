package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// How often a run is taken up again without a step being finished in between, and
// how long it is left alone before the second time: before each further time,
// twice as long. What ails all runs at once, and is repaired within two hours, ends
// none of them.
const (
	maxRestarts  = 5
	leastPatient = 5 * time.Minute
)

// Recover takes up the run whose execution has failed, timed out or was stopped:
// to stop an execution cancels nothing. That of an older execution was not missed.
func (e *Engine) Recover(ctx context.Context, d ExecutionInput) error {
	r, err := e.Store.Run(ctx, d.Run)
	switch {
	case fault.Is(err, fault.Missing):
		return nil // its time is over
	case err == nil && r.Epoch == d.Epoch:
		err = e.restart(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("recover run %s: %w", d.Run, err)
	}
	return nil
}

// Sweep takes up every run that have no execution, though somebody should, and
// measures all that are not over as it finds them. One that cannot be taken up
// does not keep it from the others.
func (e *Engine) Sweep(ctx context.Context) error {
	open, err := e.Store.Open(ctx)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	failed, found := make([]error, len(open)), make([]run.Run, len(open))
	err = e.each(len(open), func(i int) error {
		var err error
		if found[i], err = e.swept(ctx, open[i]); err == nil {
			err = e.restart(ctx, found[i])
		}
		if err != nil {
			failed[i] = fmt.Errorf("sweep run %s: %w", open[i], err)
		}
		return nil
	})
	e.Meter.Swept(ctx, run.NewBacklog(found, e.Now()))
	return errors.Join(append(failed, err)...)
}

// swept returns a run, with its steps if only they can tell whether it is stuck.
func (e *Engine) swept(ctx context.Context, id string) (run.Run, error) {
	r, err := e.Store.Run(ctx, id)
	if err != nil || !r.Stuck(e.Now()) {
		return r, err
	}
	return e.loadWhole(ctx, r)
}

// restart sees to it that a run is executed that should be. One that was restarted
// only just now is left alone for a while.
func (e *Engine) restart(ctx context.Context, r run.Run) error {
	switch r.State {
	case run.StateWaiting: // what raised the generation may have died before it started an execution
		if r.Generation > r.ObservedGeneration || r.Command == run.Continue && r.Overdue(e.Now()) {
			return e.startExecution(ctx, r)
		}
		return nil
	case run.StateQueued:
		l, err := e.Store.Lock(ctx, r.Project)
		if err == nil && (l.Owner.Run == r.ID || r.Command.Stops()) {
			err = e.startExecution(ctx, r)
		}
		return err
	}
	_, err := e.executing(ctx, r, true)
	return err
}

// stir sees to it that somebody reads r now: anyone who waits is woken, and if
// nobody does, r is executed.
func (e *Engine) ensureRunning(ctx context.Context, r run.Run) error {
	switch {
	case r.State == run.StateWaiting, r.State == run.StateQueued && r.Command.Stops():
		return e.startExecution(ctx, r)
	case r.State == run.StateQueued:
		return nil // until it is its turn
	}
	if _, err := e.executing(ctx, r, false); err != nil {
		return err
	}
	return e.wake(ctx, r)
}

// executed reports whether r, which is requested or going, has an execution that is
// under way, and gives it one if it has not. What is given up on is over.
func (e *Engine) executing(ctx context.Context, r run.Run, patient bool) (bool, error) {
	switch {
	case r.State.Over():
		return false, nil
	case r.Epoch == 0: // anyone who requested it died there
		return false, e.startExecution(ctx, r)
	}
	s, err := e.Machine.ExecutionStatus(ctx, execution(r.ID, r.Epoch))
	switch {
	case err != nil:
		return false, err
	case !s.Started: // the function that raised the epoch died there
		return false, e.launch(ctx, r.ID, r.Epoch)
	case s.Running:
		return true, nil
	}
	return false, e.restartOrFail(ctx, r, s.Why, patient)
}

// again executes a run whose execution has ended because of why. If that happened
// too often without a step being finished in between, it is given up.
func (e *Engine) restartOrFail(ctx context.Context, was run.Run, why string, patient bool) error {
	r, err := e.loadWhole(ctx, was)
	if err != nil || r.Epoch != was.Epoch || r.State != was.State {
		return err // it has moved on meanwhile
	}
	if n := r.Finished(); n > r.FinishedAtRestart {
		r.Restarts, r.FinishedAtRestart = 0, n
	}
	now := e.Now()
	if patient && r.Restarts > 0 && now.Before(r.RestartedAt.Add(leastPatient<<(r.Restarts-1))) {
		return nil
	}
	if r.Restarts++; r.Restarts <= maxRestarts {
		r.RestartedAt = now
		return e.startExecution(ctx, r)
	}
	why = fmt.Sprintf("engine error: %d executions in a row have ended without a step being settled, the last one by %s: see the logs of its functions, then retry the run", r.Restarts, why)
	// If we die on the way, anyone who goes on finds it cancelled.
	_, err = e.Store.RecordCommand(ctx, r.ID, run.GivenCommand{ID: "engine-error", Command: run.Cancel, Who: "stackwright", Why: why, At: now})
	if err != nil {
		return err
	}
	return e.endByForce(ctx, r, run.StateFailed, why)
}

// whole returns a run with its steps, or without them if they cannot be read.
func (e *Engine) loadWhole(ctx context.Context, r run.Run) (run.Run, error) {
	all, err := e.Store.Load(ctx, r.ID)
	if fault.Is(err, fault.Broken) {
		return e.Store.Run(ctx, r.ID)
	}
	return all, err
}

// end by force ends a run as it stands, out of the hands of anyone who executes it. Who
// finds the epoch raised may begin to execute it at once: what that does meanwhile
// is seen, and the run ended as it then stands.
func (e *Engine) endByForce(ctx context.Context, r run.Run, s run.State, why string) error {
	if err := e.Store.RaiseEpoch(ctx, r); err != nil {
		return fmt.Errorf("raise the epoch of run %s: %w", r.ID, err)
	}
	for epoch := r.Epoch + 1; ; {
		now, err := e.loadWhole(ctx, r)
		if err != nil || now.Epoch != epoch || now.State.Over() {
			return err
		}
		for _, s := range now.Steps {
			if s.Status == run.Running && !s.Receipt.Known() && e.Now().Before(s.Claimed.Add(action.MaxStartTime)) {
				return fault.New(fault.Unavailable, "run %s: the start of %s may still be on its way: ask again in a minute", r.ID, s.ID)
			}
		}
		now.Messages = append(now.Messages, why)
		if err = e.failRemaining(ctx, now); err == nil {
			now, err = e.end(ctx, now, s)
		}
		if !fault.Is(err, fault.Stale) {
			if err == nil {
				e.Notifier.Notify(ctx, now)
			}
			return err
		}
	}
}

// fail ends the steps of a run that is given up.
func (e *Engine) failRemaining(ctx context.Context, r run.Run) error {
	for _, was := range r.Steps {
		if was.Over() {
			continue
		}
		c := Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: was.Status, Attempt: was.Attempt, Step: was}
		c.Step.Status, c.Step.Ended, c.Step.Why = run.Skipped, e.Now(), "the run was given up"
		c.Step.Cause = run.Cause{Kind: run.CauseForced}
		if was.Status == run.Running {
			c.Step.Cause = run.Cause{}
			c.Step.Result.Untouched = !e.Verbs.Of(was.Verb).Mutates
			c.Step.Status, c.Step.Why = run.Failed, "the run was given up while this was under way: the next run finds what came of it"
		}
		if err := e.Store.Move(ctx, c); err != nil {
			return fmt.Errorf("give up %s of run %s: %w", was.ID, r.ID, err)
		}
	}
	return nil
}
