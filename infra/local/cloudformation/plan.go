package cloudformation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// plan is an evaluated version of a stack: its resources, and the steps that lead to it.
type plan struct {
	resources map[string]*resource
	steps     []step // create, update, replace: resources that are missing or differ
	cleanup   []step // remove, retain: resources that the version does not have
	outputs   []output
	imports   []string
	failure   string // why the operation fails before it changes a resource
}

// evaluate evaluates a template for a stack. The error is one with which CloudFormation refuses the request; an error
// that only the operation finds is the failure of the plan.
func (s *Service) evaluate(st *stack, v *version, t *template.Template) (*plan, error) {
	b := &plan{resources: map[string]*resource{}}
	d := &evaluation{service: s, stack: st, version: v, evaluated: b.resources, existing: st.existing()}
	e := t.In(d.scope())
	if err := e.Err(); err != nil {
		return nil, templateError(err)
	}
	if err := e.RulesErr(); err != nil {
		return nil, templateError(err)
	}
	if changed := d.otherTypes(e); len(changed) > 0 {
		return nil, invalid("Update of resource type is not permitted. The new template modifies resource type of the following resources: [%s]", strings.Join(changed, ", "))
	}
	for _, declared := range e.Resources() {
		r, replaced, err := d.resource(e, t, declared)
		if err != nil {
			return nil, err
		}
		b.resources[r.Logical] = r
		_, imported := v.Identified[r.Logical]
		is := d.existing[r.Logical]
		if is != nil && !replaced && !v.RevertsDrift {
			if err := r.keepDrift(is); err != nil {
				return nil, err
			}
		}
		b.add(is, r, replaced, imported, v.RevertsDrift)
	}
	var err error
	if b.outputs, err = outputs(e); err != nil {
		return nil, err
	}
	for _, i := range e.Imports() {
		b.imports = append(b.imports, i.Name)
	}
	if len(d.missing) > 0 {
		b.failure = "No export named " + d.missing[0] + " found"
	}
	if b.failure == "" && d.unread != nil {
		b.failure = d.unread.Error()
	}
	b.removeOthers(d.existing)
	return b, nil
}

// otherTypes lists the resources that exist and whose type the template changes.
// https://github.com/aws-quickstart/quickstart-amazon-eks/issues/361
func (d *evaluation) otherTypes(e *template.Evaluation) []string {
	var changed []string
	for _, declared := range e.Resources() {
		if is := d.existing[declared.Name]; is != nil && !failedToCreate(is) && is.Type != declared.Type {
			changed = append(changed, declared.Name)
		}
	}
	return changed
}

// add adds the step for a resource of the version. If the version reverts drift, a resource that somebody has changed is
// updated, and one that somebody has deleted is created.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/drift-aware-change-sets.html
func (b *plan) add(is, will *resource, replaced, imported, reverts bool) {
	next := step{Resource: will}
	switch {
	case is == nil && imported:
		next.Action, next.Failure = importing, will.Faults["import"]
	case is == nil || failedToCreate(is) || reverts && is.Missing:
		next.Action, next.Failure = create, will.Faults["create"]
	case replaced:
		next.Action, next.Failure = replace, cmp.Or(will.Faults["update"], is.keepsName(will))
		b.cleanup = append(b.cleanup, removalStep(is, is.Replaced, true))
	case !is.same(will) || is.Status == types.ResourceStatusUpdateFailed || reverts && is.drifted():
		next.Action, next.Failure = update, cmp.Or(will.Faults["update"], is.notFound(), is.refused(will))
	default:
		return
	}
	b.steps = append(b.steps, next)
}

func failedToCreate(r *resource) bool {
	return r.Status == types.ResourceStatusCreateFailed || r.Status == types.ResourceStatusDeleteFailed
}

// removeOthers adds the steps for the resources that the version does not have.
func (b *plan) removeOthers(here map[string]*resource) {
	for _, name := range sorted(here) {
		if _, stays := b.resources[name]; !stays {
			b.cleanup = append(b.cleanup, removalStep(here[name], here[name].Deletion, false))
		}
	}
}

