package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A starter starts operations in CloudFormation and reads their events.
type starter interface {
	Cloud
	Action
}

// follow returns the state of t's operation, from its events. If there are none, follow
// starts the operation again, but only when the function that claimed the step can no
// longer do so. If CloudFormation refuses the second start, the events decide. If there
// is a receipt but there are never any events, the live stack decides.
func follow(ctx context.Context, a starter, t Task, live plan.Live) (Operation, error) {
	op, err := a.Events(ctx, t)
	switch {
	case err != nil || op.Found:
		return op, err
	case t.Receipt.Known() && (t.young() || live.Status.Busy()): // its events may be late
		return Operation{Found: true, Receipt: t.Receipt}, nil
	case t.Receipt.Known():
		return Operation{Found: true, Receipt: t.Receipt, Over: true, Status: live.Status, Why: live.Reason}, nil
	case t.young():
		return op, nil
	}
	receipt, err := a.Start(ctx, t) // not Begin: the stack may have changed since the first start
	switch {
	case err == nil:
		return Operation{Found: true, Receipt: receipt, Started: true}, nil
	case fault.Is(err, fault.Throttled, fault.Unavailable, fault.Busy):
		return op, nil // still no events: the next poll tries again
	}
	again, found := a.Events(ctx, t)
	if found != nil || again.Found {
		return again, found
	}
	if fault.Is(err, fault.Taken) && t.Now.Sub(t.Claimed) < 2*MaxStartTime { // perhaps this operation created it, and its events are late
		return op, nil
	}
	return Operation{Found: true, Over: true, Why: err.Error()}, nil
}
