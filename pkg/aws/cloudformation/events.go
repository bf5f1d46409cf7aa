package cloudformation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// skew is how far our clock may be ahead of CloudFormation's. AWS refuses a request
// that is signed by a clock with a larger difference.
const skew = 15 * time.Minute

// Events finds the operation of a task among the events of its stack, by its token.
// It reads back no further than the operation can have started. A stack that does
// not exist has no events.
func (c *Cloud) Events(ctx context.Context, t action.Task) (action.Operation, error) {
	client, err := c.client(ctx, t.Location().Target)
	if err != nil {
		return action.Operation{}, err
	}
	events, before, err := recent(ctx, client, t)
	if err != nil || len(events) == 0 {
		return action.Operation{}, err
	}
	first := events[0]
	op := action.Operation{Found: true, Before: before, Receipt: plan.Receipt{StackID: aws.ToString(first.StackId), Operation: aws.ToString(first.OperationId)}}
	if op.Receipt.Operation == "" {
		op.Receipt.Operation = t.Receipt.Operation
	}
	for _, e := range events {
		if root(e) {
			op.Newest, op.NewestOperation = status(e), aws.ToString(e.OperationId)
		}
	}
	end := slices.IndexFunc(events, func(e types.StackEvent) bool { return root(e) && !status(e).Busy() })
	if end < 0 {
		return op, nil
	}
	op.Over, op.Status = true, status(events[end])
	if t.Request == action.DeleteStack {
		op.Left = left(events[:end+1])
	}
	op.Superseded = slices.ContainsFunc(events[end:], func(e types.StackEvent) bool { return root(e) && status(e).Busy() })
	if !meets(t.Request, op.Status) {
		op.Stopped = stopped(events[:end+1], t.CancelToken())
		op.Why, op.Unrestored = reasons(events[:end+1], t, innermost(ctx, client, t))
	}
	return op, nil
}

// recent returns the events of the task's stack, oldest first, from the first event
// of its operation on; none if no event has its token. before is the token of the
// operation before it, if an event of that operation was read.
func recent(ctx context.Context, client Client, t action.Task) (events []types.StackEvent, before string, err error) {
	p := t.Location()
	name, err := reference(p)
	if err != nil {
		return nil, "", err
	}
	var all []types.StackEvent
	pages := sdk.NewDescribeStackEventsPaginator(client, &sdk.DescribeStackEventsInput{StackName: &name})
	for pages.HasMorePages() && !reached(all, t) {
		page, err := pages.NextPage(ctx)
		if err := requestFault("read the events of stack "+p.Stack, err); fault.Is(err, fault.Missing) {
			return nil, "", nil
		} else if err != nil {
			return nil, "", err
		}
		all = append(all, page.StackEvents...)
	}
	slices.Reverse(all) // CloudFormation lists the newest first
	first := slices.IndexFunc(all, func(e types.StackEvent) bool { return aws.ToString(e.ClientRequestToken) == t.Token() })
	if first < 0 {
		return nil, "", nil
	}
	for _, e := range all[:first] {
		if root(e) {
			before = aws.ToString(e.ClientRequestToken)
		}
	}
	return all[first:], before, nil
}

// reached reports whether events, newest first, go back to the event before the start of
// the task's operation, or to a time before it can have been requested.
func reached(events []types.StackEvent, t action.Task) bool {
	if len(events) > 0 && aws.ToTime(events[len(events)-1].Timestamp).Before(t.Claimed.Add(-skew)) {
		return true
	}
	start := slices.IndexFunc(events, func(e types.StackEvent) bool {
		return root(e) && aws.ToString(e.ClientRequestToken) == t.Token() && starts(t.Request, e)
	})
	return start >= 0 && start < len(events)-1
}

// starts reports whether an event is the start of the operation of a request. A stack has a
// second IN_PROGRESS event, with a detailed status, when all of its resources are
// configured.
func starts(r action.Request, e types.StackEvent) bool {
	if e.DetailedStatus != "" {
		return false
	}
	switch r {
	case action.CreateStack:
		return e.ResourceStatus == types.ResourceStatusCreateInProgress
	case action.UpdateStack, action.ExecuteChangeSet, action.ExecuteDriftChangeSet:
		return e.ResourceStatus == types.ResourceStatusUpdateInProgress
	case action.ImportResources:
		return e.ResourceStatus == types.ResourceStatusImportInProgress
	case action.DeleteStack:
		return e.ResourceStatus == types.ResourceStatusDeleteInProgress
	case action.ContinueUpdateRollback:
		return e.ResourceStatus == types.ResourceStatusUpdateRollbackInProgress
	}
	return false
}

