package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A worker asks CloudFormation for work, and learns of it.
type worker interface {
	Cloud
	Action
}

// follow says how the work of t stands. Work that CloudFormation has not found
// of is started again, but only when anyone who claimed it can no longer be about
// to begin it; and whatever refuses the second start is decided by what is
// found. Work that was recorded and yet is never found in the events is judged by what is live.
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
	receipt, err := w.Start(ctx, t) // not only started: what forbids it may have come up since
	switch {
	case err == nil:
		return Operation{Found: true, Receipt: receipt}, nil
	case fault.Is(err, fault.Throttled, fault.Unavailable, fault.Busy):
		return work, nil // still unheard: requested again at the next poll
	}
	again, found := w.Events(ctx, t)
	if found != nil || again.Found {
		return again, found
	}
	if fault.Is(err, fault.Taken) && t.Now.Sub(t.Claimed) < 2*MaxStartTime { // perhaps by us, and its events are late
		return work, nil
	}
	return Operation{Found: true, Over: true, Why: err.Error()}, nil
}
