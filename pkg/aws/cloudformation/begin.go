package cloudformation

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/stackpolicy"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Begin sends the request of a step to CloudFormation, under the task's token. Its
// errors are those of action.Cloud.
func (c *Cloud) Begin(ctx context.Context, t action.Task) (plan.Receipt, error) {
	client, err := c.client(ctx, t.Location().Target)
	if err != nil {
		return plan.Receipt{}, notStarted(err)
	}
	var send func(ctx context.Context, client TargetClient, t action.Task, id string) (plan.Receipt, error)
	switch t.Request {
	case action.CreateStack:
		return c.create(ctx, client, t)
	case action.CreateStackRefactor:
		return c.createRefactor(ctx, client, t)
	case action.DetectStackDrift:
		return detectDrift(ctx, client, t)
	case action.ImportResources:
		send = c.importResources
	case action.UpdateStack:
		send = c.update
	case action.DeleteStack:
		send = remove
	case action.ContinueUpdateRollback:
		send = resume
	case action.CreateChangeSet:
		send = c.propose
	case action.CreateDriftChangeSet:
		send = proposeRevert
	case action.ExecuteChangeSet, action.ExecuteDriftChangeSet:
		send = executeChangeSet
	default:
		return plan.Receipt{}, fault.New(fault.Broken, "the verb %s has no request to CloudFormation", t.Step.Verb)
	}
	id := t.Location().StackID
	if id == "" {
		id, err = find(ctx, client, &t)
	}
	var receipt plan.Receipt
	if err == nil {
		receipt, err = send(ctx, client, t, id)
	}
	if fault.Is(err, fault.Busy) {
		return c.underway(ctx, t, err)
	}
	return receipt, err
}

// underway returns the receipt of the operation that keeps the stack busy, if it is
// the task's own from an earlier attempt, and busy otherwise. CloudFormation
// recognizes most tokens, but it accepts any delete of a stack that is being deleted.
func (c *Cloud) underway(ctx context.Context, t action.Task, busy error) (plan.Receipt, error) {
	op, err := c.Events(ctx, t)
	switch {
	case err != nil:
		return plan.Receipt{}, notStarted(err)
	case !op.Found:
		return plan.Receipt{}, busy
	}
	return op.Receipt, nil
}

// find returns the ID of the stack of a task that is known only by its name, if an
// operation can start on it now. The stack must have the project's tag.
func find(ctx context.Context, client Client, t *action.Task) (id string, err error) {
	p := t.Location()
	s, err := describe(ctx, client, p)
	if err != nil {
		return "", notStarted(err)
	}
	switch l := live(s); {
	case l.Status.Gone():
		return "", fault.New(fault.Missing, "stack %s is %s", p.Stack, l.Status)
	case l.Status.Busy(), l.Status.Cleaning():
		return "", fault.New(fault.Busy, "stack %s is %s", p.Stack, l.Status)
	case tagged(s) != t.Project:
		return "", fault.New(fault.Refused, "stack %s exists (%s) and does not have the tag %s=%s: it "+plan.NotManaged, p.Stack, l.Status, project.ProjectTag, t.Project)
	default:
		t.Seen = &l
		return l.StackID, nil
	}
}

