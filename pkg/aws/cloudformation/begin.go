package cloudformation

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// The tags that every stack of ours bears.
const (
	projectTag = "stackwright:project" // as in "shop@prod"
	nodeTag    = "stackwright:stack"
)

// Begin asks CloudFormation for what t says, under t's token. Its errors are
// those of action.Cloud.
func (c *Cloud) Begin(ctx context.Context, t action.Task) (plan.Receipt, error) {
	client, err := c.client(ctx, t.Location().Target)
	if err != nil {
		return plan.Receipt{}, unbegun(err)
	}
	switch t.Step.Verb {
	case plan.Create:
		return c.create(ctx, client, t)
	case plan.Update, plan.Delete, plan.Continue:
	default:
		return plan.Receipt{}, fault.New(fault.Broken, "CloudFormation cannot be asked to %s", t.Step.Verb)
	}
	s, err := ready(ctx, client, t)
	if fault.Is(err, fault.Busy) {
		return c.begun(ctx, t, err)
	}
	if err != nil {
		return plan.Receipt{}, err
	}
	switch t.Step.Verb {
	case plan.Delete:
		return remove(ctx, client, t, s)
	case plan.Continue:
		return resume(ctx, client, t, s)
	}
	return c.update(ctx, client, t, s)
}

// begun looks whether what a stack is busy with is t's own work, asked for before.
// CloudFormation would know it by the token, but of a stack that is being deleted
// it accepts any other delete without a word.
func (c *Cloud) begun(ctx context.Context, t action.Task, busy error) (plan.Receipt, error) {
	work, err := c.Events(ctx, t)
	switch {
	case err != nil:
		return plan.Receipt{}, unbegun(err)
	case !work.Found:
		return plan.Receipt{}, busy
	}
	return work.Receipt, nil
}

// ready returns the stack that t is about if something may be begun on it now.
// One that is known by its name alone must say by its tag that it is ours.
func ready(ctx context.Context, client Client, t action.Task) (types.Stack, error) {
	p := t.Location()
	s, err := describe(ctx, client, p)
	if err != nil {
		return s, unbegun(err)
	}
	switch l := live(s); {
	case l.Status.Gone():
		return s, fault.New(fault.Missing, "stack %s is %s", p.Stack, l.Status)
	case l.Status.Busy(), l.Status.Cleaning():
		return s, fault.New(fault.Busy, "stack %s is %s", p.Stack, l.Status)
	case p.StackID == "" && tagged(s) != t.Project:
		return s, fault.New(fault.Refused, "stack %s exists (%s) but does not bear the tag %s=%s, so it is not ours", p.Stack, l.Status, projectTag, t.Project)
	}
	return s, nil
}

// tagged is the project that a stack says it belongs to.
func tagged(s types.Stack) string {
	for _, tag := range s.Tags {
		if aws.ToString(tag.Key) == projectTag {
			return aws.ToString(tag.Value)
		}
	}
	return ""
}

func (c *Cloud) create(ctx context.Context, client TargetClient, t action.Task) (plan.Receipt, error) {
	body, url, err := c.template(ctx, t.Node.Template)
	if err != nil {
		return plan.Receipt{}, err
	}
	var timeout *int32
	if m := t.Step.Timeout.Minutes(); m > 0 {
		timeout = aws.Int32(int32(m))
	}
	out, err := client.CreateStack(ctx, &sdk.CreateStackInput{
		StackName: &t.Node.Stack, ClientRequestToken: aws.String(t.Token()),
		TemplateBody: body, TemplateURL: url, Parameters: parameters(t), Tags: tags(t), Capabilities: capabilities(t),
		EnableTerminationProtection: &t.Node.Protect, TimeoutInMinutes: timeout, RoleARN: client.role(),
	}, once)
	if err != nil {
		return plan.Receipt{}, understood("create stack "+t.Node.Stack, err)
	}
	return plan.Receipt{StackID: aws.ToString(out.StackId), Operation: aws.ToString(out.OperationId)}, nil
}