// meets reports whether the operation of a request has succeeded if it ended with
// status s.
func meets(r action.Request, s plan.Status) bool {
	switch r {
	case action.DeleteStack:
		return s.Gone()
	case action.ContinueUpdateRollback:
		return s.Restored()
	}
	return s.Good()
}

// root reports whether an event is about the stack itself, and not about a nested
// stack or a hook.
func root(e types.StackEvent) bool {
	return aws.ToString(e.ResourceType) == "AWS::CloudFormation::Stack" && e.HookType == nil &&
		aws.ToString(e.PhysicalResourceId) == aws.ToString(e.StackId) &&
		aws.ToString(e.LogicalResourceId) == aws.ToString(e.StackName)
}

// status returns the stack's status in one of its own events.
func status(e types.StackEvent) plan.Status { return plan.Status(e.ResourceStatus) }

// why returns the first reason of a failure among the events of an operation,
// oldest first. The stack's own events count only if no resource gives a reason. Our
// own cancellation, under that token, is no reason.
func why(events []types.StackEvent, cancels string, inside func(types.StackEvent) inner) string {
	for _, e := range events {
		if reason := failure(e); reason != "" {
			return cmp.Or(inside(e).reason, reason)
		}
	}
	for _, e := range events[1:] {
		byUs := aws.ToString(e.ClientRequestToken) == cancels && aws.ToString(e.ResourceStatusReason) == userInitiated
		if reason := aws.ToString(e.ResourceStatusReason); root(e) && reason != "" && !byUs {
			return summary(e.ResourceStatus, reason)
		}
	}
	return ""
}

// left returns the resources that a deletion of their stack has not deleted, from its events, oldest first: the last event of a resource says
// how its deletion ended.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-resource-data-resources.html
func left(events []types.StackEvent) []action.Left {
	by := make(map[string]action.Left)
	for _, e := range events {
		name := aws.ToString(e.LogicalResourceId)
		switch {
		case root(e) || e.HookType != nil || aws.ToString(e.StackId) != aws.ToString(events[0].StackId):
		case e.ResourceStatus == types.ResourceStatusDeleteFailed, e.ResourceStatus == types.ResourceStatusDeleteSkipped:
			by[name] = action.Left{ID: name, Type: aws.ToString(e.ResourceType), PhysicalID: aws.ToString(e.PhysicalResourceId), Retained: e.ResourceStatus == types.ResourceStatusDeleteSkipped}
		default:
			delete(by, name)
		}
	}
	return slices.SortedFunc(maps.Values(by), func(a, b action.Left) int { return strings.Compare(a.ID, b.ID) })
}

// stopped returns when the operation was cancelled under a token, or the zero time.
func stopped(events []types.StackEvent, token string) time.Time {
	for _, e := range events {
		if root(e) && aws.ToString(e.ClientRequestToken) == token {
			return aws.ToTime(e.Timestamp)
		}
	}
	return time.Time{}
}

// failure returns what failed and why, if the event is the failure of a resource or
// a hook, and "" otherwise.
func failure(e types.StackEvent) string {
	if root(e) {
		return ""
	}
	reason := ""
	switch {
	case e.HookStatus == types.HookStatusHookCompleteFailed && e.HookFailureMode != types.HookFailureModeWarn:
		reason = aws.ToString(e.HookStatusReason)
		if reason != "" {
			reason = "hook " + aws.ToString(e.HookType) + ": " + reason
		}
	case failed[e.ResourceStatus]:
		reason = aws.ToString(e.ResourceStatusReason)
	}
	if !genuine(reason) {
		return ""
	}
	return aws.ToString(e.LogicalResourceId) + " (" + aws.ToString(e.ResourceType) + "): " + reason
}

// failed are the statuses of failed resources.
var failed = map[types.ResourceStatus]bool{
	types.ResourceStatusCreateFailed:         true,
	types.ResourceStatusDeleteFailed:         true,
	types.ResourceStatusUpdateFailed:         true,
	types.ResourceStatusImportFailed:         true,
	types.ResourceStatusImportRollbackFailed: true,
	types.ResourceStatusExportFailed:         true,
	types.ResourceStatusExportRollbackFailed: true,
	types.ResourceStatusUpdateRollbackFailed: true,
	types.ResourceStatusRollbackFailed:       true,
}