// tagged returns the project in a stack's tag.
func tagged(s types.Stack) string {
	for _, tag := range s.Tags {
		if aws.ToString(tag.Key) == project.ProjectTag {
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
	in := &sdk.CreateStackInput{
		StackName: &t.Node.Stack, ClientRequestToken: aws.String(t.Token()),
		TemplateBody: body, TemplateURL: url, Parameters: parameters(t), Tags: tags(t), Capabilities: capabilities(t), ResourceTypes: t.Node.ResourceTypes,
		EnableTerminationProtection: &t.Node.Protect, TimeoutInMinutes: timeout, RoleARN: client.role(),
		DeploymentConfig: deployment(t, t.Node.KeepsFailed()), NotificationARNs: t.Node.Notifications,
	}
	if !t.Node.RollbackTriggers.IsZero() {
		in.RollbackConfiguration = rollbackTriggers(t)
	}
	switch {
	case t.Node.KeepsFailed():
		// With DO_NOTHING instead, CloudFormation would refuse to update the stack later.
		// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
		if in.DeploymentConfig == nil {
			in.DisableRollback = aws.Bool(true)
		}
	case t.Node.OnFailure == project.DeleteFailed:
		in.OnFailure = types.OnFailureDelete
	}
	out, err := client.CreateStack(ctx, in, once, unchecked(t))
	if err != nil {
		return plan.Receipt{}, requestFault("create stack "+t.Node.Stack, err)
	}
	return plan.Receipt{StackID: aws.ToString(out.StackId), Operation: aws.ToString(out.OperationId)}, nil
}

// update updates the stack of the given ID. After an operation that failed without a
// rollback, CloudFormation accepts only an update that is not rolled back either.
func (c *Cloud) update(ctx context.Context, client TargetClient, t action.Task, id string) (plan.Receipt, error) {
	body, url, err := c.template(ctx, t.Node.Template)
	if err != nil {
		return plan.Receipt{}, err
	}
	in := &sdk.UpdateStackInput{
		StackName: &id, ClientRequestToken: aws.String(t.Token()),
		TemplateBody: body, TemplateURL: url, Parameters: keeping(t), Tags: tags(t), Capabilities: capabilities(t), ResourceTypes: t.Node.ResourceTypes,
		DeploymentConfig: deployment(t, disablesRollback(t)), RoleARN: client.role(), NotificationARNs: notifications(t), RollbackConfiguration: rollbackTriggers(t),
	}
	if in.DeploymentConfig == nil && disablesRollback(t) {
		in.DisableRollback = aws.Bool(true)
	}
	if t.Node.DuringUpdate != "" {
		in.StackPolicyDuringUpdateBody = &t.Node.DuringUpdate
	}
	out, err := client.UpdateStack(ctx, in, once, unchecked(t))
	if err != nil {
		return plan.Receipt{}, requestFault("update stack "+t.Node.Stack, err)
	}
	return plan.Receipt{StackID: id, Operation: aws.ToString(out.OperationId)}, nil
}

// disablesRollback reports whether t's update is not rolled back if it fails: the node says so, or the stack accepts no other.
func disablesRollback(t action.Task) bool {
	return t.Node.DisableRollback || t.Seen != nil && t.Seen.Status.FailedWithoutRollback()
}

// notifications returns the topics of a stack that exists. Without the list, CloudFormation would keep those that it has: an empty list
// removes them.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateStack.html
func notifications(t action.Task) []string { return append([]string{}, t.Node.Notifications...) }

// rollbackTriggers returns the rollback triggers of a stack. Without them, CloudFormation would keep those that the stack has: an empty
// list removes them.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_RollbackConfiguration.html
func rollbackTriggers(t action.Task) *types.RollbackConfiguration {
	from := t.Node.RollbackTriggers
	to := &types.RollbackConfiguration{MonitoringTimeInMinutes: aws.Int32(int32(from.Minutes)), RollbackTriggers: []types.RollbackTrigger{}}
	for kind, arns := range map[string][]string{alarm: from.Alarms, compositeAlarm: from.CompositeAlarms} {
		for _, arn := range arns {
			to.RollbackTriggers = append(to.RollbackTriggers, types.RollbackTrigger{Arn: &arn, Type: &kind})
		}
	}
	slices.SortFunc(to.RollbackTriggers, func(a, b types.RollbackTrigger) int { return cmp.Compare(*a.Type+*a.Arn, *b.Type+*b.Arn) })
	return to
}

// The types of rollback triggers.
const (
	alarm          = "AWS::CloudWatch::Alarm"
	compositeAlarm = "AWS::CloudWatch::CompositeAlarm"
)

// Protect sets the termination protection of the task's stack, which no other request
// sets for a stack that exists.
func (c *Cloud) Protect(ctx context.Context, t action.Task) error {
	p := t.Location()
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return notStarted(err)
	}
	name, err := reference(p)
	if err != nil {
		return err
	}
	in := &sdk.UpdateTerminationProtectionInput{StackName: &name, EnableTerminationProtection: &t.Node.Protect}
	_, err = client.UpdateTerminationProtection(ctx, in, once)
	return notStarted(requestFault("change the termination protection of stack "+p.Stack, err))
}

// SetStackPolicy sets the stack policy of the task's stack, which a change set cannot do.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_SetStackPolicy.html
func (c *Cloud) SetStackPolicy(ctx context.Context, t action.Task) error {
	p := t.Location()
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return notStarted(err)
	}
	name, err := reference(p)
	if err != nil {
		return err
	}
	in := &sdk.SetStackPolicyInput{StackName: &name, StackPolicyBody: aws.String(cmp.Or(t.Node.StackPolicy.Body, project.AllowAll))}
	_, err = client.SetStackPolicy(ctx, in, once)
	return notStarted(requestFault("set the stack policy of stack "+p.Stack, err))
}

