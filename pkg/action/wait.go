package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// waitVerb waits for an operation that another started on the stack, or for the cleanup after
// an update.
func waitVerb(c Cloud) Verb {
	return Verb{Name: plan.Wait, Action: wait{c}, PollReads: 1, Share: 0.5, Past: "waited for"}
}

// wait waits until no operation is in progress on a stack.
type wait struct{ Cloud }

// Start does nothing: the operation is in progress already.
func (wait) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll reports that the wait is over when the stack is no longer busy or cleaning up, whatever
// its status. The next step of the node decides what to do about that status.
func (a wait) Poll(ctx context.Context, t Task) (Progress, error) {
	live, err := t.live(ctx, a)
	switch {
	case err != nil || live.Status.Busy() || live.Status.Cleaning():
		return Progress{}, err
	case !live.Status.Known(): // an operation may be in progress
		return Progress{Over: true, Err: fault.New(fault.Refused, "stack %s: %w", t.Location().Stack, live.Unrecoverable())}, nil
	}
	return Progress{Over: true, Why: foundMessage(live)}, nil
}

// foundMessage returns the message of a step that did nothing to its stack.
func foundMessage(l plan.Live) string { return "found it " + l.Status.String() }
