package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// settle waits until nothing happens to a stack.
type wait struct{ Cloud }

// Start has nothing to ask for: somebody else did.
func (wait) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll reports it over when the stack is no longer busy, with whatever status.
// What comes next finds out by itself what to make of that.
func (a wait) Poll(ctx context.Context, t Task) (Progress, error) {
	live, err := a.Live(ctx, t.Location())
	switch {
	case err != nil || live.Status.Busy():
		return Progress{}, err
	case !live.Status.Known(): // it may be busy in a way that we do not know
		return Progress{Over: true, Err: fault.New(fault.Refused, "stack %s: %w", t.Location().Stack, live.Unrecoverable())}, nil
	}
	return Progress{Over: true, Why: found(live)}, nil
}

// found tells what was come upon where there was nothing to do.
func found(l plan.Live) string { return "found it " + l.Status.String() }

// read takes what is live into the record.
type read struct{ Cloud }

// Start has nothing to ask for.
func (read) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll reads the stack once nothing happens to it. What somebody else has
// touched is no longer known to be what we deployed.
func (a read) Poll(ctx context.Context, t Task) (Progress, error) {
	live, err := a.Live(ctx, t.Location())
	switch {
	case err != nil || live.Status.Busy():
		return Progress{}, err
	case live.Status.Gone() && t.Record.Intent:
		return Progress{Over: true, Why: unknown}, nil
	case live.Status.Gone(), t.Record.StackID != "" && t.Record.StackID != live.StackID:
		return Progress{Over: true, Forget: true, Why: "it is gone"}, nil
	case t.Record.StackID == "":
		return Progress{Over: true, Why: unknown}, nil
	}
	r := t.Record
	r.StackID, r.Outputs, r.Run = live.StackID, live.Outputs, t.Run
	why := "as recorded"
	if !r.Current(live) {
		r.Digest, why = "", "touched by somebody else, or never whole: the next deploy updates it"
	}
	r.LastUpdated = live.LastUpdated
	return Progress{Over: true, Why: why, Record: &r}, nil
}

// unknown is why a record is left alone.
const unknown = "nobody knows yet whether it is ours: the next deploy finds out"

// forget drops the record of a stack that is gone.
type forget struct{}

// Start has nothing to ask for.
func (forget) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll drops the record.
func (forget) Poll(context.Context, Task) (Progress, error) {
	return Progress{Over: true, Forget: true, Why: "it was gone already"}, nil
}

// gate is passed as soon as it is reached.
type barrier struct{}

// Start has nothing to ask for.
func (barrier) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll lets through.
func (barrier) Poll(context.Context, Task) (Progress, error) { return Progress{Over: true}, nil }
