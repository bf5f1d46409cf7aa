package cloudformation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// resourceChange is what a change set does to one resource. Values of NoEcho parameters are masked in it.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html
type resourceChange struct {
	Action                  types.ChangeAction
	Logical, Type, Physical string
	Replacement             types.Replacement
	Policy                  types.PolicyAction
	Before, After           string // the contexts; "" if the resource does not exist
	Details                 []changeDetail
	Nested                  string // the ID of the change set of a nested stack

	Drift types.StackResourceDriftStatus // of a change set that reverts drift
}

// changeDetail is one reason why a change set changes a part of a resource.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChangeDetail.html
type changeDetail struct {
	Attribute     types.ResourceAttribute
	Name, Path    string
	Recreation    types.RequiresRecreation
	Kind          types.AttributeChangeType
	Before, After string
	Evaluation    types.EvaluationType
	Source        types.ChangeSource
	Cause         string

	From     types.BeforeValueFrom // of a change set that reverts drift
	Previous string                // the value that the version before has
}

// replacement is the strongest of the details. What is certain to change and cannot be changed in place replaces the
// resource; what may change, may replace it.
func replacement(details []changeDetail) types.Replacement {
	all := types.ReplacementFalse
	for _, d := range details {
		switch {
		case d.Recreation == types.RequiresRecreationNever:
		case d.Recreation == types.RequiresRecreationAlways && d.Evaluation == types.EvaluationTypeStatic:
			return types.ReplacementTrue
		default:
			all = types.ReplacementConditional
		}
	}
	return all
}

// policyAction is what happens to the resource that is removed, or replaced.
func policyAction(policy string, replaced bool) types.PolicyAction {
	p := types.PolicyActionDelete
	switch policy {
	case "Retain", "RetainExceptOnCreate":
		p = types.PolicyActionRetain
	case "Snapshot":
		p = types.PolicyActionSnapshot
	}
	if replaced {
		p = "ReplaceAnd" + p
	}
	return p
}

// describe describes the change, with the values of properties or without.
func (c resourceChange) describe(values bool) types.Change {
	r := &types.ResourceChange{Action: c.Action, LogicalResourceId: aws.String(c.Logical), PhysicalResourceId: optional(c.Physical),
		ResourceType: aws.String(c.Type), Replacement: c.Replacement, PolicyAction: c.Policy, ChangeSetId: optional(c.Nested), ResourceDriftStatus: c.Drift,
		Scope: []types.ResourceAttribute{}, Details: []types.ResourceChangeDetail{}}
	if values {
		r.BeforeContext, r.AfterContext = optional(c.Before), optional(c.After)
	}
	seen := map[changeDetail]bool{}
	for _, d := range c.Details {
		if !slices.Contains(r.Scope, d.Attribute) {
			r.Scope = append(r.Scope, d.Attribute)
		}
		if !values { // the parts of a property are one
			d.Path, d.Kind, d.Before, d.After = "", "", "", ""
		}
		if !seen[d] {
			r.Details = append(r.Details, d.describe())
		}
		seen[d] = true
	}
	return types.Change{Type: types.ChangeTypeResource, ResourceChange: r}
}

// contextOf is the context of a resource, of which the properties are given as JSON.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-changesets-view.html
func contextOf(properties string, r *resource) string {
	text := `{"Properties":` + cmp.Or(properties, "{}")
	if r.Replaced != "" {
		text += `,"UpdateReplacePolicy":"` + r.Replaced + `"`
	}
	if r.Deletion != "" {
		text += `,"DeletionPolicy":"` + r.Deletion + `"`
	}
	return text + "}"
}

func (d changeDetail) describe() types.ResourceChangeDetail {
	shown := types.ResourceChangeDetail{
		ChangeSource: d.Source, CausingEntity: optional(d.Cause), Evaluation: d.Evaluation,
		Target: &types.ResourceTargetDefinition{Attribute: d.Attribute, Name: optional(d.Name), RequiresRecreation: d.Recreation,
			Path: optional(d.Path), AttributeChangeType: d.Kind, BeforeValue: optional(d.Before), AfterValue: optional(d.After), BeforeValueFrom: d.From},
	}
	if d.From != "" {
		shown.Target.AfterValueFrom = types.AfterValueFromTemplate
		shown.Target.Drift = &types.LiveResourceDrift{ActualValue: optional(d.Before), PreviousValue: optional(d.Previous)}
	}
	return shown
}

func byLogicalID(a, b resourceChange) int { return strings.Compare(a.Logical, b.Logical) }
