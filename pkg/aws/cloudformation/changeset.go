package cloudformation

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/plan"
)

const (
	noChanges       = "The submitted information didn't contain changes"
	masked          = "****" // a value of a parameter with NoEcho
	knownAfterApply = "{{changeSet:KNOWN_AFTER_APPLY}}"
)

// propose creates the change set of a task for the stack of the given ID, with those of the nested stacks. Its name is
// the task's token, so a repeated request makes one.
func (c *Cloud) propose(ctx context.Context, client TargetClient, t action.Task, id string) (plan.Receipt, error) {
	body, url, err := c.template(ctx, t.Node.Template)
	if err != nil {
		return plan.Receipt{}, err
	}
	out, err := client.CreateChangeSet(ctx, &sdk.CreateChangeSetInput{
		StackName: &id, ChangeSetName: aws.String(t.Token()), ClientToken: aws.String(t.Token()), ChangeSetType: types.ChangeSetTypeUpdate, IncludeNestedStacks: aws.Bool(true),
		TemplateBody: body, TemplateURL: url, Parameters: keeping(t), Tags: tags(t), Capabilities: capabilities(t), ResourceTypes: t.Node.ResourceTypes, RoleARN: client.role(),
		DeploymentConfig: deployment(t, t.Node.DisableRollback), NotificationARNs: notifications(t), RollbackConfiguration: rollbackTriggers(t),
	}, once, unchecked(t))
	if err != nil {
		return plan.Receipt{}, requestFault("create a change set of stack "+t.Location().Stack, err)
	}
	return plan.Receipt{StackID: id, Operation: aws.ToString(out.Id)}, nil
}

// executeChangeSet executes the change set that another step has made. It is named by that step's token, as permissions
// demand. After an operation that failed without a rollback, CloudFormation accepts only an update that is not rolled
// back either.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ExecuteChangeSet.html
func executeChangeSet(ctx context.Context, client TargetClient, t action.Task, id string) (plan.Receipt, error) {
	in := &sdk.ExecuteChangeSetInput{ChangeSetName: &t.ChangeSet, StackName: &id, ClientRequestToken: aws.String(t.Token())}
	if disablesRollback(t) {
		in.DisableRollback = aws.Bool(true)
	}
	if _, err := client.ExecuteChangeSet(ctx, in, once); err != nil {
		return plan.Receipt{}, requestFault("execute the change set of stack "+t.Location().Stack, err)
	}
	return plan.Receipt{StackID: id}, nil
}

// Proposal implements action.Cloud.
func (c *Cloud) Proposal(ctx context.Context, t action.Task) (p plan.Proposal, ready bool, err error) {
	client, err := c.client(ctx, t.Location().Target)
	if err != nil {
		return p, false, err
	}
	return proposal(ctx, client, t.Location().Stack, t.Receipt.Operation, "")
}

func proposal(ctx context.Context, client Client, stack, id, within string) (p plan.Proposal, ready bool, err error) {
	in := &sdk.DescribeChangeSetInput{ChangeSetName: &id, IncludePropertyValues: aws.Bool(true)}
	for {
		out, err := client.DescribeChangeSet(ctx, in)
		if err != nil {
			return p, false, requestFault("describe the change set of stack "+stack, err)
		}
		reason := aws.ToString(out.StatusReason)
		switch out.Status {
		case types.ChangeSetStatusCreateComplete:
		case types.ChangeSetStatusFailed:
			if p.Unchanged = strings.HasPrefix(reason, noChanges) || strings.HasPrefix(reason, nothingToDo); !p.Unchanged {
				p.Failure = reason
			}
			return p, true, nil
		default:
			return p, false, nil
		}
		// CloudFormation says there that it has left out a resource whose JSON it does not understand.
		// https://github.com/aws/aws-cdk-cli/pull/1785
		p.Warning, p.Outdated = reason, out.ExecutionStatus == types.ExecutionStatusObsolete
		for _, one := range out.Changes {
			r := one.ResourceChange
			if r == nil {
				continue
			}
			p.Resources = append(p.Resources, resourceChange(*r, within))
			if r.ChangeSetId == nil {
				continue
			}
			inner, ready, err := proposal(ctx, client, stack, *r.ChangeSetId, within+aws.ToString(r.LogicalResourceId)+"/")
			if err != nil || !ready {
				return p, false, err
			}
			p.Resources = append(p.Resources, inner.Resources...)
			p.Warning = cmp.Or(p.Warning, inner.Warning, inner.Failure) // what is missing there is missing here
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			return p, true, nil
		}
	}
}