// update first brings the termination protection to what is wished, for that is
// no part of UpdateStack. Were it done after, a crash between the two would
// leave it undone for good: the update would be recorded as deployed. A stack
// whose last operation failed without a rollback is updated only if this one is
// not to be rolled back either.
func (c *Cloud) update(ctx context.Context, client TargetClient, t action.Task, s types.Stack) (plan.Receipt, error) {
	body, url, err := c.template(ctx, t.Node.Template)
	if err != nil {
		return plan.Receipt{}, err
	}
	if t.Node.Protect != aws.ToBool(s.EnableTerminationProtection) {
		_, err := client.UpdateTerminationProtection(ctx, &sdk.UpdateTerminationProtectionInput{
			StackName: s.StackId, EnableTerminationProtection: &t.Node.Protect,
		}, once)
		if err != nil {
			return plan.Receipt{}, unbegun(understood("change the termination protection of stack "+t.Node.Stack, err))
		}
	}
	out, err := client.UpdateStack(ctx, &sdk.UpdateStackInput{
		StackName: s.StackId, ClientRequestToken: aws.String(t.Token()),
		TemplateBody: body, TemplateURL: url, Parameters: parameters(t), Tags: tags(t), Capabilities: capabilities(t),
		DisableRollback: halted(s), RoleARN: client.role(),
	}, once)
	if err != nil {
		return plan.Receipt{}, understood("update stack "+t.Node.Stack, err)
	}
	return plan.Receipt{StackID: aws.ToString(s.StackId), Operation: aws.ToString(out.OperationId)}, nil
}

// halted says of a stack that stands where its last operation failed that the
// next is not to be rolled back, which CloudFormation insists on; of any other
// it says nothing.
func halted(s types.Stack) *bool {
	if s.StackStatus == types.StackStatusCreateFailed || s.StackStatus == types.StackStatusUpdateFailed {
		return aws.Bool(true)
	}
	return nil
}

// remove deletes a stack by its ID, so that no other one of its name is hit.
func remove(ctx context.Context, client TargetClient, t action.Task, s types.Stack) (plan.Receipt, error) {
	in := &sdk.DeleteStackInput{StackName: s.StackId, ClientRequestToken: aws.String(t.Token()), RoleARN: client.role()}
	if _, err := client.DeleteStack(ctx, in, once); err != nil {
		return plan.Receipt{}, understood("delete stack "+t.Location().Stack, err)
	}
	return plan.Receipt{StackID: aws.ToString(s.StackId)}, nil
}

// resume continues a rollback that failed.
func resume(ctx context.Context, client TargetClient, t action.Task, s types.Stack) (plan.Receipt, error) {
	in := &sdk.ContinueUpdateRollbackInput{StackName: s.StackId, ClientRequestToken: aws.String(t.Token()), RoleARN: client.role()}
	if _, err := client.ContinueUpdateRollback(ctx, in, once); err != nil {
		return plan.Receipt{}, understood("continue the rollback of stack "+t.Location().Stack, err)
	}
	return plan.Receipt{StackID: aws.ToString(s.StackId)}, nil
}

// Cancel asks CloudFormation to roll back the update that is under way on t's
// stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html
func (c *Cloud) Cancel(ctx context.Context, t action.Task) error {
	p := t.Location()
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return err
	}
	name, err := reference(p)
	if err != nil {
		return err
	}
	in := &sdk.CancelUpdateStackInput{StackName: &name, ClientRequestToken: aws.String(t.CancelToken())}
	_, err = client.CancelUpdateStack(ctx, in, once)
	return understood("cancel the update of stack "+p.Stack, err)
}

// template returns either the bytes of a template or where it is.
func (c *Cloud) template(ctx context.Context, t project.Template) (body, url *string, err error) {
	if t.Bytes > project.MaxInline {
		return nil, aws.String(c.templates.URL(t.Digest)), nil
	}
	b, err := c.templates.Template(ctx, t.Digest)
	if err != nil {
		return nil, nil, unbegun(err)
	}
	return aws.String(string(b)), nil, nil
}

func parameters(t action.Task) []types.Parameter {
	all := make([]types.Parameter, 0, len(t.Want.Parameters))
	for _, k := range slices.Sorted(maps.Keys(t.Want.Parameters)) {
		all = append(all, types.Parameter{ParameterKey: aws.String(k), ParameterValue: aws.String(t.Want.Parameters[k])})
	}
	return all
}

// tags are those that are wished for, and ours.
func tags(t action.Task) []types.Tag {
	by := map[string]string{}
	maps.Copy(by, t.Want.Tags)
	by[projectTag], by[nodeTag] = t.Project, t.Step.Node
	all := make([]types.Tag, 0, len(by))
	for _, k := range slices.Sorted(maps.Keys(by)) {
		all = append(all, types.Tag{Key: aws.String(k), Value: aws.String(by[k])})
	}
	return all
}

func capabilities(t action.Task) []types.Capability {
	var all []types.Capability
	for _, c := range t.Node.Capabilities {
		all = append(all, types.Capability(c))
	}
	return all
}