// removalStep is the step that removes a resource from a stack, by its deletion policy. If superseded, another resource
// has replaced it.
func removalStep(r *resource, policy string, superseded bool) step {
	if policy == "Retain" || policy == "RetainExceptOnCreate" {
		return step{Action: retain, Resource: r, Superseded: superseded}
	}
	return step{Action: remove, Resource: r, Superseded: superseded, Failure: r.Faults["delete"]}
}

// levels groups a set of resources by their depth among all.
func (b *plan) levels() [][]step {
	set, acts := map[string]*resource{}, map[string]step{}
	for _, one := range b.steps {
		set[one.Resource.Logical], acts[one.Resource.Logical] = one.Resource, one
	}
	return levels(b.resources, set, func(r *resource) step { return acts[r.Logical] })
}

// differs reports whether CloudFormation would find an update from one version to the other.
func (b *plan) differs(from, to *version) bool {
	if len(b.steps) > 0 || len(b.cleanup) > 0 || b.failure != "" {
		return true
	}
	return !slices.Equal(sortedOutputs(from.Outputs), sortedOutputs(b.outputs)) ||
		!slices.Equal(sortedTags(from.Tags), sortedTags(to.Tags)) ||
		!slices.Equal(from.Notifications, to.Notifications)
}

func sortedOutputs(all []output) []output {
	return slices.SortedFunc(slices.Values(all), func(a, b output) int { return strings.Compare(a.Key, b.Key) })
}

func sortedTags(all []pair) []pair {
	return slices.SortedFunc(slices.Values(all), func(a, b pair) int { return strings.Compare(a.Key, b.Key) })
}

// levels groups a set of resources by their depth among all.
func levels(all, set map[string]*resource, as func(*resource) step) [][]step {
	depths := map[string]int{}
	var depth func(name string) int
	depth = func(name string) int {
		if known, ok := depths[name]; ok {
			return known
		}
		depths[name] = 0
		deepest := 0
		if r := all[name]; r != nil {
			for _, before := range r.After {
				deepest = max(deepest, depth(before)+1)
			}
		}
		depths[name] = deepest
		return deepest
	}
	byDepth := map[int][]step{}
	for _, name := range sorted(set) {
		byDepth[depth(name)] = append(byDepth[depth(name)], as(set[name]))
	}
	var grouped [][]step
	for _, d := range sorted(byDepth) {
		grouped = append(grouped, byDepth[d])
	}
	return grouped
}

// removal removes the resources of a stack, dependents first, except those to keep. After a failed creation fewer
// resources are retained.
func (s *Service) removal(st *stack, keep []string, failedCreate bool) [][]step {
	here := st.existing()
	steps := levels(here, here, func(r *resource) step {
		policy := r.Deletion
		if failedCreate && (policy == "RetainExceptOnCreate" || st.RetainNew) {
			policy = ""
		}
		if slices.Contains(keep, r.Logical) {
			policy = "Retain"
		}
		return removalStep(r, policy, false)
	})
	slices.Reverse(steps)
	return steps
}

func outputs(e *template.Evaluation) ([]output, error) {
	var all []output
	for _, declared := range e.Outputs() {
		value, err := e.Value(declared.Value)
		if err != nil {
			return nil, templateError(err)
		}
		o := output{Key: declared.Name, Description: declared.Description}
		if o.Value, err = outputText(declared.Name, value); err != nil {
			return nil, err
		}
		if declared.Export != nil {
			name, err := e.Value(declared.Export)
			if err != nil {
				return nil, templateError(err)
			}
			o.Export, _ = template.Text(name)
		}
		all = append(all, o)
	}
	return all, nil
}

// outputText is the value of an output as text. A list is refused.
func outputText(name string, value any) (string, error) {
	if _, unknown := value.(template.Unknown); unknown {
		return "", nil
	}
	text, ok := template.Text(value)
	if !ok {
		return "", invalid("Template format error: The Value field of every Outputs member must evaluate to a String. (%s)", name)
	}
	return text, nil
}

// compactJSON is the JSON of a value, with sorted keys; "" if there is none.
func compactJSON(v any) (string, error) {
	if v == nil {
		return "", nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write a property: %w", err)
	}
	return string(b), nil
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
