package plan

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
)

// Readable lists those of the two stacks of a move that exist and can be read. If both do, their
// templates say whether the move is possible.
func (v View) Readable(m Move) []string {
	return slices.DeleteFunc([]string{m.From, m.To}, func(name string) bool {
		_, desired := v.Desired.Nodes[name]
		return !desired || !v.managed(name) || v.inaccessible(name)
	})
}

// Arriving lists the resources of a move that the target does not have yet. It refuses all that
// CloudFormation cannot move, at once. Found has the templates.
func (v View) Arriving(m Move) ([]MovedResource, error) {
	r := v.relocation(m)
	if r.over() {
		return nil, nil
	}
	if err := r.stacks(); err != nil {
		return nil, err
	}
	if err := r.templates(); err != nil {
		return nil, err
	}
	all, refusals := r.resources()
	if len(refusals) == 0 && len(all) > 0 {
		refusals = r.now(all)
	}
	return all, errors.Join(refusals...)
}

// A relocation is a move with the stacks between which it moves resources.
type relocation struct {
	View
	Move
	from, to Found
}

func (v View) relocation(m Move) relocation {
	return relocation{View: v, Move: m, from: v.Found[m.From], to: v.Found[m.To]}
}

// over reports whether the target has all resources, and the source does not exist.
func (r relocation) over() bool {
	if r.to.Template == nil || !r.creates(r.From) || r.inaccessible(r.From) {
		return false
	}
	for _, here := range r.Resources {
		if _, has := r.to.Template.Resources[here]; !has {
			return false
		}
	}
	return true
}

func (r relocation) nodes() []string { return []string{r.From, r.To} }

// refuse returns why nothing can be moved.
func (r relocation) refuse(format string, args ...any) error {
	return fault.New(fault.Refused, "stack %s: no resource can be moved from %s: "+format, append([]any{r.To, r.From}, args...)...)
}

// stop returns why one resource cannot be moved.
func (r relocation) stop(id, format string, args ...any) error {
	return fault.New(fault.Refused, "stack %s: %s cannot be moved from %s: "+format, append([]any{r.To, id, r.From}, args...)...)
}

// stacks refuses stacks that do not exist or are not managed.
func (r relocation) stacks() error {
	for _, name := range r.nodes() {
		switch _, desired := r.Desired.Nodes[name]; {
		case !desired:
			return r.refuse("the project's files have no stack %s", name)
		case r.Desired.Ignores(name):
			return r.refuse("stack %s is left alone because the project's files say %s: enable it", name, r.ignoring())
		case r.inaccessible(name):
			return r.refuse("stack %s cannot be read: %s", name, r.Live[name].AccessError)
		case !r.managed(name) && r.Live[name].Status.Gone():
			return r.refuse("stack %s does not exist: deploy it first, with another resource and without move_from:", name)
		case !r.managed(name):
			return r.refuse("Stackwright does not manage the stack of %s yet: adopt it first", name)
		}
	}
	return nil
}

// templates refuses stacks whose templates are not known.
func (r relocation) templates() error {
	for _, name := range r.nodes() {
		switch found := r.Found[name]; {
		case found.Unreadable != "":
			return r.refuse("the template of %s cannot be read: %s: allow cloudformation:GetTemplate", name, found.Unreadable)
		case len(found.Lost) > 0:
			return r.refuse("of the template of %s, %s: CloudFormation would refuse the move, or change them. Deploy it first without move_from:", name, sayLost(found.Lost))
		case found.Template == nil:
			return r.refuse("the template from which %s is deployed cannot be understood: deploy it first without move_from:", name)
		case found.Desired == nil:
			return r.refuse("the template of %s cannot be understood: run stackwright validate", name)
		}
	}
	return nil
}

// resources lists the resources that are not in the target yet, and refuses those that the templates do not move.
func (r relocation) resources() (all []MovedResource, refusals []error) {
	for _, id := range slices.Sorted(maps.Keys(r.Resources)) {
		here := r.Resources[id]
		declared, wanted := r.to.Desired.Resources[here]
		leaves, there := r.from.Template.Resources[id]
		_, arrived := r.to.Template.Resources[here]
		_, stays := r.from.Desired.Resources[id]
		stop := func(format string, args ...any) { refusals = append(refusals, r.stop(id, format, args...)) }
		switch {
		case !wanted:
			stop("the template of %s has no resource %s%s", r.To, here, suggest.Hint(here, r.to.Desired.ResourceNames()))
		case arrived && !there: // it was moved before
		case !there:
			stop("%s has no such resource%s", r.From, suggest.Hint(id, r.from.Template.ResourceNames()))
		case arrived:
			stop("%s has a resource %s already: write another ID in its template", r.To, here)
		case stays:
			stop("the template of %s still has it: remove it there", r.From)
		case leaves.Type != declared.Type:
			stop("it is of the type %s, and %s of the type %s", leaves.Type, here, declared.Type)
		case unmovable(leaves.Type) != "":
			stop("%s", unmovable(leaves.Type))
		case leaves.Condition != "" || declared.Condition != "":
			stop("it has a Condition: deploy it first without the condition")
		default:
			all = append(all, MovedResource{From: id, To: here, Type: leaves.Type})
		}
	}
	return all, refusals
}

