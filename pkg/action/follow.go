package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A worker asks CloudFormation for work, and hears of it.
type worker interface {
	Cloud
	Action
}

// follow says how the work of t stands. Work that CloudFormation has not heard
// of is started again, but only when whoever claimed it can no longer be about
// to begin it; and whatever refuses the second start is decided by what is
// heard. Work that was noted and yet is never heard of is judged by what is live.
func follow(ctx context.Context, w worker, t Task, live plan.Live) (Work, error) {
	work, err := w.Heard(ctx, t)
	young := t.Now.Sub(t.Claimed) < Life
	switch {
	case err != nil || work.Heard:
		return work, err
	case t.Note.Known() && (young || live.Status.Busy()): // its events are late
		return Work{Heard: true, Note: t.Note}, nil
	case t.Note.Known():
		return Work{Heard: true, Note: t.Note, Over: true, Status: live.Status, Why: live.Reason}, nil
	case young:
		return work, nil
	}
	note, err := w.Start(ctx, t) // not only begun: what forbids it may have come up since
	switch {
	case err == nil:
		return Work{Heard: true, Note: note}, nil
	case fault.Is(err, fault.Throttled, fault.Unavailable, fault.Busy):
		return work, nil // still unheard: asked again at the next look
	}
	again, heard := w.Heard(ctx, t)
	if heard != nil || again.Heard {
		return again, heard
	}
	if fault.Is(err, fault.Taken) && t.Now.Sub(t.Claimed) < 2*Life { // perhaps by us, and its events are late
		return work, nil
	}
	return Work{Heard: true, Over: true, Why: err.Error()}, nil
}
