package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/shorten"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Replaced is what a stack has that a replace deletes.
type Replaced struct {
	Template   *template.Template // that is deployed; nil if it cannot be read or understood
	Physical   map[string]string  // the physical IDs of its resources, by their IDs
	Unreadable string             // why the template, or the resources, cannot be read; empty if they can
}

// RetainProblems lists what is wrong with patterns of resources, whatever stacks there are.
func RetainProblems(patterns []string) []Problem {
	var wrong []string
	for _, p := range patterns {
		if stack, id, cut := strings.Cut(p, ":"); p == "" || len(p) > maxPattern || cut && (stack == "" || id == "") {
			wrong = append(wrong, strconv.Quote(shorten.To(40, p)))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return []Problem{{OptionRetain, strings.Join(wrong, ", ") + ": write RESOURCE or STACK:RESOURCE, with the logical ID of the resource, such as data/db:Table"}}
}

// retains reports whether a pattern means a resource of a node's stack: RESOURCE means those of all stacks that are replaced.
func retains(p, node, id string) bool {
	stack, wanted, cut := strings.Cut(p, ":")
	if !cut {
		stack, wanted = "", p
	}
	return (stack == "" || Means(stack, node)) && pattern.Glob(wanted, id)
}

// ToRecreate lists the stacks that a replace deletes, and that exist, sorted.
func (v View) ToRecreate() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(v.deletedToRecreate())), func(name string) bool { return !v.managed(name) })
}

// Recreating returns the view after the deletions of a replace: the stacks that it deletes are gone, and their records say what the new
// stacks import.
func (v View) Recreating() View {
	w := v
	w.Recorded, w.Live = maps.Clone(v.Recorded), maps.Clone(v.Live)
	w.Selection = Selection{}
	for _, name := range v.ToRecreate() {
		r := v.Recorded[name]
		r.StackID, r.Digest, r.Template, r.Outputs, r.Reimport = "", "", "", nil, v.reimported(name)
		w.Recorded[name], w.Live[name] = r, Live{}
	}
	return w
}

// deployed evaluates the template of a stack that a replace deletes.
func (v View) deployed(name string) *template.Evaluation {
	r, live, t := v.Recorded[name], v.Live[name], v.Found[name].Replaced.Template
	in := scope(r.Stack, live.StackID, r.Target)
	in.Parameters = maps.Clone(live.Parameters)
	maps.DeleteFunc(in.Parameters, func(parameter, _ string) bool { return t.Parameters[parameter].NoEcho })
	return t.In(in)
}

// wanted lists the resources of a stack that a replace deletes which the request retains, or which the files import, in the order of the
// template. What a replace before has left is not among them.
func (v View) wanted(name string) []template.Resource {
	if v.Found[name].Replaced.Template == nil {
		return nil
	}
	var all []template.Resource
	left := identified(v.leftBehind(name))
	for _, r := range v.deployed(name).Resources() {
		_, imports := v.Desired.Nodes[name].Import[r.Name]
		if left[r.Name] {
			continue
		}
		if imports || slices.ContainsFunc(v.Retain, func(p string) bool { return retains(p, name, r.Name) }) {
			all = append(all, r)
		}
	}
	return all
}

// leftBehind lists what a replace before has left in AWS, and the stack of a node has not imported.
func (v View) leftBehind(name string) []ImportedResource {
	var all []ImportedResource
	for _, i := range v.Recorded[name].Reimport {
		if v.Found[name].Replaced.Physical[i.ID] == "" {
			all = append(all, i)
		}
	}
	return all
}