// StackPolicy returns the stack policy of a stack. A stack that never had one has no body.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_GetStackPolicy.html
func (c *Cloud) StackPolicy(ctx context.Context, p plan.Location) (project.StackPolicy, error) {
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return project.StackPolicy{}, err
	}
	name, err := reference(p)
	if err != nil {
		return project.StackPolicy{}, err
	}
	out, err := client.GetStackPolicy(ctx, &sdk.GetStackPolicyInput{StackName: &name})
	if err != nil {
		return project.StackPolicy{}, requestFault("read the stack policy of stack "+p.Stack, err)
	}
	if body := aws.ToString(out.StackPolicyBody); body != "" {
		return project.NewStackPolicy(stackpolicy.Canonical(body)), nil
	}
	return project.StackPolicy{}, nil
}

// remove deletes a stack by its ID, so that it never deletes another stack of the
// same name.
func remove(ctx context.Context, client TargetClient, t action.Task, id string) (plan.Receipt, error) {
	in := &sdk.DeleteStackInput{StackName: &id, ClientRequestToken: aws.String(t.Token()), RoleARN: client.role(), DeploymentConfig: express(t), RetainResources: t.Retained()}
	if _, err := client.DeleteStack(ctx, in, once); err != nil {
		return plan.Receipt{}, requestFault("delete stack "+t.Location().Stack, err)
	}
	return plan.Receipt{StackID: id}, nil
}

// resume continues a failed rollback.
func resume(ctx context.Context, client TargetClient, t action.Task, id string) (plan.Receipt, error) {
	skip, err := t.Step.Skips()
	if err != nil {
		return plan.Receipt{}, err
	}
	in := &sdk.ContinueUpdateRollbackInput{
		StackName: &id, ClientRequestToken: aws.String(t.Token()), RoleARN: client.role(), ResourcesToSkip: skip,
	}
	if _, err := client.ContinueUpdateRollback(ctx, in, once); err != nil {
		return plan.Receipt{}, requestFault("continue the rollback of stack "+t.Location().Stack, err)
	}
	return plan.Receipt{StackID: id}, nil
}

// Cancel rolls back the update that is under way on the task's stack.
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
	return requestFault("cancel the update of stack "+p.Stack, err)
}

// deployment returns the mode of t's operation; nil is the standard mode. In express
// mode, CloudFormation does not roll back a failure unless the request says that it does.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-express-mode.html
func deployment(t action.Task, disableRollback bool) *types.DeploymentConfig {
	config := express(t)
	if config != nil {
		config.DisableRollback = &disableRollback
	}
	return config
}

// express returns the mode of t's operation, if it is the express mode.
func express(t action.Task) *types.DeploymentConfig {
	if t.Step.Deployment != project.Express {
		return nil
	}
	return &types.DeploymentConfig{Mode: types.DeploymentConfigModeExpress}
}

// template returns either the bytes of a template or its URL.
func (c *Cloud) template(ctx context.Context, t project.Template) (body, url *string, err error) {
	if t.Bytes > project.MaxInline {
		return nil, aws.String(c.templates.URL(t.Digest)), nil
	}
	b, err := c.templates.Template(ctx, t.Digest)
	if err != nil {
		return nil, nil, notStarted(err)
	}
	return aws.String(string(b)), nil, nil
}

// keeping returns the parameters of an update, of which some keep the values that the stack has. CloudFormation refuses a previous value
// that there is not.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_Parameter.html (UsePreviousValue)
func keeping(t action.Task) []types.Parameter {
	all := parameters(t)
	for _, name := range t.Kept {
		all = slices.DeleteFunc(all, func(p types.Parameter) bool { return aws.ToString(p.ParameterKey) == name })
		all = append(all, types.Parameter{ParameterKey: aws.String(name), UsePreviousValue: aws.Bool(true)})
	}
	return all
}

func parameters(t action.Task) []types.Parameter {
	all := make([]types.Parameter, 0, len(t.Want.Parameters))
	for _, k := range slices.Sorted(maps.Keys(t.Want.Parameters)) {
		all = append(all, types.Parameter{ParameterKey: aws.String(k), ParameterValue: aws.String(t.Want.Parameters[k])})
	}
	return all
}

// tags returns the project's tags and ours.
func tags(t action.Task) []types.Tag {
	by := map[string]string{}
	maps.Copy(by, t.Want.Tags)
	by[project.ProjectTag], by[project.StackTag] = t.Project, t.Step.Node
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
