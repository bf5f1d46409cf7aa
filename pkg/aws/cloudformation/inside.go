package cloudformation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A ReadClient is the part of the SDK's *cloudformation.Client that reads what is in stacks. It changes nothing.
type ReadClient interface {
	ListStackResources(context.Context, *sdk.ListStackResourcesInput, ...func(*sdk.Options)) (*sdk.ListStackResourcesOutput, error)
	DescribeStackEvents(context.Context, *sdk.DescribeStackEventsInput, ...func(*sdk.Options)) (*sdk.DescribeStackEventsOutput, error)
}

// A Reader reads what is in stacks in all targets. It is a hook.Stacks, a suspend.Stacks and a backup.Stacks. Clients returns the client of a target; the error is of kind Denied if there is none.
type Reader struct {
	Clients func(context.Context, project.Target) (ReadClient, error)
}

// Resources returns a page of the resources of the stack of a location, and the cursor of the next page; "" is the first page, and
// none follows the last one. The error is of kind Missing if the stack does not exist.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStackResources.html
func (r Reader) Resources(ctx context.Context, p plan.Location, after string) (page []plan.StackResource, next string, err error) {
	client, name, err := r.of(ctx, p)
	if err != nil {
		return nil, "", err
	}
	out, err := client.ListStackResources(ctx, &sdk.ListStackResourcesInput{StackName: &name, NextToken: optional(after)})
	if err != nil {
		return nil, "", requestFault("list the resources of stack "+p.Stack, err)
	}
	for _, s := range out.StackResourceSummaries {
		page = append(page, plan.StackResource{
			ID: aws.ToString(s.LogicalResourceId), PhysicalID: aws.ToString(s.PhysicalResourceId), Type: aws.ToString(s.ResourceType),
			Status: string(s.ResourceStatus), Reason: aws.ToString(s.ResourceStatusReason), Changed: aws.ToTime(s.LastUpdatedTimestamp),
		})
	}
	return page, aws.ToString(out.NextToken), nil
}

// PhysicalIDs implements hook.Stacks.
func (r Reader) PhysicalIDs(ctx context.Context, in project.Target, stack, kind string) ([]string, error) {
	found, err := r.ResourcesInStack(ctx, in, stack)
	return byType(found)[kind], err
}

// ResourcesByType implements suspend.Stacks.
func (r Reader) ResourcesByType(ctx context.Context, in project.Target, stack string) (map[string][]string, error) {
	found, err := r.ResourcesWithNested(ctx, in, stack)
	return byType(found), err
}

// byType returns the physical IDs of resources, sorted, by their types.
func byType(found []plan.StackResource) map[string][]string {
	all := make(map[string][]string)
	for _, one := range found {
		all[one.Type] = append(all[one.Type], one.PhysicalID)
	}
	for _, ids := range all {
		slices.Sort(ids)
	}
	return all
}

// ResourcesInStack implements backup.Stacks. A resource that was deleted, or that an update has left behind, is listed with that status.
func (r Reader) ResourcesInStack(ctx context.Context, in project.Target, stack string) ([]plan.StackResource, error) {
	var all []plan.StackResource
	for after := ""; ; {
		page, next, err := r.Resources(ctx, plan.Location{Stack: stack, Target: in}, after)
		switch {
		case fault.Is(err, fault.Missing):
			return nil, nil
		case err != nil:
			return nil, err
		}
		for _, one := range page {
			gone := one.Status == string(types.ResourceStatusDeleteComplete) || one.Status == string(types.ResourceStatusDeleteSkipped)
			if one.PhysicalID != "" && !gone {
				all = append(all, one)
			}
		}
		if after = next; after == "" {
			return all, nil
		}
	}
}

// ResourceEvents returns a page of what happened to the stack of a location and to its resources, newest first, as Resources does.
// CloudFormation keeps events for 90 days.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackEvents.html
func (r Reader) ResourceEvents(ctx context.Context, p plan.Location, after string) (page []plan.ResourceEvent, next string, err error) {
	client, name, err := r.of(ctx, p)
	if err != nil {
		return nil, "", err
	}
	out, err := client.DescribeStackEvents(ctx, &sdk.DescribeStackEventsInput{StackName: &name, NextToken: optional(after)})
	if err != nil {
		return nil, "", requestFault("read the events of stack "+p.Stack, err)
	}
	for _, e := range out.StackEvents {
		page = append(page, resourceEvent(e))
	}
	return page, aws.ToString(out.NextToken), nil
}

// resourceEvent is an event as it is reported.
func resourceEvent(e types.StackEvent) plan.ResourceEvent {
	return plan.ResourceEvent{
		Event: aws.ToString(e.EventId), Time: aws.ToTime(e.Timestamp), ID: aws.ToString(e.LogicalResourceId), PhysicalID: aws.ToString(e.PhysicalResourceId),
		Type: aws.ToString(e.ResourceType), Hook: aws.ToString(e.HookType),
		Status: cmp.Or(string(e.HookStatus), string(e.ResourceStatus)), Reason: cmp.Or(aws.ToString(e.HookStatusReason), aws.ToString(e.ResourceStatusReason)),
	}
}

// of returns the client of a location's target, and how to name its stack.
func (r Reader) of(ctx context.Context, p plan.Location) (ReadClient, string, error) {
	client, err := r.Clients(ctx, p.Target)
	if err != nil {
		return nil, "", fmt.Errorf("target %s: %w", p.Target.Name, err)
	}
	name, err := reference(p)
	return client, name, err
}

// optional is a parameter of a request that is left out if it is empty.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
