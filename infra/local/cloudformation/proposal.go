package cloudformation

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	schema "github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// knownAfterApply is what a change set shows for a value that is known only after the update.
// https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2113
const knownAfterApply = "{{changeSet:KNOWN_AFTER_APPLY}}"

// effect is what a change set says about a resource, to those that refer to it.
type effect int

const (
	unchanged effect = iota
	modified         // its ID stays, its attributes may change
	mayBeReplaced
	replaced // or new
)

// proposal finds the changes of a change set.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-changesets-samples.html
type proposal struct {
	service       *Service
	stack         *stack
	version       *version
	plan          *plan
	before, after *template.Template
	parameters    map[string]bool // those whose values differ
	effects       map[string]effect
	shown         *template.Evaluation // the version as the change set shows it
	nested        bool                 // nested stacks have change sets too
}

// changes are what the change set of a version, which leads to plan b, does. If nested, nested stacks have change sets
// of their own.
func (s *Service) changes(st *stack, v *version, t *template.Template, b *plan, nested bool) ([]resourceChange, error) {
	p := proposal{nested: nested, service: s, stack: st, version: v, plan: b, after: t, before: &template.Template{}, parameters: map[string]bool{}, effects: map[string]effect{}}
	if st.Now.Template != "" {
		var err error
		if p.before, err = parseTemplate(st.Now.Template); err != nil {
			return nil, err
		}
	}
	for _, is := range v.Parameters {
		p.parameters[is.Key] = !slices.Contains(st.Now.Parameters, is)
	}
	d := &evaluation{service: s, stack: st, version: v, evaluated: b.resources}
	scope := d.scope()
	scope.Ref = func(name string) (any, bool) {
		return p.known(name, mayBeReplaced, func() (any, bool) { return d.ref(name) })
	}
	scope.GetAtt = func(name, attribute string) (any, bool) {
		return p.known(name, modified, func() (any, bool) { return d.attribute(name, attribute) })
	}
	p.shown = t.In(scope)
	var all []resourceChange
	for _, declared := range p.shown.Resources() {
		c, ok, err := p.resource(declared)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, c)
		}
	}
	for _, one := range b.cleanup {
		if r := one.Resource; !one.Superseded {
			all = append(all, resourceChange{Action: types.ChangeActionRemove, Logical: r.Logical, Type: r.Type, Physical: r.Physical,
				Policy: policyAction(r.Deletion, false), Before: contextOf(mask(st.Now.Parameters, r.Properties), r)})
		}
	}
	slices.SortStableFunc(all, byLogicalID)
	return all, nil
}

// known is the value that a resource has, unless what happens to the resource may change it.
func (p *proposal) known(name string, from effect, get func() (any, bool)) (any, bool) {
	if p.effects[name] >= from {
		return nil, false
	}
	return get()
}

// resource is the change of one resource of the version. It reports false if there is none.
func (p *proposal) resource(declared template.Resource) (resourceChange, bool, error) {
	is, will := p.stack.existing()[declared.Name], p.plan.resources[declared.Name]
	value, err := p.shown.Value(declared.Properties)
	if err != nil {
		return resourceChange{}, false, templateError(err)
	}
	after, err := compactJSON(replaceUnknown(value, knownAfterApply))
	if err != nil {
		return resourceChange{}, false, err
	}
	c := resourceChange{Action: types.ChangeActionAdd, Logical: will.Logical, Type: will.Type, After: contextOf(mask(p.version.Parameters, after), will)}
	if physical, imported := p.version.Identified[c.Logical]; is == nil && imported {
		p.effects[c.Logical] = replaced
		c.Action, c.Physical = types.ChangeActionImport, physical
		return c, true, nil
	}
	if is == nil || failedToCreate(is) {
		p.effects[c.Logical] = replaced
		return c, true, nil
	}
	if p.version.RevertsDrift {
		if c.Drift = compared(is, p.stack.Now.Parameters).Status; is.Missing {
			p.effects[c.Logical] = replaced
			return c, true, nil
		}
	}
	c.Action, c.Physical, c.Before = types.ChangeActionModify, is.Physical, contextOf(mask(p.stack.Now.Parameters, is.Properties), is)
	c.Details = append(p.properties(declared, is, after), p.attributes(declared, is, will)...)
	if is.Type == nestedType && len(c.Details) == 0 && (!p.nested || !is.Nested.same(will.Nested)) {
		c.Details = []changeDetail{{Attribute: types.ResourceAttributeProperties, Recreation: types.RequiresRecreationNever,
			Source: types.ChangeSourceAutomatic, Evaluation: types.EvaluationTypeDynamic}}
	}
	c.Replacement = replacement(c.Details)
	switch {
	case c.Replacement == types.ReplacementTrue:
		c.Replacement, c.Policy = types.ReplacementTrue, policyAction(is.Replaced, true)
		p.effects[c.Logical] = replaced
	case c.Replacement == types.ReplacementConditional:
		c.Policy = policyAction(is.Replaced, true)
		p.effects[c.Logical] = mayBeReplaced
	case len(c.Details) > 0:
		p.effects[c.Logical] = modified
	}
	return c, p.effects[c.Logical] > unchanged || is.Status == types.ResourceStatusUpdateFailed, nil
}

