package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// proposeSuspendVerb reads what a suspend would stop in a stack.
func proposeSuspendVerb(x Switches) Verb {
	return Verb{Name: plan.ProposeSuspend, Action: proposeSwitch{func(ctx context.Context, t Task) (plan.PlannedSuspension, error) {
		if t.Record.StackID == "" { // nobody knows the stack
			return plan.PlannedSuspension{}, nil
		}
		return x.Stoppable(ctx, t.Record.Target, t.Record.StackID)
	}}, Past: "read"}
}

// proposeResumeVerb reads what a resume would start in a stack.
func proposeResumeVerb(x Switches) Verb {
	return Verb{Name: plan.ProposeResume, Action: proposeSwitch{func(ctx context.Context, t Task) (plan.PlannedSuspension, error) {
		return x.Startable(ctx, t.Record.Target, t.stopped())
	}}, Past: "read"}
}

// proposeSwitch reads, and changes nothing.
type proposeSwitch struct {
	read func(context.Context, Task) (plan.PlannedSuspension, error)
}

// Start does nothing: a poll reads.
func (proposeSwitch) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll reads. What AWS refuses is a failure at once: a plan does not wait for permissions.
func (a proposeSwitch) Poll(ctx context.Context, t Task) (Progress, error) {
	p, err := a.read(ctx, t)
	switch {
	case fault.Is(err, fault.Throttled, fault.Unavailable):
		return Progress{}, err
	case err != nil:
		return Progress{Over: true, Err: err}, nil
	}
	return Progress{Over: true, Receipt: t.Receipt, Proposal: &plan.Proposal{Suspension: &p}}, nil
}
