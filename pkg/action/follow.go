package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// follow says how the work of t stands. Work that CloudFormation has not heard
// of is begun again, but only when whoever claimed it can no longer be about to
// begin it; and whatever refuses the second begin is decided by what is heard.
// Work that was noted and yet is never heard of is judged by what is live.
func follow(ctx context.Context, c Cloud, t Task, live plan.Live) (Work, error) {
	work, err := c.Heard(ctx, t)
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
	note, err := c.Begin(ctx, t)
	switch {
	case err == nil:
		return Work{Heard: true, Note: note}, nil
	case fault.Is(err, fault.Throttled, fault.Unavailable, fault.Busy):
		return work, nil // still unheard: asked again at the next look
	case fault.Is(err, fault.Unchanged):
		return Work{Heard: true, Note: plan.Note{Unchanged: true}}, nil
	}
	again, heard := c.Heard(ctx, t)
	if heard != nil || again.Heard {
		return again, heard
	}
	return Work{Heard: true, Over: true, Why: err.Error()}, nil
}
