package engine

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// RunID names the run that is asked for by the given words, in 20 base32
// characters of their SHA-256. The same words make the same run.
func RunID(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:20]
}

// RollbackOf names the rollback that follows a run, if one does.
func RollbackOf(id string) string { return RunID(id, "rollback") }

// wishes are the operations that steer a run instead of making one.
func commands() map[string]run.Command {
	return map[string]run.Command{"pause": run.Pause, "continue": run.Continue, "cancel": run.Cancel}
}

// Start makes a run of what is asked and starts an execution that drives it, or
// steers the run that the request is about. Asked twice, it does so once.
func (e *Engine) Start(ctx context.Context, q run.Request) error {
	if steer := e.steering(q); steer != nil && len(q.Problems) == 0 {
		err := steer(ctx)
		if !fault.Is(err, fault.Refused, fault.Missing) {
			return err
		}
		q.Problems = fault.Messages(err)
	}
	messages := say(q.Problems)
	q.Problems = nil // its run's messages say them
	r, _, err := e.Store.CreateRun(ctx, run.Run{
		Request: q, Version: run.Version, Command: run.Continue, State: run.StatePending, Messages: messages, Requested: e.Now(),
	})
	switch {
	case err != nil:
		return fmt.Errorf("ask for run %s: %w", q.ID, err)
	case r.State != run.StatePending:
		return nil // it has been taken up
	case r.Epoch > 0:
		return e.launch(ctx, r.ID, r.Epoch) // whoever raised it may have died there
	}
	return e.startExecution(ctx, r)
}

// Steers reports whether an operation steers a run instead of making one.
func Steers(operation string) bool {
	_, wish := commands()[operation]
	return wish || operation == unlock
}

// Steer carries out a request that steers a run. Other than by Start, no run is
// made of one that is refused: whoever asked hears of it.
func (e *Engine) Steer(ctx context.Context, q run.Request) error {
	steer := e.steering(q)
	if steer == nil {
		return fault.New(fault.Invalid, "a %s steers no run: ask for pause, continue, cancel or unlock", q.Operation)
	}
	return steer(ctx)
}

// unlock is the operation that takes the lock from a run.
const unlock = "unlock"

// steering is what carries out a request that steers a run, or nil.
func (e *Engine) steering(q run.Request) func(context.Context) error {
	if q.Operation == unlock {
		return func(ctx context.Context) error { return e.Unlock(ctx, q) }
	}
	wish, ok := commands()[q.Operation]
	switch {
	case !ok:
		return nil
	case wish == run.Cancel && q.Rollback:
		wish = run.CancelAndRollBack
	}
	return func(ctx context.Context) error { return e.Command(ctx, q, wish) }
}

// Wish steers the run that q is about: it is obeyed at the next look, which is
// now.
func (e *Engine) Command(ctx context.Context, q run.Request, w run.Command) error {
	r, err := e.about(ctx, q)
	if err == nil {
		r, err = e.Store.RecordCommand(ctx, r.ID, run.GivenCommand{ID: q.ID, Command: w, Force: q.Force, Who: q.Who, Why: q.Reason, At: e.Now()})
	}
	if err == nil && !r.State.Over() {
		err = e.ensureRunning(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q.Operation, err)
	}
	return nil
}

// about returns the run that q is about, which is of q's own project.
func (e *Engine) about(ctx context.Context, q run.Request) (run.Run, error) {
	r, err := e.Store.Run(ctx, q.Of)
	if err == nil && r.Project != q.Project {
		err = fault.New(fault.Refused, "run %s is of %s, not of %s", r.ID, r.Project, q.Project)
	}
	return r, err
}

// repeat makes of a retry the run that it repeats. It is refused if that run is
// not over.
func (e *Engine) retry(ctx context.Context, r *run.Run) error {
	old, err := e.Store.Run(ctx, r.Of)
	if err != nil {
		return err
	}
	switch {
	case old.Project != r.Project:
		return fault.New(fault.Invalid, "run %s is of %s, not of %s", old.ID, old.Project, r.Project)
	case !old.State.Over():
		return fault.New(fault.Refused, "run %s is not over (%s): wait for its end, or cancel it", old.ID, old.State)
	case !e.operation(old).Retryable:
		return fault.New(fault.Refused, "run %s was a %s, of which nothing can be retried: ask for it anew", old.ID, old.Operation)
	}
	r.Operation, r.Source, r.Schedule = old.Operation, old.Source, old.Schedule
	r.Only = old.Only
	if r.MaxDeletions == nil {
		r.MaxDeletions = old.MaxDeletions
	}
	return nil
}

// newest refuses the retry of a run if something newer was deployed since. It is
// asked when the lock is held, so that nothing newer can come.
func (e *Engine) newest(ctx context.Context, r run.Run) error {
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
		return fault.New(fault.Refused, "run %s is not retried, for run %s has deployed something newer since: deploy that again, or force the retry", old.ID, l.LastAttempted.Run)
	}
	return nil
}
