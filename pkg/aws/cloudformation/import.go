package cloudformation

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// frozen begins CloudFormation's message about what an import may not change: [Outputs], [RoleArn] or [Tags].
// https://github.com/aws/aws-cdk/issues/24954
const frozen = "you cannot modify or add ["

// importResources creates the change set of an import into the stack of the given ID. Its name is the task's token.
// The parameters and tags of the stack stay as they are.
func (c *Cloud) importResources(ctx context.Context, client TargetClient, t action.Task, id string) (plan.Receipt, error) {
	body, url, err := c.template(ctx, t.Node.Template)
	if err != nil {
		return plan.Receipt{}, err
	}
	in := &sdk.CreateChangeSetInput{
		StackName: &id, ChangeSetName: aws.String(t.Token()), ClientToken: aws.String(t.Token()), ChangeSetType: types.ChangeSetTypeImport,
		TemplateBody: body, TemplateURL: url, Capabilities: capabilities(t), ResourceTypes: t.Node.ResourceTypes, RoleARN: client.role(), Parameters: previous(t),
	}
	for _, r := range t.Import.Resources {
		in.ResourcesToImport = append(in.ResourcesToImport, types.ResourceToImport{LogicalResourceId: aws.String(r.ID), ResourceType: aws.String(r.Type), ResourceIdentifier: r.Identifier})
	}
	out, err := client.CreateChangeSet(ctx, in, once, unchecked(t))
	err = requestFault("create a change set of stack "+t.Location().Stack, err)
	if fault.Is(err, fault.Refused) && strings.Contains(err.Error(), frozen) {
		err = fault.New(fault.Refused, "%w: deploy the stack without these resources and without import: first", err)
	}
	if err != nil {
		return plan.Receipt{}, err
	}
	return plan.Receipt{StackID: aws.ToString(out.StackId), Operation: aws.ToString(out.Id)}, nil
}

// previous returns the parameters of a stack that exists, with their previous values, and
// those that the import adds.
func previous(t action.Task) []types.Parameter {
	var all []types.Parameter
	if t.Seen != nil {
		for _, name := range slices.Sorted(maps.Keys(t.Seen.Parameters)) {
			all = append(all, types.Parameter{ParameterKey: aws.String(name), UsePreviousValue: aws.Bool(true)})
		}
	}
	for _, name := range t.Import.Parameters {
		all = append(all, types.Parameter{ParameterKey: aws.String(name), ParameterValue: aws.String(t.Want.Parameters[name])})
	}
	return all
}

// Execute implements action.Cloud. Only the stack refactor in the receipt is executed. A change set is named by the task's token: no other is ever executed.
func (c *Cloud) Execute(ctx context.Context, t action.Task) error {
	p := t.Location()
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return notStarted(err)
	}
	if t.Request == action.CreateStackRefactor {
		return executeRefactor(ctx, client, t)
	}
	in := &sdk.ExecuteChangeSetInput{ChangeSetName: aws.String(t.Token()), StackName: &p.StackID, ClientRequestToken: aws.String(t.Token())}
	_, err = client.ExecuteChangeSet(ctx, in, once)
	return requestFault("execute the change set of stack "+p.Stack, err)
}

// Holder implements engine.Clouds.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackResources.html
func (c *Cloud) Holder(ctx context.Context, t project.Target, physicalID string) (string, error) {
	client, err := c.client(ctx, t)
	if err != nil {
		return "", err
	}
	out, err := client.DescribeStackResources(ctx, &sdk.DescribeStackResourcesInput{PhysicalResourceId: &physicalID})
	err = requestFault("find the stack of "+physicalID, err)
	switch {
	case fault.Is(err, fault.Missing): // "Stack for orders does not exist"
		return "", nil
	case err != nil:
		return "", err
	case len(out.StackResources) == 0:
		return "", nil
	}
	return aws.ToString(out.StackResources[0].StackName), nil
}