// resourceChange is one change of a change set. The ID of a resource in a nested stack has
// the nested stack in front of it.
func resourceChange(r types.ResourceChange, within string) plan.ResourceChange {
	c := plan.ResourceChange{ID: within + aws.ToString(r.LogicalResourceId), Type: aws.ToString(r.ResourceType), Replacement: resource.Never, Policy: policy(r.PolicyAction)}
	switch r.Action {
	case types.ChangeActionAdd:
		c.Action = difference.Add
	case types.ChangeActionImport:
		c.Action = difference.Import
	case types.ChangeActionRemove:
		c.Action = difference.Remove
	case types.ChangeActionModify:
		c.Action = difference.Dynamic
		if slices.ContainsFunc(r.Details, func(d types.ResourceChangeDetail) bool { return d.Evaluation == types.EvaluationTypeStatic }) {
			c.Action = difference.Modify
		}
	case types.ChangeActionSyncWithActual: // the template has become what the resource is
		c.Action = difference.Modify
	default: // CloudFormation does not know yet what it does
		c.Action, c.Replacement = difference.Dynamic, resource.Conditional
	}
	switch r.Replacement {
	case types.ReplacementTrue:
		c.Action, c.Replacement = difference.Replace, resource.Always
	case types.ReplacementConditional:
		c.Replacement = resource.Conditional
	}
	for _, a := range r.ResourceDriftIgnoredAttributes {
		c.Ignored = append(c.Ignored, difference.Path(segments(aws.ToString(a.Path)))+" ("+ignored(a.Reason)+")")
	}
	before, after := contextOf(r.BeforeContext), contextOf(r.AfterContext)
	for _, d := range r.Details {
		if d.Target == nil {
			continue
		}
		for _, p := range properties(c.Type, *d.Target, before, after) {
			if strings.Contains(aws.ToString(p.After), knownAfterApply) {
				p.After = nil
				if cause := aws.ToString(d.CausingEntity); cause != "" {
					p.Because = cause + " is known after the update"
				}
			}
			add(&c, p)
		}
	}
	return c
}

// contextOf reads the attributes of a resource, such as Properties and DeletionPolicy. One that does not exist has none, and
// a text that CloudFormation has cut off is not read.
func contextOf(text *string) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(aws.ToString(text)), &all); err != nil {
		return nil
	}
	return all
}

// add adds a property, or what another detail says about one that is there.
func add(c *plan.ResourceChange, p plan.PropertyChange) {
	i := slices.IndexFunc(c.Properties, func(is plan.PropertyChange) bool {
		return is.Path == p.Path && aws.ToString(is.Before) == aws.ToString(p.Before) && aws.ToString(is.After) == aws.ToString(p.After)
	})
	if i < 0 {
		c.Properties = append(c.Properties, p)
		return
	}
	if is := &c.Properties[i]; is.Because == "" {
		is.Because = p.Because
	}
}

// properties are what a detail says that differs: of a value that is a document, such as a policy, its parts. before and
// after are the contexts of the resource: only they have the values of attributes such as DeletionPolicy.
func properties(typ string, t types.ResourceTargetDefinition, before, after map[string]json.RawMessage) []plan.PropertyChange {
	at := segments(aws.ToString(t.Path))
	p := plan.PropertyChange{Path: difference.Path(at), Replacement: resource.Never, Before: t.BeforeValue, After: t.AfterValue}
	if t.Path == nil {
		p.Path = string(t.Attribute)
		if t.Name != nil {
			p.Path = *t.Name
		}
		at = []string{p.Path}
	}
	p.Attribute = t.Attribute != types.ResourceAttributeProperties && t.Attribute != types.ResourceAttributeTags
	if p.Attribute && p.Before == nil && p.After == nil {
		p.Before, p.After = written(before[p.Path]), written(after[p.Path])
	}
	switch t.RequiresRecreation {
	case types.RequiresRecreationAlways:
		p.Replacement, p.CreateOnly = resource.Always, true
	case types.RequiresRecreationConditionally:
		p.Replacement = resource.Conditional
	}
	was, is := aws.ToString(p.Before), aws.ToString(p.After)
	if strings.Contains(was+is, masked) || difference.Secret(was) || difference.Secret(is) {
		p.Before, p.After, p.Secret = nil, nil, true
		return []plan.PropertyChange{p}
	}
	var all []plan.PropertyChange
	for _, part := range difference.Documents(typ, at, was, is) {
		one := p
		one.Path, one.Before, one.After = part.Path, part.Before, part.After
		all = append(all, one)
	}
	if len(all) == 0 {
		all = append(all, p)
	}
	return all
}

// written is a value of a context: text as it is, and a mapping as JSON; nil if there is none.
func written(value json.RawMessage) *string {
	if value == nil {
		return nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		text = string(value)
	}
	return &text
}

// segments are those of a path such as /Properties/Tags/0/Value: Tags, [0] and Value.
func segments(p string) []string {
	var all []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(p, "/"), "Properties/"), "/") {
		if _, err := strconv.Atoi(segment); err == nil {
			segment = "[" + segment + "]"
		}
		all = append(all, segment)
	}
	return all
}

// policy is the policy that keeps what is removed or replaced; empty if none does.
func policy(a types.PolicyAction) string {
	kept := strings.TrimPrefix(string(a), "ReplaceAnd")
	if kept == string(types.PolicyActionRetain) || kept == string(types.PolicyActionSnapshot) {
		return kept
	}
	return ""
}

// Withdraw implements action.Cloud. The change set is named by the task's token: no other is ever deleted.
func (c *Cloud) Withdraw(ctx context.Context, t action.Task) error {
	p := t.Location()
	client, err := c.client(ctx, p.Target)
	if err != nil {
		return notStarted(err)
	}
	_, err = client.DeleteChangeSet(ctx, &sdk.DeleteChangeSetInput{ChangeSetName: aws.String(t.Token()), StackName: &p.StackID}, once)
	err = requestFault("delete the change set of stack "+p.Stack, err)
	if fault.Is(err, fault.Missing) {
		return nil
	}
	return notStarted(err)
}
