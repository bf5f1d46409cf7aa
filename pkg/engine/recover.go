package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// How often a run is restarted without a step that finishes in between, and how long
// Stackwright waits before the second restart. Before each further restart it waits
// twice as long. So an outage that affects all runs and is over within two hours
// ends none of them.
const (
	maxRestarts       = 5
	firstRestartPause = 5 * time.Minute
)

// Recover restarts a run whose execution failed, timed out or was stopped. Stopping an
// execution does not cancel its run. The end of an execution with an older
// epoch needs no restart.
func (e *Engine) Recover(ctx context.Context, d ExecutionInput) error {
	r, err := e.Store.Run(ctx, d.Run)
	switch {
	case fault.Is(err, fault.Missing):
		return nil // the run has expired
	case err == nil && r.Epoch == d.Epoch:
		err = e.restart(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("recover run %s: %w", d.Run, err)
	}
	return nil
}

// Sweep restarts every run that should have an execution and has none, and measures
// all runs that have not ended. Then it finishes the cleanup of ended runs, and requests the
// destroys of environments that have expired.
// A run that cannot be restarted does not stop the sweep of the others.
func (e *Engine) Sweep(ctx context.Context) error {
	open, err := e.Store.Open(ctx)
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	failed, found := make([]error, len(open)), make([]run.Run, len(open))
	err = e.Parallel(ctx, len(open), func(ctx context.Context, i int) error {
		var err error
		if found[i], err = e.loadForSweep(ctx, open[i]); err == nil {
			err = e.restart(ctx, found[i])
		}
		if err != nil {
			failed[i] = fmt.Errorf("sweep run %s: %w", open[i], err)
		}
		return nil
	})
	e.Meter.Swept(ctx, run.NewBacklog(found, e.Now()))
	return errors.Join(append(failed, err, e.Store.Tidy(ctx), e.sweepLifetimes(ctx))...)
}

// loadForSweep returns a run, with its steps if they are needed to decide whether it is
// stuck.
func (e *Engine) loadForSweep(ctx context.Context, id string) (run.Run, error) {
	r, err := e.Store.Run(ctx, id)
	if err != nil || !r.Stuck(e.Now()) {
		return r, err
	}
	return e.loadWhole(ctx, r)
}

// restart starts an execution for a run that should have one and has none. After a recent
// restart it waits first.
func (e *Engine) restart(ctx context.Context, r run.Run) error {
	switch r.State {
	case run.StateWaiting: // nobody has approved its plan in time, or the function that raised the generation may have crashed before it started an execution
		if r.Generation > r.ObservedGeneration || r.Command == run.Continue && r.Overdue(e.Now()) {
			return e.startExecution(ctx, r)
		}
		r, err := e.Store.Follow(ctx, r.ID)
		if err == nil && r.State == run.StateWaiting && r.Expired(e.Now()) {
			err = e.startExecution(ctx, r)
		}
		return err
	case run.StateQueued:
		l, err := e.Store.Lock(ctx, r.Project)
		if err == nil && (l.Owner.Run == r.ID || r.Command.Stops()) {
			err = e.startExecution(ctx, r)
		}
		return err
	}
	if r.Soaks(e.Now()) && r.Command.Stops() { // the function that gave the command may have crashed before it started an execution
		return e.startExecution(ctx, r)
	}
	_, err := e.executing(ctx, r, true)
	return err
}

// ensureRunning makes sure that r is polled now: it wakes the waiting execution, or starts
// one if there is none.
func (e *Engine) ensureRunning(ctx context.Context, r run.Run) error {
	switch {
	case r.State == run.StateWaiting, r.State == run.StateQueued && r.Command.Stops(), r.Soaks(e.Now()) && r.Command.Stops():
		return e.startExecution(ctx, r)
	case r.State == run.StateQueued:
		return nil // it starts when it gets the lock
	}
	if _, err := e.executing(ctx, r, false); err != nil {
		return err
	}
	return e.wake(ctx, r)
}

// executing reports whether r, which is pending or running, has an execution in
// progress. If it has none, executing starts one, or ends the run after too many
// restarts.
func (e *Engine) executing(ctx context.Context, r run.Run, patient bool) (bool, error) {
	switch {
	case r.State.Over():
		return false, nil
	case r.Epoch == 0: // the function that created the run crashed before it started an execution
		return false, e.startExecution(ctx, r)
	}
	s, err := e.Machine.ExecutionStatus(ctx, ExecutionName(r.ID, r.Epoch))
	switch {
	case err != nil:
		return false, err
	case !s.Started: // the function that raised the epoch crashed before it started the execution
		return false, e.launch(ctx, r.ID, r.Epoch)
	case s.Running:
		return true, nil
	}
	return false, e.restartOrFail(ctx, r, s.Why, patient)
}

// restartOrFail starts a new execution for a run whose execution has failed. why is the
// error of the execution. After maxRestarts restarts without a finished step in between,
// it ends the run as failed.
func (e *Engine) restartOrFail(ctx context.Context, was run.Run, why string, patient bool) error {
	r, err := e.loadWhole(ctx, was)
	if err != nil || r.Epoch != was.Epoch || r.State != was.State {
		return err // the run has changed meanwhile
	}
	if n := r.Finished(); n > r.FinishedAtRestart {
		r.Restarts, r.FinishedAtRestart = 0, n
	}
	now := e.Now()
	if patient && r.Restarts > 0 && now.Before(r.RestartedAt.Add(firstRestartPause<<(r.Restarts-1))) {
		return nil
	}
	if r.Restarts++; r.Restarts <= maxRestarts {
		r.RestartedAt = now
		return e.startExecution(ctx, r)
	}
	why = fmt.Sprintf("engine error: %d executions in a row have ended without finishing a step, the last one by %s: see the logs of its functions, then retry the run", r.Restarts, why)
	// If this function crashes before the end, the run is restarted, and obeys the cancel.
	_, err = e.Store.RecordCommand(ctx, r.ID, run.GivenCommand{ID: "engine-error", Command: run.Cancel, Who: "stackwright", Why: why, At: now})
	if err != nil {
		return err
	}
	return e.endByForce(ctx, r, run.StateFailed, why)
}

// loadWhole returns a run with its steps, or without them if they cannot be read.
func (e *Engine) loadWhole(ctx context.Context, r run.Run) (run.Run, error) {
	all, err := e.Store.Load(ctx, r.ID)
	if fault.Is(err, fault.Broken) {
		return e.Store.Run(ctx, r.ID)
	}
	return all, err
}

// endByForce ends a run whose steps may still run. First it raises the epoch, so that the
// execution is fenced off, and lastly it wakes that execution. Another function may start an execution of the new epoch; if
// that execution writes before the run has ended, endByForce reads the run again.
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
				return fault.New(fault.Unavailable, "run %s: the start of %s may still be in progress: try again in a minute", r.ID, s.ID)
			}
		}
		now.Messages = limitMessages(slices.Concat(now.Messages, []string{why}, e.leftBehind(now)))
		if err = e.failRemaining(ctx, now); err == nil {
			now, err = e.end(ctx, now, s)
		}
		if !fault.Is(err, fault.Stale) {
			if err != nil {
				return err
			}
			e.Notifier.Notify(ctx, now)
			return e.wake(ctx, r)
		}
	}
}

