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
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// createRefactor makes the stack refactor of a move. CloudFormation knows no client request token for it: its description
// is the task's token. It creates no stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStackRefactor.html
func (c *Cloud) createRefactor(ctx context.Context, client TargetClient, t action.Task) (plan.Receipt, error) {
	in := &sdk.CreateStackRefactorInput{Description: aws.String(t.Token()), EnableStackCreation: aws.Bool(false)}
	for _, s := range []plan.MovedStack{t.Movement.Source, t.Movement.Target} {
		body, url, err := c.template(ctx, project.Template{Digest: s.Template, Bytes: s.Bytes})
		if err != nil {
			return plan.Receipt{}, err
		}
		in.StackDefinitions = append(in.StackDefinitions, types.StackDefinition{StackName: aws.String(s.StackID), TemplateBody: body, TemplateURL: url})
	}
	for _, r := range t.Movement.Resources {
		in.ResourceMappings = append(in.ResourceMappings, types.ResourceMapping{
			Source:      &types.ResourceLocation{StackName: aws.String(t.Movement.Source.StackID), LogicalResourceId: aws.String(r.From)},
			Destination: &types.ResourceLocation{StackName: aws.String(t.Movement.Target.StackID), LogicalResourceId: aws.String(r.To)},
		})
	}
	out, err := client.CreateStackRefactor(ctx, in, once)
	if err != nil {
		return plan.Receipt{}, requestFault("create a stack refactor of the stacks "+t.Movement.Source.Stack+" and "+t.Movement.Target.Stack, err)
	}
	return plan.Receipt{StackID: t.Movement.Target.StackID, Operation: aws.ToString(out.StackRefactorId)}, nil
}

// Refactor implements action.Cloud.
func (c *Cloud) Refactor(ctx context.Context, t action.Task) (action.Refactor, error) {
	client, err := c.client(ctx, t.Location().Target)
	if err != nil {
		return action.Refactor{}, err
	}
	id := t.Receipt.Operation
	if id == "" {
		if id, err = findRefactor(ctx, client, t.Token()); err != nil {
			return action.Refactor{}, err
		}
	}
	out, err := client.DescribeStackRefactor(ctx, &sdk.DescribeStackRefactorInput{StackRefactorId: &id})
	if err != nil {
		return action.Refactor{}, requestFault("describe the stack refactor "+id, err)
	}
	r := action.Refactor{ID: id, State: refactorState(out.Status, out.ExecutionStatus), Why: cmp.Or(aws.ToString(out.ExecutionStatusReason), aws.ToString(out.StatusReason))}
	if r.State == action.RefactorReady {
		r.Does, err = refactorActions(ctx, client, id)
	}
	return r, err
}

// findRefactor returns the ID of the stack refactor with a description. The error is of kind Missing if there is none.
func findRefactor(ctx context.Context, client Client, description string) (string, error) {
	pages := sdk.NewListStackRefactorsPaginator(client, &sdk.ListStackRefactorsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", requestFault("list the stack refactors", err)
		}
		for _, s := range page.StackRefactorSummaries {
			if aws.ToString(s.Description) == description {
				return aws.ToString(s.StackRefactorId), nil
			}
		}
	}
	return "", fault.New(fault.Missing, "there is no stack refactor %s", description)
}

// refactorState is what the two statuses of a stack refactor say. A status that is not known is
// waited for.
func refactorState(made types.StackRefactorStatus, executed types.StackRefactorExecutionStatus) action.RefactorState {
	switch executed {
	case types.StackRefactorExecutionStatusExecuteInProgress, types.StackRefactorExecutionStatusRollbackInProgress:
		return action.RefactorMoving
	case types.StackRefactorExecutionStatusExecuteComplete:
		return action.RefactorMoved
	case types.StackRefactorExecutionStatusRollbackComplete:
		return action.RefactorRestored
	case types.StackRefactorExecutionStatusExecuteFailed, types.StackRefactorExecutionStatusRollbackFailed:
		return action.RefactorFailed
	case types.StackRefactorExecutionStatusObsolete:
		return action.RefactorOutdated
	}
	switch made {
	case types.StackRefactorStatusCreateFailed, types.StackRefactorStatusDeleteInProgress, types.StackRefactorStatusDeleteComplete, types.StackRefactorStatusDeleteFailed:
		return action.RefactorRefused
	case types.StackRefactorStatusCreateComplete:
		if executed == types.StackRefactorExecutionStatusAvailable {
			return action.RefactorReady
		}
	}
	return action.RefactorMaking
}

// refactorActions lists what a stack refactor would do, sorted.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_StackRefactorAction.html
func refactorActions(ctx context.Context, client Client, id string) ([]string, error) {
	var all []string
	pages := sdk.NewListStackRefactorActionsPaginator(client, &sdk.ListStackRefactorActionsInput{StackRefactorId: &id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, requestFault("list the actions of the stack refactor "+id, err)
		}
		for _, a := range page.StackRefactorActions {
			m := a.ResourceMapping
			if a.Action != types.StackRefactorActionTypeMove || a.Entity != types.StackRefactorActionEntityResource || m == nil || m.Source == nil || m.Destination == nil {
				all = append(all, strings.ToLower(string(a.Action)+" "+string(a.Entity)))
				continue
			}
			all = append(all, action.Becomes(plainName(m.Source.StackName), aws.ToString(m.Source.LogicalResourceId), plainName(m.Destination.StackName), aws.ToString(m.Destination.LogicalResourceId)))
		}
	}
	slices.Sort(all)
	return all, nil
}

// plainName is the name in a stack's ID, or the name itself.
func plainName(nameOrID *string) string {
	parts := strings.Split(aws.ToString(nameOrID), "/")
	return parts[min(1, len(parts)-1)]
}

// executeRefactor executes the stack refactor in the receipt of a task.
func executeRefactor(ctx context.Context, client TargetClient, t action.Task) error {
	_, err := client.ExecuteStackRefactor(ctx, &sdk.ExecuteStackRefactorInput{StackRefactorId: &t.Receipt.Operation}, once)
	return requestFault("execute the stack refactor "+t.Receipt.Operation, err)
}
