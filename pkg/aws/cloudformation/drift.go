package cloudformation

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/plan"
)

// detectDrift starts a drift detection of the task's stack. CloudFormation knows no token for it: a second one is refused while the
// first is in progress, and then finds the same.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DetectStackDrift.html
func detectDrift(ctx context.Context, client Client, t action.Task) (plan.Receipt, error) {
	p := t.Location()
	name, err := reference(p)
	if err != nil {
		return plan.Receipt{}, err
	}
	out, err := client.DetectStackDrift(ctx, &sdk.DetectStackDriftInput{StackName: &name}, once)
	if err != nil {
		return plan.Receipt{}, requestFault("detect the drift of stack "+p.Stack, err)
	}
	return plan.Receipt{StackID: name, Operation: aws.ToString(out.StackDriftDetectionId)}, nil
}

// Detection implements action.Cloud.
func (c *Cloud) Detection(ctx context.Context, t action.Task) (d plan.Detection, ready bool, err error) {
	client, err := c.client(ctx, t.Location().Target)
	if err != nil {
		return d, false, err
	}
	a, err := detectionsOf(client, t)
	if err != nil {
		return d, false, err
	}
	over, err := a.advance(ctx)
	if err != nil {
		return d, false, err
	}
	if !over {
		d.Operation, err = a.operation()
		return d, false, err
	}
	for _, one := range a.all {
		if err := a.read(ctx, one, &d); err != nil {
			return d, false, err
		}
	}
	d.Sort()
	return d, true, nil
}

// differing adds to d what differs in the resources of a stack, or could not be compared. Their logical IDs begin with a prefix.
func (a *detections) differing(ctx context.Context, stack, prefix string, d *plan.Detection) error {
	in := &sdk.DescribeStackResourceDriftsInput{StackName: &stack, StackResourceDriftStatusFilters: []types.StackResourceDriftStatus{
		types.StackResourceDriftStatusModified, types.StackResourceDriftStatusDeleted, types.StackResourceDriftStatusUnknown,
	}}
	for {
		page, err := a.client.DescribeStackResourceDrifts(ctx, in)
		if err != nil {
			return requestFault(a.do, err)
		}
		for _, r := range page.StackResourceDrifts {
			for _, f := range findings(r) {
				f.Resource = prefix + f.Resource
				d.Findings = append(d.Findings, f)
			}
		}
		if in.NextToken = page.NextToken; in.NextToken == nil {
			return nil
		}
	}
}

// findings are what differs in one resource.
func findings(r types.StackResourceDrift) []plan.Finding {
	f := plan.Finding{Resource: aws.ToString(r.LogicalResourceId), Type: aws.ToString(r.ResourceType)}
	switch r.StackResourceDriftStatus {
	case types.StackResourceDriftStatusModified:
		f.Kind = plan.DriftModified
	case types.StackResourceDriftStatusDeleted:
		f.Kind = plan.DriftDeleted
		return []plan.Finding{f}
	default:
		f.Kind, f.Why = plan.DriftUnchecked, aws.ToString(r.DriftStatusReason)
		return []plan.Finding{f}
	}
	var all []plan.Finding
	for _, d := range r.PropertyDifferences {
		at := segments(aws.ToString(d.PropertyPath))
		f.Property, f.Expected, f.Actual = difference.Path(at), present(d.ExpectedValue), present(d.ActualValue)
		if f.Secret = hidden(f) || difference.SensitiveAt(aws.ToString(r.ExpectedProperties), at) || difference.SensitiveAt(aws.ToString(r.ActualProperties), at); f.Secret {
			f.Expected, f.Actual = "", ""
		}
		all = append(all, f)
	}
	if len(all) == 0 { // CloudFormation does not say which property
		all = append(all, f)
	}
	return all
}

// present is a value of a property; "" if the property is not there, which CloudFormation writes as null.
func present(value *string) string {
	if v := aws.ToString(value); v != "null" {
		return v
	}
	return ""
}

// hidden reports whether the values of a finding may be secret. CloudFormation masks the value of a parameter with NoEcho, but not what
// somebody has written in its place, and it does not know which values are secret.
func hidden(f plan.Finding) bool {
	both := f.Expected + f.Actual
	return strings.Contains(both, masked) || difference.Secret(both) || difference.Sensitive(both)
}

// proposeRevert creates a change set that brings back the resources of a stack. It deploys what is deployed: the template, the parameters,
// the tags and the options of the stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/drift-aware-change-sets.html
func proposeRevert(ctx context.Context, client TargetClient, t action.Task, id string) (plan.Receipt, error) {
	s, err := describe(ctx, client, plan.Location{StackID: id, Stack: t.Location().Stack})
	if err != nil {
		return plan.Receipt{}, notStarted(err)
	}
	in := &sdk.CreateChangeSetInput{
		StackName: &id, ChangeSetName: aws.String(t.Token()), ClientToken: aws.String(t.Token()), ChangeSetType: types.ChangeSetTypeUpdate, IncludeNestedStacks: aws.Bool(true),
		UsePreviousTemplate: aws.Bool(true), Capabilities: s.Capabilities, RoleARN: client.role(), DeploymentMode: types.DeploymentModeRevertDrift,
	}
	for _, p := range s.Parameters {
		in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: p.ParameterKey, UsePreviousValue: aws.Bool(true)})
	}
	out, err := client.CreateChangeSet(ctx, in, once)
	if err != nil {
		return plan.Receipt{}, requestFault("create a change set of stack "+t.Location().Stack, err)
	}
	return plan.Receipt{StackID: id, Operation: aws.ToString(out.Id)}, nil
}

// ignored says why a change set does not bring a property back.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceDriftIgnoredAttribute.html
func ignored(r types.DriftIgnoredReason) string {
	switch r {
	case types.DriftIgnoredReasonManagedByAws:
		return "AWS changes it itself"
	case types.DriftIgnoredReasonWriteOnlyProperty:
		return "it cannot be read"
	case types.DriftIgnoredReasonSensitiveProperty:
		return "it is secret"
	}
	return string(r)
}