// unmovable says why CloudFormation moves no resource of a type; empty if it may.
func unmovable(typ string) string {
	known, ok := resource.Named(typ)
	switch {
	case strings.HasPrefix(typ, "Custom::"), typ == "AWS::CloudFormation::CustomResource", typ == "AWS::CloudFormation::Stack", !ok:
		return "CloudFormation moves no resource of the type " + typ
	case len(known.Identifier) == 0:
		return "CloudFormation moves only resources that it can import, and none of the type " + typ
	case typ == "AWS::EC2::KeyPair": // "does not support AWS::EC2::KeyPair because the resource type does not allow tag updates after creation"
		return "CloudFormation moves no resource of the type " + typ + ", whose tags cannot be changed"
	}
	return ""
}

// now says why CloudFormation cannot move resources between the two stacks as they are.
func (r relocation) now(all []MovedResource) []error {
	var refusals []error
	if r.Desired.Nodes[r.From].Target != r.Desired.Nodes[r.To].Target {
		refusals = append(refusals, r.refuse("the two stacks have different targets: CloudFormation moves resources within one account and region"))
	}
	for _, name := range r.nodes() {
		refusals = append(refusals, r.stack(name)...)
	}
	if len(all) == len(r.from.Template.ResourceNames()) {
		refusals = append(refusals, r.refuse("%s would have no resource left, and CloudFormation has no empty stacks: add another resource to it and deploy that first", r.From))
	}
	if len(refusals) == 0 {
		refusals = r.leftovers(all)
	}
	if len(refusals) > 0 {
		return refusals
	}
	for _, moved := range all {
		if what := r.differs(moved); what != "" {
			refusals = append(refusals, r.stop(moved.From, "%s: CloudFormation changes no resource that it moves; write it as it is deployed, and change it in a later deploy", what))
		}
	}
	return refusals
}

// stack says why CloudFormation cannot move resources from or into one of the stacks.
func (r relocation) stack(name string) []error {
	var refusals []error
	add := func(format string, args ...any) { refusals = append(refusals, r.refuse(format, args...)) }
	switch s := r.Live[name].Status; {
	case s.Busy():
		add("stack %s is %s: wait until this operation has ended", name, s)
	case !s.Good() && !s.Restored():
		add("stack %s is %s: deploy it without move_from: first, until an update succeeds", name, s)
	}
	if f := r.Found[name]; f.Template.Macros() || f.Desired.Macros() {
		add("the template of %s has macros, and only CloudFormation knows what they make of it", name)
	}
	if about, _ := r.selected(); about != nil && !about[name] {
		add("the selection leaves %s out: select both stacks", name)
	}
	for _, other := range r.Moving() {
		if (other.From == name || other.To == name) && (other.From != r.From || other.To != r.To) {
			add("%s takes part in another move too, between %s and %s: deploy one of them first", name, other.From, other.To)
		}
	}
	if imports := r.pendingImports(name); imports != "" {
		add("%s imports %s in the same deploy: deploy without one of the two keys first", name, imports)
	}
	return refusals
}

// leftovers says what of the two stacks would not be as it was but for the resources that move.
func (r relocation) leftovers(all []MovedResource) []error {
	var refusals []error
	add := func(format string, args ...any) { refusals = append(refusals, r.refuse(format, args...)) }
	for _, name := range r.nodes() {
		if invalid := r.Found[name].Moved.Invalid; invalid != "" {
			add("CloudFormation changes nothing else in a move, and the template from which %s is deployed is invalid %s: %s; deploy first what is missing, and replace references between the two stacks by parameters",
				name, map[bool]string{true: "without it", false: "with it"}[name == r.From], invalid)
		}
	}
	for _, o := range r.from.Template.ReferringOutputs(movedIDs(all)) {
		if r.from.Template.Outputs[o].Export != nil {
			add("the output %s of %s, which is exported, refers to it: deploy %s first without this output, when no stack imports it", o, r.From, r.From)
		}
	}
	return refusals
}

// pendingImports names the resources that a stack imports in this plan; empty if it imports none.
func (v View) pendingImports(name string) string {
	if !slices.Contains(v.Importing(), name) {
		return ""
	}
	all, _ := v.Imports(name) // the plan reports the error
	return ids(all)
}

func movedIDs(all []MovedResource) []string {
	var names []string
	for _, r := range all {
		names = append(names, r.From)
	}
	return names
}
