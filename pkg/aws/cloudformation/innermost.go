package cloudformation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
)

// nestedDepth is how many stacks are read that are nested in one another.
const nestedDepth = 5

// An inner is the innermost resource that failed in a nested stack.
type inner struct {
	reason string // "Inner/Topic (AWS::SNS::Topic): …", after the names of the nested stacks; "" if it is not known
	name   string // as ContinueUpdateRollback names it: that of its stack and its own, with a dot
}

// reasons is why an operation has failed, from its events, oldest first. If its rollback has failed too, it is both
// reasons, and unrestored are the resources because of which the rollback has failed, as ContinueUpdateRollback names
// them. inside returns the innermost resource of a nested stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html (ResourcesToSkip)
func reasons(events []types.StackEvent, t action.Task, inside func(types.StackEvent) inner) (of string, unrestored []string) {
	first, token := events[0], t.CancelToken()
	i := slices.IndexFunc(events, func(e types.StackEvent) bool {
		return root(e) && e.ResourceStatus == types.ResourceStatusUpdateRollbackInProgress
	})
	if i < 0 || !status(events[len(events)-1]).Stuck() {
		return why(events, token, inside), nil
	}
	if i > 0 { // else it is a rollback that was continued
		of = why(events[:i+1], token, inside)
	}
	back := why(append([]types.StackEvent{first}, events[i+1:]...), token, inside)
	all := slices.DeleteFunc([]string{of, back}, func(s string) bool { return s == "" })
	for _, e := range events[i:] {
		if failure(e) != "" {
			unrestored = append(unrestored, cmp.Or(inside(e).name, aws.ToString(e.LogicalResourceId)))
		}
	}
	slices.Sort(unrestored)
	return strings.Join(all, "; and its rollback failed: "), slices.Compact(unrestored)
}

// innermost returns a function that reads the innermost resource that failed in a nested stack, from the events of the
// nested stack. It returns nothing if they cannot be read or have no reason: then the event itself counts.
func innermost(ctx context.Context, client Client, t action.Task) func(types.StackEvent) inner {
	var read func(e types.StackEvent, depth int) inner
	read = func(e types.StackEvent, depth int) inner {
		id := aws.ToString(e.PhysicalResourceId)
		nested := aws.ToString(e.ResourceType) == "AWS::CloudFormation::Stack" && strings.HasPrefix(id, "arn:")
		if !nested || id == aws.ToString(e.StackId) || depth == nestedDepth {
			return inner{}
		}
		out, err := client.DescribeStackEvents(ctx, &sdk.DescribeStackEventsInput{StackName: &id})
		if err != nil { // the reason of the nested stack itself is left
			return inner{}
		}
		for _, one := range slices.Backward(out.StackEvents) {
			reason := failure(one)
			if reason == "" || aws.ToTime(one.Timestamp).Before(t.Claimed.Add(-skew)) {
				continue
			}
			found := read(one, depth+1)
			if found.reason == "" {
				_, name, _ := strings.Cut(id, ":stack/")
				name, _, _ = strings.Cut(name, "/")
				found = inner{reason, name + "." + aws.ToString(one.LogicalResourceId)}
			}
			found.reason = aws.ToString(e.LogicalResourceId) + "/" + found.reason
			return found
		}
		return inner{}
	}
	return func(e types.StackEvent) inner { return read(e, 0) }
}
