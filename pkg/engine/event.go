package engine

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A StackEvent is a change of a stack's status, as CloudFormation's event tells it.
type StackEvent struct {
	Token  string // the client request token of the operation
	Status plan.Status
}

// StackEvent marks the step that an event is about as due, and only then reads the
// waiting token, so that either the waiting execution is woken or its next poll sees
// the mark. A lost event costs only time.
func (e *Engine) StackEvent(ctx context.Context, h StackEvent) error {
	id, number, attempt, ours := action.ParseToken(h.Token)
	if !ours || h.Status.Busy() {
		return nil
	}
	if _, err := e.Store.MarkEvent(ctx, id, number, attempt, h.Status); err != nil {
		return fmt.Errorf("mark %s: %w", h.Token, err)
	}
	r, err := e.Store.Run(ctx, id)
	if fault.Is(err, fault.Missing) {
		return nil // it belongs to another installation in the same account
	}
	if err != nil {
		return fmt.Errorf("wake run %s: %w", id, err)
	}
	return e.wake(ctx, r)
}

// wake answers the token with which r's execution waits, if it does.
func (e *Engine) wake(ctx context.Context, r run.Run) error {
	if r.Token == "" || r.State.Over() {
		return nil
	}
	if err := e.Machine.Answer(ctx, r.Token, loopState(r, run.StatePoll, wakeWait)); err != nil {
		return fmt.Errorf("wake run %s: %w", r.ID, err)
	}
	return nil
}
