package cloudformation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Live returns the live stack of a location, by the stack's ID if that is known and
// by its name otherwise. If no stack exists, it returns the zero Live.
func (c *Cloud) Live(ctx context.Context, p plan.Location) (plan.Live, error) {
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return plan.Live{}, err
	}
	s, err := describe(ctx, client, p)
	if fault.Is(err, fault.Missing) {
		return plan.Live{}, nil
	}
	if err != nil {
		return plan.Live{}, err
	}
	return liveOf(ctx, client, s)
}

// liveOf returns what the engine needs to know of a stack. A stack in review usually
// has no resources and is then deleted. Deleting it would also delete resources, if
// it has any, so liveOf lists the resources of stacks in review.
func liveOf(ctx context.Context, client Client, s types.Stack) (plan.Live, error) {
	l := live(s)
	if s.StackStatus != types.StackStatusReviewInProgress {
		return l, nil
	}
	out, err := client.ListStackResources(ctx, &sdk.ListStackResourcesInput{StackName: s.StackId})
	err = requestFault("list the resources of stack "+aws.ToString(s.StackName), err)
	switch {
	case fault.Is(err, fault.Missing):
		return plan.Live{}, nil
	case err != nil:
		return plan.Live{}, err
	}
	l.HasResources = len(out.StackResourceSummaries) > 0
	return l, nil
}

// describe returns the stack of a location, or an error of kind Missing.
func describe(ctx context.Context, client Client, p plan.Location) (types.Stack, error) {
	do := "describe stack " + p.Stack
	name, err := reference(p)
	if err != nil {
		return types.Stack{}, err
	}
	out, err := client.DescribeStacks(ctx, &sdk.DescribeStacksInput{StackName: &name})
	if err != nil {
		return types.Stack{}, requestFault(do, err)
	}
	if len(out.Stacks) == 0 {
		return types.Stack{}, fault.New(fault.Missing, "%s: the stack does not exist", do)
	}
	return out.Stacks[0], nil
}

// DeployedTemplate returns the template of a stack as its user wrote it. The error is of kind
// Missing if the stack does not exist.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_GetTemplate.html
func (c *Cloud) DeployedTemplate(ctx context.Context, p plan.Location) ([]byte, error) {
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return nil, err
	}
	name, err := reference(p)
	if err != nil {
		return nil, err
	}
	out, err := client.GetTemplate(ctx, &sdk.GetTemplateInput{StackName: &name, TemplateStage: types.TemplateStageOriginal})
	if err != nil {
		return nil, requestFault("read the template of stack "+p.Stack, err)
	}
	return []byte(aws.ToString(out.TemplateBody)), nil
}

// TemplateDigest returns the digest of the template of a stack, as its user wrote it: the recorded one if CloudFormation
// may have returned that template. Its errors are those of DeployedTemplate.
func (c *Cloud) TemplateDigest(ctx context.Context, p plan.Location, recorded string) (string, error) {
	body, err := c.DeployedTemplate(ctx, p)
	if err != nil {
		return "", err
	}
	if recorded != "" && loss.Possible(string(body)) {
		stored, err := c.templates.Template(ctx, recorded)
		switch {
		case err == nil && loss.Same(string(body), string(stored)):
			return recorded, nil
		case err != nil && !fault.Is(err, fault.Missing):
			return "", err
		}
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:]), nil
}

// reference returns the stack ID or name of a location. A request without one would
// be about all stacks.
func reference(p plan.Location) (string, error) {
	switch {
	case p.StackID != "":
		return p.StackID, nil
	case p.Stack != "":
		return p.Stack, nil
	}
	return "", fault.New(fault.Broken, "node %s has neither a stack ID nor a stack name", p.Node)
}

// triggers returns the rollback triggers of a stack.
func triggers(c *types.RollbackConfiguration) project.RollbackTriggers {
	all := project.RollbackTriggers{Minutes: int(aws.ToInt32(c.MonitoringTimeInMinutes))}
	for _, t := range c.RollbackTriggers {
		to := &all.Alarms
		if aws.ToString(t.Type) == compositeAlarm {
			to = &all.CompositeAlarms
		}
		*to = append(*to, aws.ToString(t.Arn))
	}
	slices.Sort(all.Alarms)
	slices.Sort(all.CompositeAlarms)
	return all
}

// unrolled reports whether the last operation on a stack was not to be rolled back.
func unrolled(s types.Stack) bool {
	return aws.ToBool(s.DisableRollback) || s.DeploymentConfig != nil && aws.ToBool(s.DeploymentConfig.DisableRollback)
}

// live returns what a description says of a stack.
func live(s types.Stack) plan.Live {
	updated := s.LastUpdatedTime
	if updated == nil {
		updated = s.CreationTime
	}
	l := plan.Live{
		StackID: aws.ToString(s.StackId), Status: plan.Status(s.StackStatus), Reason: aws.ToString(s.StackStatusReason),
		LastUpdated: aws.ToTime(updated), Protected: aws.ToBool(s.EnableTerminationProtection),
		HasResources: s.StackStatus == types.StackStatusCreateFailed && unrolled(s),
	}
	l.Project, l.Parent = tagged(s), aws.ToString(s.ParentId)
	if s.DeploymentConfig != nil && s.DeploymentConfig.Mode == types.DeploymentConfigModeExpress {
		l.Deployment = project.Express
	}
	if len(s.Outputs) > 0 {
		l.Outputs = make(map[string]string, len(s.Outputs))
	}
	for _, o := range s.Outputs {
		l.Outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
		if o.ExportName != nil {
			if l.Exports == nil {
				l.Exports = make(map[string]string)
			}
			l.Exports[aws.ToString(o.OutputKey)] = *o.ExportName
		}
	}
	for _, p := range s.Parameters {
		if l.Parameters == nil {
			l.Parameters = make(map[string]string, len(s.Parameters))
		}
		l.Parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	for _, t := range s.Tags {
		if key := aws.ToString(t.Key); key != project.ProjectTag && key != project.StackTag {
			if l.Tags == nil {
				l.Tags = make(map[string]string, len(s.Tags))
			}
			l.Tags[key] = aws.ToString(t.Value)
		}
	}
	if len(s.NotificationARNs) > 0 {
		l.Notifications = slices.Sorted(slices.Values(s.NotificationARNs))
	}
	if c := s.RollbackConfiguration; c != nil {
		l.Triggers = triggers(c)
	}
	for _, o := range s.LastOperations {
		l.Operations = append(l.Operations, aws.ToString(o.OperationId))
	}
	return l
}
