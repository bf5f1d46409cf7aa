package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Move is resources that go from the stack of one node into that of another, by
// CloudFormation's stack refactoring.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-refactoring.html
type Move struct {
	From, To  string            // nodes
	Resources map[string]string // their IDs in the template of To, by those in the template of From
}

// Back is the move that undoes m.
func (m Move) Back() Move {
	back := Move{From: m.To, To: m.From, Resources: make(map[string]string)}
	for from, to := range m.Resources {
		back.Resources[to] = from
	}
	return back
}

// Moves reports whether s moves resources into its stack.
func (s Step) Moves() bool {
	m, moves := movementOf(s)
	return moves && !m.Leaving
}

// MovesBack lists the moves that undo those of the steps of a run, which may have been carried
// out or not.
func MovesBack(steps []Step) []Move {
	var all []Move
	for _, s := range steps {
		if m, _ := movementOf(s); s.Moves() {
			all = append(all, m.Move().Back())
		}
	}
	return all
}

// Moves lists the moves that a project's files demand, sorted.
func Moves(desired project.Project) []Move {
	var all []Move
	for _, to := range slices.Sorted(maps.Keys(desired.Nodes)) {
		for _, from := range slices.Sorted(maps.Keys(desired.Nodes[to].MoveFrom)) {
			all = append(all, Move{From: from, To: to, Resources: desired.Nodes[to].MoveFrom[from]})
		}
	}
	return all
}

// A Movement is the arguments of the verbs MoveOut and MoveIn.
type Movement struct {
	Leaving   bool            `json:"leaving,omitempty"` // the step is that of the source
	Source    MovedStack      `json:"source"`
	Target    MovedStack      `json:"target"`
	Resources []MovedResource `json:"resources"` // sorted by their IDs in the source
}

// MovementVersion is the version of Movement.
const MovementVersion = 1

// movementOf returns what a step moves. It reports false if it moves nothing.
func movementOf(s Step) (Movement, bool) {
	var m Movement
	err := s.Arguments.Read(MovementVersion, &m)
	return m, err == nil && m.Source.Node != ""
}

// Move returns what the movement does.
func (m Movement) Move() Move {
	move := Move{From: m.Source.Node, To: m.Target.Node, Resources: make(map[string]string)}
	for _, r := range m.Resources {
		move.Resources[r.From] = r.To
	}
	return move
}

// A MovedStack is one of the two stacks of a movement.
type MovedStack struct {
	Node        string    `json:"node"`
	Stack       string    `json:"stack"`
	StackID     string    `json:"stack_id"`
	LastUpdated time.Time `json:"last_updated"` // as the plan has seen it
	Template    string    `json:"template"`     // the digest of its template after the move
	Bytes       int       `json:"bytes"`        // the size of that template
}

// A MovedResource is a resource that moves.
type MovedResource struct {
	From string `json:"from"` // its ID in the template of the source
	To   string `json:"to"`   // its ID in the template of the target
	Type string `json:"type"`
}

// A Moved is what a plan knows of a stack from or into which resources move.
type Moved struct {
	Template *template.Template // after the move; nil if there is none
	Digest   string             // of that template
	Bytes    int                // its size
	Invalid  string             // why CloudFormation would refuse that template; empty if it would not
}

// Moving lists the moves of which the stacks may not have the outcome yet. A stack that was
// deployed from the desired template has it.
func (v View) Moving() []Move {
	about, _ := v.selected()
	var all []Move
	for _, m := range v.Moves {
		n, r, live := v.Desired.Nodes[m.To], v.Recorded[m.To], v.Live[m.To]
		done := v.managed(m.To) && r.Current(live) && r.Template == n.Template.Digest
		if !done && (about == nil || about[m.From] || about[m.To]) {
			all = append(all, m)
		}
	}
	return all
}

// Movable reports whether both stacks of a move exist and can be read, so that their
// templates say whether the move is possible.
func (v View) Movable(m Move) bool {
	for _, name := range []string{m.From, m.To} {
		if _, desired := v.Desired.Nodes[name]; !desired || !v.managed(name) || v.inaccessible(name) {
			return false
		}
	}
	return true
}

