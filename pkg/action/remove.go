package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// remove deletes a stack.
type remove struct{ Cloud }

// Start asks for the deletion once those that used the stack have let go of it.
// A stack that is gone needs none.
func (a remove) Start(ctx context.Context, t Task) (plan.Note, error) {
	for _, user := range t.Users {
		live, err := a.Live(ctx, user)
		if err != nil {
			return plan.Note{}, err
		}
		if live.Status.Busy() || live.Status.Cleaning() {
			return plan.Note{}, fault.New(fault.Busy, "%s may still use it: it is %s", user.Node, live.Status)
		}
	}
	note, err := a.Begin(ctx, t)
	if fault.Is(err, fault.Missing) {
		return plan.Note{StackID: t.Record.StackID, Unchanged: true}, nil
	}
	return note, err
}

// Poll reports the deletion over when the stack is gone, or when it has failed.
func (a remove) Poll(ctx context.Context, t Task) (Progress, error) {
	live, err := a.Live(ctx, t.Place())
	switch {
	case err != nil:
		return Progress{}, err
	case live.Status.Gone():
		return Progress{Over: true, Forget: true}, nil
	case t.Note.Known() && live.Status.Busy() && !t.Told:
		return Progress{}, nil
	}
	work, err := follow(ctx, a.Cloud, t, live)
	switch {
	case err != nil || !work.Over:
		return Progress{Note: work.Note}, err
	case work.Status.Gone() && work.Status != "":
		return Progress{Over: true, Forget: true}, nil
	}
	r := recorded(t, live)
	r.Touched = t.Record.Touched // what others did to it before is still theirs
	if !live.Status.Good() {
		r.Digest = ""
	}
	return Progress{Over: true, Note: work.Note, Err: failure(work), Record: &r}, nil
}
