package cloudformation

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// resourceChange is what a change set does to one resource.
type resourceChange struct {
	Action                  types.ChangeAction
	Logical, Type, Physical string
	Replacement             types.Replacement
	Properties              []string // the properties that differ
}

// resourceChanges are the changes of a plan, one for each resource.
func (b *plan) resourceChanges(st *stack) []resourceChange {
	var all []resourceChange
	for _, one := range b.steps {
		c := resourceChange{Action: types.ChangeActionAdd, Logical: one.Resource.Logical, Type: one.Resource.Type}
		if one.Action != create {
			was := st.Resources[c.Logical]
			c.Action, c.Physical, c.Replacement = types.ChangeActionModify, was.Physical, types.ReplacementFalse
			c.Properties = differing(was, one.Resource)
		}
		if one.Action == replace {
			c.Replacement = types.ReplacementTrue
		}
		all = append(all, c)
	}
	for _, one := range b.cleanup {
		if !one.Superseded {
			all = append(all, resourceChange{Action: types.ChangeActionRemove, Logical: one.Resource.Logical, Type: one.Resource.Type, Physical: one.Resource.Physical})
		}
	}
	slices.SortStableFunc(all, func(a, b resourceChange) int { return strings.Compare(a.Logical, b.Logical) })
	return all
}

// differing are the names of the properties that differ, sorted.
func differing(a, b *resource) []string {
	names := map[string]bool{}
	for _, r := range []*resource{a, b} {
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(r.Properties), &all); err != nil {
			continue // no properties at all
		}
		for name := range all {
			names[name] = names[name] || raw(a, name) != raw(b, name)
		}
	}
	var some []string
	for _, name := range sorted(names) {
		if names[name] {
			some = append(some, name)
		}
	}
	return some
}

func (c resourceChange) describe() types.Change {
	r := &types.ResourceChange{Action: c.Action, LogicalResourceId: aws.String(c.Logical), PhysicalResourceId: optional(c.Physical),
		ResourceType: aws.String(c.Type), Replacement: c.Replacement, Scope: []types.ResourceAttribute{}, Details: []types.ResourceChangeDetail{}}
	if len(c.Properties) > 0 {
		r.Scope = append(r.Scope, types.ResourceAttributeProperties)
	}
	for _, name := range c.Properties {
		recreation := types.RequiresRecreationNever
		if k := resourceTypes[c.Type]; name == k.name || slices.Contains(k.replaces, name) {
			recreation = types.RequiresRecreationAlways
		}
		r.Details = append(r.Details, types.ResourceChangeDetail{
			ChangeSource: types.ChangeSourceDirectModification, Evaluation: types.EvaluationTypeStatic,
			Target: &types.ResourceTargetDefinition{Attribute: types.ResourceAttributeProperties, Name: aws.String(name), RequiresRecreation: recreation},
		})
	}
	return types.Change{Type: types.ChangeTypeResource, ResourceChange: r}
}
