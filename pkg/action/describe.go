package action

import (
	"context"
	"fmt"
	"slices"

	"github.com/stackwright/stackwright/pkg/plan"
)

// describe returns the stack that the operation of t has left, and whether its
// description is as new as its events. It returns the given description if that is,
// and reads another otherwise.
func describe(ctx context.Context, c Cloud, t Task, op Operation, live plan.Live) (plan.Live, bool, error) {
	if !t.Receipt.Unchanged && op.agrees(t, live) {
		return live, true, nil
	}
	if op.Receipt.StackID != "" {
		t.Receipt.StackID = op.Receipt.StackID
	}
	live, err := c.Live(ctx, t.Location())
	return live, op.agrees(t, live), err
}

// agrees reports whether a description of the stack is as new as its events.
// CloudFormation's events may report that an operation is over while DescribeStacks
// still shows the previous status and outputs. A description agrees if its
// status is in the class of the newest event's, if it knows that event's operation,
// and if it shows that a successful update has changed the stack.
func (op Operation) agrees(t Task, live plan.Live) bool {
	switch {
	case op.Newest == "": // there are no events
		return true
	case !live.Status.Alike(op.Newest):
		return false
	case !live.Status.Gone() && live.StackID != op.Receipt.StackID:
		return false
	case len(live.Operations) > 0 && op.NewestOperation != "" && !slices.Contains(live.Operations, op.NewestOperation):
		return false
	}
	return t.Request != UpdateStack || !op.Status.Good() || !live.LastUpdated.Equal(t.Record.LastUpdated)
}

// waitForDescription returns the progress of an operation that is over by its events, while the
// description of its stack is older than they are.
func (t Task) waitForDescription(op Operation, live plan.Live) Progress {
	return Progress{
		Receipt: op.Receipt, Ended: op.Status,
		Why: fmt.Sprintf("CloudFormation has reported %s, but DescribeStacks still shows the stack as it was before (%s): Stackwright waits until the new outputs can be read", op.Newest, live.Status),
	}
}