// reimported lists the resources that a replace leaves in AWS when it deletes a stack, or that one before has left there, and that the new stack
// imports, sorted. The physical ID of a resource identifies it, if one property does.
func (v View) reimported(name string) []ImportedResource {
	all := v.leftBehind(name)
	for _, r := range v.wanted(name) {
		if v.survives(name, r, v.deployed(name)) == nil { // else it is refused
			all = append(all, v.left(name, r))
		}
	}
	slices.SortFunc(all, func(a, b ImportedResource) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// identified has the IDs of resources.
func identified(all []ImportedResource) map[string]bool {
	ids := make(map[string]bool, len(all))
	for _, i := range all {
		ids[i.ID] = true
	}
	return ids
}

// left is a resource that a replace leaves in AWS.
func (v View) left(name string, r template.Resource) ImportedResource {
	i := ImportedResource{ID: r.Name, Type: r.Type}
	if typ, _ := resource.Named(r.Type); len(typ.Identifier) == 1 {
		i.Identifier = map[string]string{typ.Identifier[0]: v.Found[name].Replaced.Physical[r.Name]}
	}
	return i
}

// unretainable refuses what a replace cannot retain, all at once: resources that CloudFormation would delete, or that the new stack could not
// import, and resources that CloudFormation would leave, and whose namesake the new stack could not create.
func (v View) unretainable(r replacement) []error {
	var refusals []error
	matched := make(map[string]bool)
	ids := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(r.deletes)) {
		found := v.Found[name].Replaced
		if !v.managed(name) {
			continue
		}
		if found.Template == nil {
			if len(v.Retain)+len(v.Desired.Nodes[name].Import) > 0 {
				refusals = append(refusals, fault.New(fault.Refused, "stack %s: what it retains is not known, because its template cannot be read or understood (%s): allow cloudformation:GetTemplate and cloudformation:ListStackResources", name, found.Unreadable))
			}
			continue
		}
		e := v.deployed(name)
		has := identified(v.leftBehind(name))
		for _, have := range e.Resources() {
			has[have.Name] = true
		}
		for id := range has {
			ids[id] = true
			for _, p := range v.Retain {
				matched[p] = matched[p] || retains(p, name, id)
			}
		}
		for _, have := range v.wanted(name) {
			if err := v.survives(name, have, e); err != nil {
				refusals = append(refusals, err)
			}
		}
		refusals = append(refusals, v.collides(name, e)...)
	}
	for _, p := range v.Retain {
		if !matched[p] && len(r.again) == 0 { // the run before may have matched it
			_, id, cut := strings.Cut(p, ":")
			if !cut {
				id = p
			}
			refusals = append(refusals, fault.New(fault.Invalid, "retain: no stack that is replaced has a resource %s%s", p, suggest.Hint(id, slices.Sorted(maps.Keys(ids)))))
		}
	}
	return refusals
}

// survives refuses to retain a resource that CloudFormation deletes with its stack, or that the new stack does not have.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html
func (v View) survives(name string, r template.Resource, e *template.Evaluation) error {
	refuse := func(format string, args ...any) error {
		return fault.New(fault.Refused, "stack %s: %s cannot be retained: "+format, append([]any{name, r.Name}, args...)...)
	}
	policy, known := e.Policy(r.DeletionPolicy)
	desired := v.Found[name].Desired
	switch {
	case !known || policy != "Retain" && policy != "RetainExceptOnCreate":
		return refuse("the template that is deployed has no DeletionPolicy: Retain for it, so CloudFormation would delete it: write that, deploy, and replace then")
	case v.Found[name].Replaced.Physical[r.Name] == "":
		return refuse("the stack does not have it now: see its resources in CloudFormation")
	case desired != nil && v.drops(name, v.left(name, r)):
		return refuse("the project's files no longer have such a resource, or it has another name there, so the new stack would not import it: put it back, or do not retain it")
	}
	return nil
}

// collides refuses to leave resources in AWS which the new stack would have to create under the same name.
func (v View) collides(name string, e *template.Evaluation) []error {
	if v.Found[name].Desired == nil {
		return nil
	}
	var refusals []error
	retained := identified(v.reimported(name))
	for _, w := range v.wanted(name) { // else it is refused for another reason
		retained[w.Name] = true
	}
	after := v.Recreating().asDesired(name)
	for _, r := range e.Resources() {
		policy, known := e.Policy(r.DeletionPolicy)
		kept := !known || policy == "Retain" || policy == "RetainExceptOnCreate"
		typ, _ := resource.Named(r.Type)
		if !kept || len(typ.Identifier) == 0 || retained[r.Name] {
			continue
		}
		for _, n := range after.Resources() {
			if n.Type == r.Type && sameName(typ, e, r, after, n) {
				refusals = append(refusals, fault.New(fault.Refused, "stack %s: %s stays in AWS, because of its DeletionPolicy, and the new stack could not create %s with the same name: replace with --retain %s (options.retain of a request), which imports it", name, r.Name, n.Name, r.Name))
				break
			}
		}
	}
	return refusals
}

// sameName reports whether two resources of a type have the same identifier, as far as the templates say it.
func sameName(typ resource.Type, before *template.Evaluation, r template.Resource, after *template.Evaluation, n template.Resource) bool {
	for _, property := range typ.Identifier {
		was, known := template.Text(before.Reduce(r.Property(property)))
		is, given := template.Text(after.Reduce(n.Property(property)))
		if !known || !given || was == "" || was != is {
			return false
		}
	}
	return true
}