// properties are the details of the properties that differ, or may differ.
func (p *proposal) properties(declared template.Resource, is *resource, after string) []changeDetail {
	nothing := template.Scope{}
	was := p.before.In(nothing).Reduce(p.before.Resources[declared.Name].Properties)
	will := p.after.In(nothing).Reduce(declared.Properties)
	var all []changeDetail
	before := is.Properties
	if p.version.RevertsDrift {
		before = is.observed()
	}
	t := typeOf(p.shown, declared)
	for _, v := range propertyChanges(t, before, after) {
		d := changeDetail{Attribute: types.ResourceAttributeProperties, Name: v.path[0], Path: "/Properties/" + strings.Join(v.path, "/"),
			Recreation: recreation(v.replacement(t)), Kind: types.AttributeChangeTypeModify,
			Before: shownText(p.stack.Now.Parameters, v.before), After: shownText(p.version.Parameters, v.after)}
		if d.Name == "Tags" {
			d.Attribute, d.Name, d.Recreation = types.ResourceAttributeTags, "", types.RequiresRecreationNever
		}
		switch {
		case v.before == nil:
			d.Kind = types.AttributeChangeTypeAdd
		case v.after == nil:
			d.Kind = types.AttributeChangeTypeRemove
		}
		if p.version.RevertsDrift {
			d.From, d.Previous = types.BeforeValueFromActualState, shownText(p.stack.Now.Parameters, at(properties(is.Properties), v.path))
		}
		all = append(all, p.sources(d, at(was, v.path), at(will, v.path))...)
	}
	return all
}

// sources are the reasons why a part of a resource changes, a detail each. A part that is written differently has
// changed directly. A part that is written as before, and refers to what changes, has a detail for each reference, and
// one that says that the template may have changed too.
func (p *proposal) sources(d changeDetail, was, will any) []changeDetail {
	direct := d
	direct.Source, direct.Evaluation = types.ChangeSourceDirectModification, types.EvaluationTypeStatic
	written := template.Compact(was) != template.Compact(will)
	var caused []changeDetail
	for _, r := range template.References(will) {
		by := d
		by.Cause, by.Evaluation = r.Name, types.EvaluationTypeStatic
		happens := p.effects[r.Name]
		switch {
		case p.parameters[r.Name] && r.Attribute == "":
			by.Source = types.ChangeSourceParameterReference
		case r.Attribute == "" && happens >= mayBeReplaced:
			by.Source = types.ChangeSourceResourceReference
		case r.Attribute != "" && happens >= modified:
			by.Source, by.Cause = types.ChangeSourceResourceAttribute, r.Name+"."+r.Attribute
		default:
			continue
		}
		if by.Source != types.ChangeSourceParameterReference && happens < replaced {
			by.Evaluation = types.EvaluationTypeDynamic
		}
		if !slices.Contains(caused, by) {
			caused = append(caused, by)
		}
	}
	if written || len(caused) == 0 {
		return append([]changeDetail{direct}, caused...)
	}
	direct.Evaluation = types.EvaluationTypeDynamic
	return append([]changeDetail{direct}, caused...)
}

// attributes are the details of what differs beside the properties.
func (p *proposal) attributes(declared template.Resource, is, will *resource) []changeDetail {
	var all []changeDetail
	add := func(differs bool, attribute types.ResourceAttribute, was, will any) {
		if differs {
			all = append(all, p.sources(changeDetail{Attribute: attribute, Recreation: types.RequiresRecreationNever}, was, will)...)
		}
	}
	nothing := template.Scope{}
	add(is.Metadata != will.Metadata, types.ResourceAttributeMetadata,
		p.before.In(nothing).Reduce(p.before.Resources[declared.Name].Metadata), p.after.In(nothing).Reduce(declared.Metadata))
	add(is.Deletion != will.Deletion, types.ResourceAttributeDeletionPolicy, is.Deletion, will.Deletion)
	add(is.Replaced != will.Replaced, types.ResourceAttributeUpdateReplacePolicy, is.Replaced, will.Replaced)
	return all
}

func recreation(r schema.Replacement) types.RequiresRecreation {
	switch r {
	case schema.Always:
		return types.RequiresRecreationAlways
	case schema.Conditional:
		return types.RequiresRecreationConditionally
	}
	return types.RequiresRecreationNever
}

// shownText is a value as a change set shows it; "" if there is none.
func shownText(parameters []parameter, v any) string {
	if v == nil {
		return ""
	}
	encoded, err := compactJSON(v)
	if err != nil {
		return "****"
	}
	masked := mask(parameters, encoded)
	var plain string
	if json.Unmarshal([]byte(masked), &plain) == nil {
		return plain
	}
	return masked
}