// leftBehind names what the steps of r that are over have left behind: a function that ends a run by force may not delete it.
func (e *Engine) leftBehind(r run.Run) []string {
	var all []string
	for _, s := range r.Steps {
		if e.leaves(r, s) {
			all = append(all, fmt.Sprintf("%s has left a %s behind: delete %s of the stack, if it is still there", s.ID, e.Verbs.Of(s.Verb).Leaves, action.Token(r.ID, r.TokenKey, s.Number, s.Attempt)))
		}
	}
	return append(all, r.LeftBehind()...)
}

// failRemaining ends the steps of a run that is ended by force: running steps fail,
// pending ones are skipped.
func (e *Engine) failRemaining(ctx context.Context, r run.Run) error {
	var changes []Change
	var numbers []int
	for _, was := range r.Steps {
		if was.Over() {
			continue
		}
		numbers = append(numbers, was.Number)
		c := Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: was.Status, Attempt: was.Attempt, Step: was}
		c.Step.Status, c.Step.Ended, c.Step.Why = run.Skipped, e.Now(), "the run was ended by force"
		c.Step.Cause = run.Cause{Kind: run.CauseForced}
		if was.Status == run.Running {
			c.Step.Cause = run.Cause{}
			c.Step.Result.NothingStarted = !e.Verbs.Of(was.Verb).Mutates()
			c.Step.Status, c.Step.Why = run.Failed, "the run was ended by force while this step was running: the next run finds out how its operation ended"
			if leaves := e.Verbs.Of(was.Verb).Leaves; leaves != "" {
				c.Step.Why = fmt.Sprintf("the run was ended by force while this step was running: delete %s %s of the stack, if it is still there", leaves, action.Token(r.ID, r.TokenKey, was.Number, was.Attempt))
			}
		}
		changes = append(changes, c)
	}
	err := e.selects(ctx, r, numbers)
	if err == nil {
		err = e.Store.Move(ctx, changes...)
	}
	if err != nil {
		return fmt.Errorf("end the steps of run %s by force: %w", r.ID, err)
	}
	return nil
}
