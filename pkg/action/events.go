package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A worker requests operations from CloudFormation and reads their events.
type worker interface {
	Cloud
	Action
}

// follow returns the state of t's operation. If there are no events of it, follow
// starts it again, but only when the function that claimed the step can no longer do
// so. If the second start is refused, the events decide. If there is a receipt but
// there are never any events, the live stack decides.
func follow(ctx context.Context, w worker, t Task, live plan.Live) (Operation, error) {
	work, err := w.Events(ctx, t)
	young := t.Now.Sub(t.Claimed) < MaxStartTime
	switch {
	case err != nil || work.Found:
		return work, err
	case t.Receipt.Known() && (young || live.Status.Busy()): // its events are late
		return Operation{Found: true, Receipt: t.Receipt}, nil
	case t.Receipt.Known():
		return Operation{Found: true, Receipt: t.Receipt, Over: true, Status: live.Status, Why: live.Reason}, nil
	case young:
		return work, nil
	}
	receipt, err := w.Start(ctx, t) // not only Begin: what forbids the start may be new
	switch {
	case err == nil:
		return Operation{Found: true, Receipt: receipt}, nil
	case fault.Is(err, fault.Throttled, fault.Unavailable, fault.Busy):
		return work, nil // still no events: the next poll tries again
	}
	again, found := w.Events(ctx, t)
	if found != nil || again.Found {
		return again, found
	}
	if fault.Is(err, fault.Taken) && t.Now.Sub(t.Claimed) < 2*MaxStartTime { // perhaps by this operation, whose events are late
		return work, nil
	}
	return Operation{Found: true, Over: true, Why: err.Error()}, nil
}
