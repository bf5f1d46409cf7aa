package cloudformation

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// skew is how far our clock may be ahead of CloudFormation's. A request that is
// signed with a clock that is further off is refused.
const skew = 15 * time.Minute

// Heard reads the events of t's stack for the work under t's token, no further
// back than that can go. Of a stack that is not there nothing is heard.
func (c *Cloud) Events(ctx context.Context, t action.Task) (action.Operation, error) {
	client, err := c.client(ctx, t.Location().Target)
	if err != nil {
		return action.Operation{}, err
	}
	events, err := recent(ctx, client, t)
	if err != nil || len(events) == 0 {
		return action.Operation{}, err
	}
	first := events[0]
	w := action.Operation{Found: true, Receipt: plan.Receipt{StackID: aws.ToString(first.StackId), Operation: aws.ToString(first.OperationId)}}
	if w.Receipt.Operation == "" {
		w.Receipt.Operation = t.Receipt.Operation
	}
	end := slices.IndexFunc(events, func(e types.StackEvent) bool { return root(e) && !status(e).Busy() })
	if end < 0 {
		return w, nil
	}
	w.Over, w.Status = true, status(events[end])
	w.Superseded = slices.ContainsFunc(events[end:], func(e types.StackEvent) bool { return root(e) && status(e).Busy() })
	if !meets(t.Step.Verb, w.Status) {
		w.Stopped = stopped(events[:end+1], t.CancelToken())
		w.Why = why(events[:end+1], t.CancelToken())
	}
	return w, nil
}

// recent returns the events of t's stack from the first one of t's work on, in
// the order in which they happened; none if the token was never heard.
func recent(ctx context.Context, client Client, t action.Task) ([]types.StackEvent, error) {
	p := t.Location()
	name, err := reference(p)
	if err != nil {
		return nil, err
	}
	var all []types.StackEvent
	pages := sdk.NewDescribeStackEventsPaginator(client, &sdk.DescribeStackEventsInput{StackName: &name})
	for pages.HasMorePages() && !reached(all, t) {
		page, err := pages.NextPage(ctx)
		if err := understood("read the events of stack "+p.Stack, err); fault.Is(err, fault.Missing) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, page.StackEvents...)
	}
	slices.Reverse(all) // they come newest first
	first := slices.IndexFunc(all, func(e types.StackEvent) bool { return aws.ToString(e.ClientRequestToken) == t.Token() })
	if first < 0 {
		return nil, nil
	}
	return all[first:], nil
}

// reached reports whether events, newest first, go back to the beginning of t's
// work, or to before anybody could have asked for it.
func reached(events []types.StackEvent, t action.Task) bool {
	if len(events) > 0 && aws.ToTime(events[len(events)-1].Timestamp).Before(t.Claimed.Add(-skew)) {
		return true
	}
	return slices.ContainsFunc(events, func(e types.StackEvent) bool {
		return root(e) && aws.ToString(e.ClientRequestToken) == t.Token() && begins(t.Step.Verb, e)
	})
}

// begins reports whether a verb's work begins with the event. A stack says that
// it is in progress once more when all of its resources are configured.
func begins(v plan.Verb, e types.StackEvent) bool {
	if e.DetailedStatus != "" {
		return false
	}
	switch v {
	case plan.Create:
		return e.ResourceStatus == types.ResourceStatusCreateInProgress
	case plan.Update:
		return e.ResourceStatus == types.ResourceStatusUpdateInProgress
	case plan.Delete:
		return e.ResourceStatus == types.ResourceStatusDeleteInProgress
	case plan.Continue:
		return e.ResourceStatus == types.ResourceStatusUpdateRollbackInProgress
	}
	return false
}

// meets reports whether a verb wants the status that its work ended with.
func meets(v plan.Verb, s plan.Status) bool {
	switch v {
	case plan.Delete:
		return s.Gone()
	case plan.Continue:
		return s.Restored()
	}
	return s.Good()
}

// root reports whether an event is about the stack itself: not about a nested
// stack, nor about a hook that the stack is shown to.
func root(e types.StackEvent) bool {
	return aws.ToString(e.ResourceType) == "AWS::CloudFormation::Stack" && e.HookType == nil &&
		aws.ToString(e.PhysicalResourceId) == aws.ToString(e.StackId) &&
		aws.ToString(e.LogicalResourceId) == aws.ToString(e.StackName)
}

// status is the stack's, as one of its own events tells it.
func status(e types.StackEvent) plan.Status { return plan.Status(e.ResourceStatus) }

// why is the first real reason of a failure among the events of one work, in
// the order in which they happened; what the stack says of itself only where no
// resource says anything. That we have cancelled it, by that token, is none.
func why(events []types.StackEvent, cancels string) string {
	for _, e := range events {
		if reason := failure(e); reason != "" {
			return reason
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

// stopped is when the work was cancelled under a token; the zero time if it was
// not.
func stopped(events []types.StackEvent, token string) time.Time {
	for _, e := range events {
		if root(e) && aws.ToString(e.ClientRequestToken) == token {
			return aws.ToTime(e.Timestamp)
		}
	}
	return time.Time{}
}

// failure says what failed and why, if the event is the failure of a resource
// or of a hook.
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

// failed are the statuses of resources that something went wrong with.
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
