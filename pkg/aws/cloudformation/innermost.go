package cloudformation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
)

// nestedDepth is how many stacks are read that are nested in one another.
const nestedDepth = 5

// reasons is why an operation has failed, from its events, oldest first. If its rollback has failed too, it is both
// reasons, and what a person can do. inside returns the reason of the innermost resource of a nested stack.
func reasons(events []types.StackEvent, t action.Task, inside func(types.StackEvent) string) string {
	first, token := events[0], t.CancelToken()
	i := slices.IndexFunc(events, func(e types.StackEvent) bool {
		return root(e) && e.ResourceStatus == types.ResourceStatusUpdateRollbackInProgress
	})
	if i < 0 || !status(events[len(events)-1]).Stuck() {
		return why(events, token, inside)
	}
	of := why(events[:i+1], token, inside)
	if i == 0 { // a rollback that was continued
		of = ""
	}
	back := why(append([]types.StackEvent{first}, events[i+1:]...), token, inside)
	all := slices.DeleteFunc([]string{of, back}, func(s string) bool { return s == "" })
	var skip []string
	for _, e := range events[i:] {
		if name := aws.ToString(e.LogicalResourceId); failure(e) != "" && !slices.Contains(skip, name) {
			skip = append(skip, name)
		}
	}
	return strings.Join(all, "; and its rollback failed: ") + way(t, skip)
}

// way says what a person can do about a rollback that fails.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
func way(t action.Task, skip []string) string {
	if len(skip) == 0 {
		return ""
	}
	at := t.Location()
	region := ""
	if at.Target.Region != "" {
		region = " --region " + at.Target.Region
	}
	return fmt.Sprintf(": repair what %s needs, and retry; or let the rollback leave it as it is, and make it right afterwards: "+
		"aws cloudformation continue-update-rollback --stack-name %s%s --resources-to-skip %s",
		strings.Join(skip, ", "), at.Stack, region, strings.Join(skip, " "))
}

// innermost returns a function that reads the reason of the innermost resource that failed in a nested stack, as
// "Topic (AWS::SNS::Topic): …" after the names of the nested stacks, from the events of the nested stack. It returns
// "" if they cannot be read or have no reason: then the reason of the event itself counts.
func innermost(ctx context.Context, client Client, t action.Task) func(types.StackEvent) string {
	var read func(e types.StackEvent, depth int) string
	read = func(e types.StackEvent, depth int) string {
		id := aws.ToString(e.PhysicalResourceId)
		nested := aws.ToString(e.ResourceType) == "AWS::CloudFormation::Stack" && strings.HasPrefix(id, "arn:")
		if !nested || id == aws.ToString(e.StackId) || depth == nestedDepth {
			return ""
		}
		out, err := client.DescribeStackEvents(ctx, &sdk.DescribeStackEventsInput{StackName: &id})
		if err != nil { // the reason of the nested stack itself is left
			return ""
		}
		for _, inner := range slices.Backward(out.StackEvents) {
			reason := failure(inner)
			if reason == "" || aws.ToTime(inner.Timestamp).Before(t.Claimed.Add(-skew)) {
				continue
			}
			if deeper := read(inner, depth+1); deeper != "" {
				reason = deeper
			}
			return aws.ToString(e.LogicalResourceId) + "/" + reason
		}
		return ""
	}
	return func(e types.StackEvent) string { return read(e, 0) }
}
