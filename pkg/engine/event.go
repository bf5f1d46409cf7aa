package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A StackEvent is CloudFormation's event about a change of a stack's status.
type StackEvent struct {
	Token  string // the client request token of the operation
	Status plan.Status
}

// StackEvent marks the step that an event is about. An end makes the step due, and only
// then StackEvent reads the run. So either the poll that works sees the mark before it
// ends, or the waiting execution is woken. A start wakes nothing. A lost event costs only
// time.
func (e *Engine) StackEvent(ctx context.Context, event StackEvent) error {
	id, number, attempt, ours := action.ParseToken(event.Token)
	starts := slices.Contains(plan.Starts(), event.Status)
	if !ours || event.Status.Busy() && !starts {
		return nil
	}
	if _, err := e.Store.MarkEvent(ctx, id, number, attempt, event.Status); err != nil {
		return fmt.Errorf("mark %s: %w", event.Token, err)
	}
	if starts {
		return nil
	}
	r, err := e.Store.Run(ctx, id)
	if fault.Is(err, fault.Missing) {
		return nil // the run is of another installation in the same account
	}
	if err != nil {
		return fmt.Errorf("wake run %s: %w", id, err)
	}
	return e.wake(ctx, r)
}

// wake answers the token of r's execution, if the execution waits and no poll works for
// it. A poll that works reads commands, answers and marks again before it ends. If it
// crashed, Step Functions calls another one; if that call is late, the execution is woken
// again from the time on at which no function can still be working.
func (e *Engine) wake(ctx context.Context, r run.Run) error {
	if r.Token == "" || r.State.Over() || e.Now().Before(r.PolledUntil) {
		return nil
	}
	wait := wakeWait
	if now := e.Now(); r.Due.After(now) { // probably the next poll does not need another wait
		wait = r.Due.Sub(now)
	}
	if err := e.Machine.Answer(ctx, r.Token, loopState(r, run.StatePoll, wait)); err != nil {
		return fmt.Errorf("wake run %s: %w", r.ID, err)
	}
	return nil
}