// Arriving lists the resources of a move that the target does not have yet. It refuses all that
// CloudFormation cannot move, at once. Found has the templates.
func (v View) Arriving(m Move) ([]MovedResource, error) {
	refuse := func(format string, args ...any) error {
		return fault.New(fault.Refused, "stack %s: no resource can be moved from %s: "+format, append([]any{m.To, m.From}, args...)...)
	}
	for _, name := range []string{m.From, m.To} {
		switch _, desired := v.Desired.Nodes[name]; {
		case !desired:
			return nil, refuse("the project's files have no stack %s", name)
		case v.inaccessible(name):
			return nil, refuse("stack %s cannot be read: %s", name, v.Live[name].AccessError)
		case !v.managed(name) && v.Live[name].Status.Gone():
			return nil, refuse("stack %s does not exist: deploy it first, with another resource and without move_from:", name)
		case !v.managed(name):
			return nil, refuse("Stackwright does not manage the stack of %s yet: adopt it first", name)
		}
	}
	from, to := v.Found[m.From], v.Found[m.To]
	for _, one := range []struct {
		name  string
		found Found
	}{{m.From, from}, {m.To, to}} {
		switch {
		case one.found.Unreadable != "":
			return nil, refuse("the template of %s cannot be read: %s: allow cloudformation:GetTemplate", one.name, one.found.Unreadable)
		case one.found.Template == nil:
			return nil, refuse("the template from which %s is deployed cannot be understood: deploy it first without move_from:", one.name)
		case one.found.Desired == nil:
			return nil, refuse("the template of %s cannot be understood: run stackwright validate", one.name)
		}
	}
	var all []MovedResource
	var refusals []error
	for _, id := range slices.Sorted(maps.Keys(m.Resources)) {
		here := m.Resources[id]
		declared, wanted := to.Desired.Resources[here]
		leaves, there := from.Template.Resources[id]
		_, arrived := to.Template.Resources[here]
		_, stays := from.Desired.Resources[id]
		stop := func(format string, args ...any) {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: %s cannot be moved from %s: "+format, append([]any{m.To, id, m.From}, args...)...))
		}
		switch {
		case !wanted:
			stop("the template of %s has no resource %s%s", m.To, here, suggest.Hint(here, to.Desired.ResourceNames()))
		case arrived && !there: // it was moved before
		case !there:
			stop("%s has no such resource%s", m.From, suggest.Hint(id, from.Template.ResourceNames()))
		case arrived:
			stop("%s has a resource %s already: write another ID in its template", m.To, here)
		case stays:
			stop("the template of %s still has it: remove it there", m.From)
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
	if len(refusals) > 0 || len(all) == 0 {
		return all, errors.Join(refusals...)
	}
	return all, errors.Join(v.immovable(m, all, refuse)...)
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

// immovable says why CloudFormation cannot move resources between two stacks now.
func (v View) immovable(m Move, all []MovedResource, refuse func(string, ...any) error) []error {
	from, to := v.Found[m.From], v.Found[m.To]
	var refusals []error
	add := func(format string, args ...any) { refusals = append(refusals, refuse(format, args...)) }
	if v.Desired.Nodes[m.From].Target != v.Desired.Nodes[m.To].Target {
		add("the two stacks have different targets: CloudFormation moves resources within one account and region")
	}
	for _, name := range []string{m.From, m.To} {
		switch s := v.Live[name].Status; {
		case s.Busy():
			add("stack %s is %s: wait until this operation has ended", name, s)
		case !s.Good() && !s.Restored():
			add("stack %s is %s: deploy it without move_from: first, until an update succeeds", name, s)
		}
		if f := v.Found[name]; f.Template.Macros() || f.Desired.Macros() {
			add("the template of %s has macros, and only CloudFormation knows what they make of it", name)
		}
		if about, _ := v.selected(); about != nil && !about[name] {
			add("--only does not name %s: name both stacks", name)
		}
		for _, other := range v.Moving() {
			if (other.From == name || other.To == name) && (other.From != m.From || other.To != m.To) {
				add("%s takes part in another move too, between %s and %s: deploy one of them first", name, other.From, other.To)
			}
		}
		if imports := v.pendingImports(name); imports != "" {
			add("%s imports %s in the same deploy: deploy without one of the two keys first", name, imports)
		}
	}
	if len(all) == len(from.Template.ResourceNames()) {
		add("%s would have no resource left, and CloudFormation has no empty stacks: add another resource to it and deploy that first", m.From)
	}
	if len(refusals) > 0 {
		return refusals
	}
	for _, one := range []struct {
		name  string
		moved Moved
	}{{m.From, from.Moved}, {m.To, to.Moved}} {
		if one.moved.Invalid != "" {
			add("CloudFormation changes nothing else in a move, and the template from which %s is deployed is invalid %s: %s; deploy first what is missing, and replace references between the two stacks by parameters",
				one.name, map[bool]string{true: "without it", false: "with it"}[one.name == m.From], one.moved.Invalid)
		}
	}
	for _, o := range from.Template.ReferringOutputs(movedIDs(all)) {
		if from.Template.Outputs[o].Export != nil {
			add("the output %s of %s, which is exported, refers to it: deploy %s first without this output, when no stack imports it", o, m.From, m.From)
		}
	}
	if len(refusals) > 0 {
		return refusals
	}
	for _, r := range all {
		if what := v.differs(m, r); what != "" {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: %s cannot be moved from %s: %s: CloudFormation changes no resource that it moves; write it as it is deployed, and change it in a later deploy", m.To, r.From, m.From, what))
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

// differs says in what a resource would differ after a move; empty if it is the same.
func (v View) differs(m Move, r MovedResource) string {
	before, leaves := v.evaluation(m.From, v.Found[m.From].Template), v.Found[m.From].Template.Resources[r.From]
	after, arrives := v.evaluation(m.To, v.Found[m.To].Moved.Template), v.Found[m.To].Moved.Template.Resources[r.To]
	for _, a := range []struct {
		what     string
		old, new *template.Expr
	}{
		{"Properties", leaves.Properties, arrives.Properties}, {"Metadata", leaves.Metadata, arrives.Metadata},
		{"CreationPolicy", leaves.CreationPolicy, arrives.CreationPolicy}, {"UpdatePolicy", leaves.UpdatePolicy, arrives.UpdatePolicy},
		{"DeletionPolicy", leaves.DeletionPolicy, arrives.DeletionPolicy}, {"UpdateReplacePolicy", leaves.UpdateReplacePolicy, arrives.UpdateReplacePolicy},
	} {
		was, is := renamed(before.Reduce(a.old), m.Resources), after.Reduce(a.new)
		for _, value := range []any{was, is} {
			for _, ref := range template.References(value) {
				if moves := slices.Contains(slices.Collect(maps.Values(m.Resources)), ref.Name); ref.Export == "" && !moves {
					return fmt.Sprintf("its %s refer to %s, whose value is not known or differs between the stacks", a.what, ref.Name)
				}
			}
		}
		if !sameValue(was, is) {
			return fmt.Sprintf("its %s differ: %s in %s, %s in %s", a.what, short(was), m.From, short(is), m.To)
		}
	}
	return ""
}

// evaluation evaluates a template with the live values of a stack's parameters. Those with
// NoEcho are not known.
func (v View) evaluation(name string, t *template.Template) *template.Evaluation {
	n, live := v.Desired.Nodes[name], v.Live[name]
	in := scope(n.Stack, live.StackID, n.Target)
	in.Parameters = make(map[string]string)
	for parameter, value := range live.Parameters {
		if value != hidden {
			in.Parameters[parameter] = value
		}
	}
	return t.In(in)
}

// renamed returns a reduced value with the names that the resources to which it refers have after the move.
func renamed(value any, names map[string]string) any {
	switch value := value.(type) {
	case []any:
		all := make([]any, len(value))
		for i, item := range value {
			all[i] = renamed(item, names)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(value))
		for key, item := range value {
			all[key] = renamed(item, names)
		}
		return all
	case template.Call:
		call := template.Call{Name: value.Name, Arguments: make([]any, len(value.Arguments))}
		for i, argument := range value.Arguments {
			call.Arguments[i] = renamed(argument, names)
		}
		if (call.Name == "Ref" || call.Name == "Fn::GetAtt") && len(call.Arguments) > 0 {
			if name, ok := call.Arguments[0].(string); ok {
				call.Arguments[0] = cmp.Or(names[name], name)
			}
		}
		return call
	}
	return value
}

// sameValue reports whether two reduced values are equal.
func sameValue(a, b any) bool {
	was, first := json.Marshal(a)
	is, second := json.Marshal(b)
	return first == nil && second == nil && bytes.Equal(was, is)
}

// short returns a reduced value in at most 80 characters.
func short(value any) string {
	text := []rune(template.Compact(value))
	if len(text) > 80 {
		return string(text[:79]) + "…"
	}
	return string(text)
}

// movements returns the steps of all moves, by the nodes to which they belong: the source's is
// first.
func (v View) movements() (leaving, arriving map[string]Step, moves []Move, err error) {
	leaving, arriving = make(map[string]Step), make(map[string]Step)
	var refusals []error
	for _, m := range v.Moving() {
		all, err := v.Arriving(m)
		if err != nil || len(all) == 0 {
			refusals = append(refusals, err)
			continue
		}
		movement := Movement{Source: v.movedStack(m.From), Target: v.movedStack(m.To), Resources: all}
		arriving[m.To], err = movement.step(MoveIn, v.Desired.Nodes[m.To].Timeout)
		if movement.Leaving = true; err == nil {
			leaving[m.From], err = movement.step(MoveOut, 0)
		}
		if err != nil {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: too many resources move from %s at once: move them in several deploys (%w)", m.To, m.From, err))
			continue
		}
		moves = append(moves, m)
	}
	return leaving, arriving, moves, errors.Join(refusals...)
}

func (m Movement) step(v Verb, timeout project.Timeout) (Step, error) {
	arguments, err := NewArguments(MovementVersion, m)
	return Step{Verb: v, Arguments: arguments, Timeout: timeout}, err
}

func (v View) movedStack(name string) MovedStack {
	live, moved := v.Live[name], v.Found[name].Moved
	return MovedStack{Node: name, Stack: v.Desired.Nodes[name].Stack, StackID: live.StackID, LastUpdated: live.LastUpdated, Template: moved.Digest, Bytes: moved.Bytes}
}

// move adds the steps of the moves: the source records that its template is not known, then CloudFormation moves the
// resources, and then both stacks are deployed. A move depends on nothing else, because it changes nothing else.
func (b *builder) move() {
	for _, m := range b.moves {
		out, in := b.leaving[m.From], b.arriving[m.To]
		out.ID, out.Node, out.Where = StepID(m.From, MoveOut, ""), m.From, b.view.where(m.From)
		in.ID, in.Node, in.Where = StepID(m.To, MoveIn, ""), m.To, b.view.where(m.To)
		b.steps[out.ID], b.steps[in.ID] = out, in
		b.graph.Add(in.ID, out.ID)
		for _, name := range []string{m.From, m.To} {
			b.graph.Add(b.deploys.first(name), in.ID)
		}
	}
}

// Relocated reports whether the change moves a resource between stacks.
func (r ResourceChange) Relocated() bool { return r.Action == difference.Move }

// moved returns what the steps of a stack move, for people, and the rows of the resources.
func moved(name string, steps []Step) (reason string, rows []ResourceChange) {
	for _, s := range steps {
		a, moves := movementOf(s)
		if !moves {
			continue
		}
		var what []string
		for _, r := range a.Resources {
			row := ResourceChange{ID: r.To, Type: r.Type, Action: difference.Move, Replacement: resource.Never, MovedFrom: a.Source.Node + "." + r.From}
			if a.Leaving {
				row = ResourceChange{ID: r.From, Type: r.Type, Action: difference.Move, Replacement: resource.Never, MovedTo: a.Target.Node + "." + r.To}
			}
			what, rows = append(what, row.ID), append(rows, row)
		}
		if reason = "takes " + listed(what) + " from " + a.Source.Node; a.Leaving {
			reason = "gives " + listed(what) + " to " + a.Target.Node
		}
	}
	return reason, rows
}

// leavingOutputs lists the outputs that go away with the resources that they refer to.
func (d describer) leavingOutputs(name string, relocated []ResourceChange, after *template.Template) []OutputChange {
	var all []OutputChange
	if len(relocated) == 0 || after == nil {
		return nil
	}
	for _, output := range d.Found[name].Template.OutputNames() {
		_, kept := d.Found[name].Moved.Template.Outputs[output]
		if _, stays := after.Outputs[output]; !kept && !stays {
			all = append(all, OutputChange{Name: output, Action: difference.Remove, Users: d.dependentsOf(name)})
		}
	}
	return all
}
