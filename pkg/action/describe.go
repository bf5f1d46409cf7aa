package action

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// live returns the description of t's stack that was read for t, or reads one.
func (t Task) live(ctx context.Context, c Cloud) (plan.Live, error) {
	if t.Seen != nil {
		return *t.Seen, nil
	}
	return c.Live(ctx, t.Location())
}

// clockDifference is by how much the clocks of a function and of CloudFormation are
// assumed to differ at most. If they differ more, a poll reads the events too.
const clockDifference = 2 * time.Second

// succeededBy reports whether a description of the stack alone shows that t's operation
// has succeeded: its status is that of a success, no operation has started after it,
// and an update shows a time that is not before t's. Then the outputs are those of
// t's operation. A stack lists its newest operation first.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events-by-operation.html
func (t Task) succeededBy(live plan.Live) bool {
	switch {
	case t.Receipt.Operation == "" || len(live.Operations) == 0 || live.Operations[0] != t.Receipt.Operation:
		return false
	case !t.configures() && !t.updates() || live.StackID != t.Receipt.StackID:
		return false
	case live.StackID != t.Record.StackID: // t has created it
		return live.Status == "CREATE_COMPLETE"
	}
	updated := live.Status == "UPDATE_COMPLETE" || live.Status.Cleaning()
	return updated && live.LastUpdated.After(t.Record.LastUpdated) && live.LastUpdated.After(t.Claimed.Add(-clockDifference))
}

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
	return !t.updates() || !op.Status.Good() || !live.LastUpdated.Equal(t.Record.LastUpdated)
}

// waitForDescription returns the progress of an operation that is over by its events, while the
// description of its stack is older than they are.
func (t Task) waitForDescription(op Operation, live plan.Live) Progress {
	return Progress{
		Receipt: op.Receipt, Ended: op.Status,
		Why: fmt.Sprintf("CloudFormation has reported %s, but DescribeStacks still shows the stack as it was before (%s): Stackwright waits until the new outputs can be read", op.Newest, live.Status),
	}
}
