package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// Templates returns the template of a digest, or an error that says why it cannot be
// read.
type Templates func(digest string) (*template.Template, error)

// Describe says what p, a plan that was made from v, changes in each stack.
func (v View) Describe(p Plan, templates Templates) Changes {
	all := Changes{
		Format: ChangesFormat, Project: v.Desired.Name, Environment: v.Desired.Environment,
		Stacks: []StackChange{}, Summary: Summary{Unchanged: len(p.Unchanged)}, Steps: []PlannedStep{},
	}
	d := describer{v, templates, make(map[string]bool), make(map[string]func(output string) string), make(map[place]map[string]string)}
	for _, r := range v.Recorded {
		d.moved[r.formerNode()] = true
	}
	verbs := make(map[string][]Step)
	for _, s := range p.Steps {
		step := PlannedStep{Step: s.ID, After: []string{}, Seconds: s.Expected}
		for _, i := range s.After {
			step.After = append(step.After, p.Steps[i].ID)
		}
		all.Steps = append(all.Steps, step)
		verbs[s.Node] = append(verbs[s.Node], s)
	}
	described := make(map[string]int)
	for _, s := range p.Steps {
		steps := verbs[s.Node]
		// A stack is listed at the place of its last step.
		if described[s.Node]++; s.Node == "" || described[s.Node] < len(steps) || action(steps) == "" {
			continue
		}
		c := d.stack(s.Node, steps)
		all.Stacks = append(all.Stacks, c)
		all.Summary.count(c)
	}
	return all
}

// TemplateDigests lists the templates that Describe reads: those of the nodes with steps,
// as they are deployed and as they are desired, each once.
func (v View) TemplateDigests(p Plan) []string {
	all := make(map[string]bool)
	for _, s := range p.Steps {
		all[v.Recorded[s.Node].Template] = true
		if n, ok := v.Desired.Nodes[s.Node]; ok {
			all[n.Template.Digest] = true
		}
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// A describer describes the stacks of a plan, each after its dependencies.
type describer struct {
	View
	templates Templates
	moved     map[string]bool // nodes that get another physical name, account or region

	// uncertain says, for each stack that was described, why the value of an output is
	// not known; "" if it stays as it is.
	uncertain map[string]func(output string) string

	// exports says, for each export of a stack that was described, why its value may
	// change.
	exports map[place]map[string]string
}

// A place is an account and a region: names of exports are unique there.
type place struct{ account, region string }

func placeOf(t project.Target) place { return place{t.Account, t.Region} }

// stack describes one stack.
func (d describer) stack(name string, steps []Step) StackChange {
	n, desired := d.Desired.Nodes[name]
	r, live := d.Recorded[name], d.Live[name]
	c := StackChange{
		Stack: name, Target: n.Target.Name, Name: n.Stack, Certainty: Certain, Action: action(steps), Reasons: []string{},
		Parameters: []ValueChange{}, Tags: []ValueChange{}, Options: []ValueChange{}, Resources: []ResourceChange{}, Outputs: []OutputChange{},
	}
	if !desired {
		c.Stack, c.Target, c.Name = cmp.Or(r.formerNode(), name), r.Target.Name, r.Stack
	}
	if c.Action == ActionUpdate && (slices.ContainsFunc(steps, func(s Step) bool { return s.Possible }) || live.Status.Busy() || live.Status.Stuck() || d.inaccessible(name)) {
		c.Certainty = Possible
	}
	for _, s := range steps {
		c.Steps = append(c.Steps, s.ID)
		c.Deployment = cmp.Or(c.Deployment, s.Deployment)
	}
	c.Reasons = append(c.Reasons, d.reasons(name, c.Action)...)
	before, after := d.sides(&c, n, r, live)
	uncertain := make(map[string]string)
	if desired && !d.inaccessible(name) {
		after.Scope.Parameters = maps.Clone(defaults(after.Template))
		uncertain = d.values(&c, n, before, after)
	}
	compared := comparable(c.Action, before, after)
	if compared {
		diff := difference.Of(before, after, difference.Uncertain{
			Parameters: because(uncertain), Exports: d.exports[placeOf(n.Target)], Tags: c.Action == ActionUpdate && len(c.Tags) > 0,
		})
		d.add(&c, diff)
		differs := c.Action == ActionDelete || r.Template != n.Template.Digest || len(c.Parameters)+len(c.Resources) > 0
		c.UnknownDataLoss = c.UnknownDataLoss || diff.Hidden && differs
	}
	d.uncertain[name] = d.outputsOf(c, compared)
	if after.Template != nil {
		d.addExports(c, placeOf(n.Target), after)
	}
	if after.Template != nil {
		c.Warnings = difference.Unknown(after.Template)
	}
	if desired {
		d.explain(&c, n, compared)
	}
	return c
}

// addExports adds the exports of a stack whose values may change.
func (d describer) addExports(c StackChange, at place, after difference.Side) {
	for _, e := range after.Template.In(after.Scope).Exports() {
		if d.uncertain[c.Stack](e.Output) == "" {
			continue
		}
		if d.exports[at] == nil {
			d.exports[at] = make(map[string]string)
		}
		d.exports[at][e.Name] = fmt.Sprintf("export %s of %s may change", e.Name, c.Stack)
	}
}

// because says of each parameter why a value that refers to it may change.
func because(uncertain map[string]string) map[string]string {
	all := make(map[string]string, len(uncertain))
	for name := range uncertain {
		all[name] = fmt.Sprintf("parameter %s may change", name)
	}
	return all
}

// comparable reports whether the templates that an action needs are known.
func comparable(a StackAction, before, after difference.Side) bool {
	switch a {
	case ActionCreate, ActionReplace:
		return after.Template != nil
	case ActionDelete:
		return before.Template != nil
	}
	return before.Template != nil && after.Template != nil
}

// action is what the steps of a stack do; empty if they only wait.
func action(steps []Step) StackAction {
	has := func(v Verb) bool { return slices.ContainsFunc(steps, func(s Step) bool { return s.Verb == v }) }
	switch {
	case has(Create) && has(Delete):
		return ActionReplace
	case has(Create):
		return ActionCreate
	case has(Update):
		return ActionUpdate
	case has(Forget):
		return ActionForget
	case has(Delete):
		return ActionDelete
	}
	return ""
}

// reasons says what about the stack itself, not its files, makes the plan have steps for
// it.
func (d describer) reasons(name string, a StackAction) []string {
	n, desired := d.Desired.Nodes[name]
	r, live := d.Recorded[name], d.Live[name]
	_, recorded := d.Recorded[name]
	var all []string
	add := func(when bool, format string, args ...any) {
		if when {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	exists := !live.Status.Gone()
	switch {
	case live.AccessError != "":
		return []string{"could not be read, so it is not known what changes"}
	case a == ActionForget:
		return []string{"its stack is gone: only its record is deleted"}
	case !desired && r.formerNode() != "":
		return []string{fmt.Sprintf("%s gets another physical name, account or region: a new stack is created, and this one is deleted", r.formerNode())}
	case !desired && len(d.Desired.Nodes) == 0: // a destroy deletes all stacks
		return nil
	case !desired:
		return []string{"no longer in the project"}
	case !exists && !recorded && d.moved[name]:
		return []string{"gets another physical name, account or region: this stack is created, and the former one is deleted"}
	case !exists && !recorded:
		return []string{"new in the project"}
	case !exists:
		return []string{"deleted outside Stackwright, or never created"}
	case a == ActionReplace:
		return []string{fmt.Sprintf("never finished: it is %s and can only be created again", live.Status)}
	}
	add(live.Status.Busy(), "another operation is in progress: %s", live.Status)
	add(live.Status.Stuck(), "never finished: it is %s, and its rollback is continued first", live.Status)
	add(r.Digest == "" && !live.Status.Busy() && !live.Status.Stuck(), "never finished: its last operation failed or was interrupted")
	add(d.changedOutside(name), "changed outside Stackwright since it was last deployed")
	add(recorded && !slices.Equal(n.Needs, r.Needs), "depends on other stacks than before")
	add(r.Current(live) && !maps.Equal(r.Outputs, live.Outputs), "its outputs are not those that are recorded")
	return all
}

// changedOutside reports whether somebody else has changed the live stack of a node since its
// record was written.
func (d describer) changedOutside(name string) bool {
	r, live := d.Recorded[name], d.Live[name]
	return !live.Status.Gone() && live.AccessError == "" && r.StackID == live.StackID && !live.Status.Busy() && !r.LastUpdated.Equal(live.LastUpdated)
}

// sides returns the stack as it is deployed and as it is desired. A side without template
// does not exist or is not known; a caveat says the latter.
func (d describer) sides(c *StackChange, n project.Node, r Record, live Live) (before, after difference.Side) {
	read := func(digest, what string) *template.Template {
		t, err := d.templates(digest)
		if err != nil {
			c.Caveats = append(c.Caveats, fmt.Sprintf("%s is not compared: %v", what, err))
			return nil
		}
		return t
	}
	if n.Name != "" {
		after.Template = read(n.Template.Digest, "the template")
		after.Scope = scope(n.Stack, live.StackID, n.Target)
	}
	why := ""
	switch {
	case c.Action == ActionCreate, c.Action == ActionForget:
		return before, after
	case c.Action == ActionReplace:
		c.UnknownDataLoss = live.Status == "DELETE_FAILED" // the others have never held data
		return before, after
	case d.changedOutside(r.Node):
		why = "the stack was changed outside Stackwright"
	case r.Template == "" || !live.Status.Good() && !live.Status.Restored():
		why = "what is deployed is not known"
	}
	switch {
	case why == "":
		before.Template = read(r.Template, "the template that is deployed")
	case c.Action == ActionDelete && r.Template != "":
		before.Template = read(r.Template, "the template that was last deployed")
		c.Caveats = append(c.Caveats, why+": the resources are those of the template that Stackwright last deployed")
	default:
		c.Caveats = append(c.Caveats, why+", so its template is not compared")
	}
	c.UnknownDataLoss = why != "" || !comparable(c.Action, before, after)
	before.Scope = scope(r.Stack, live.StackID, r.Target)
	before.Scope.Parameters = live.Parameters
	return before, after
}

func scope(stack, id string, t project.Target) template.Scope {
	return template.Scope{StackName: stack, StackID: id, AccountID: t.Account, Region: t.Region}
}

func defaults(t *template.Template) map[string]string {
	if t == nil {
		return map[string]string{}
	}
	return t.Defaults()
}

// add puts the difference of the templates into c.
func (d describer) add(c *StackChange, diff difference.Difference) {
	c.Caveats = append(c.Caveats, diff.Caveats...)
	for _, r := range diff.Resources {
		change := ResourceChange{
			ID: r.ID, Type: r.Type, FormerType: r.FormerType, Action: r.Action, Possible: r.Possible, Replacement: r.Replacement, Refused: r.Refused,
			DataLoss: r.LosesData(), PossibleDataLoss: r.MayLoseData(), Loses: r.Loses, Policy: r.Kept,
		}
		for _, p := range r.Properties {
			change.Properties = append(change.Properties, PropertyChange{
				Path: p.Path, Before: p.Before, After: p.After, CreateOnly: p.Replacement == resource.Always, Replacement: p.Replacement,
				Attribute: p.Attribute, Secret: p.Secret, Because: p.Because,
			})
		}
		c.Replaces = c.Replaces || r.Action == difference.Replace
		c.DataLoss, c.PossibleDataLoss = c.DataLoss || change.DataLoss, c.PossibleDataLoss || change.PossibleDataLoss
		c.Resources = append(c.Resources, change)
	}
	for _, o := range diff.Outputs {
		change := OutputChange{Name: o.Name, Action: o.Action, Why: o.Because}
		if o.NoLonger {
			change.Export = o.Export
		}
		if o.NoLonger || o.Action == difference.Remove {
			change.Users = d.dependentsOf(c.Stack)
		}
		if importers := d.importersOf(c.Stack, o.Export); c.Action == ActionUpdate && len(importers) > 0 {
			change.Refused = fmt.Sprintf("it changes no export that is in use: %s imports %s", strings.Join(importers, ", "), o.Export)
		}
		c.Outputs = append(c.Outputs, change)
	}
}

// dependentsOf lists the stacks that stay and depend on a node, as they are recorded,
// sorted.
func (d describer) dependentsOf(node string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(d.Recorded)) {
		if _, stays := d.Desired.Nodes[name]; stays && slices.Contains(d.Recorded[name].Needs, node) {
			all = append(all, d.Recorded[name].displayName())
		}
	}
	return all
}

// importersOf lists the live stacks whose deployed templates import an export of a node,
// sorted, as far as the plan reads their templates.
func (d describer) importersOf(node, export string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(d.Recorded)) {
		r, live := d.Recorded[name], d.Live[name]
		if export == "" || live.Status.Gone() || r.Template == "" || !slices.Contains(r.Needs, node) || placeOf(r.Target) != placeOf(d.Recorded[node].Target) {
			continue
		}
		t, err := d.templates(r.Template)
		if err != nil {
			continue // a caveat of that stack says so
		}
		s := scope(r.Stack, live.StackID, r.Target)
		s.Parameters = live.Parameters
		if slices.ContainsFunc(t.In(s).Imports(), func(i template.Import) bool { return i.Name == export }) {
			all = append(all, r.displayName())
		}
	}
	return all
}

// outputsOf returns why the outputs of a stack are not known before it is deployed.
func (d describer) outputsOf(c StackChange, compared bool) func(output string) string {
	changed := make(map[string]bool)
	for _, o := range c.Outputs {
		changed[o.Name] = true
	}
	return func(output string) string {
		_, has := d.outputs(c.Stack)[output]
		switch {
		case c.Action == ActionCreate || c.Action == ActionReplace:
			return fmt.Sprintf("known when %s is created", c.Stack)
		case !compared || changed[output] || !has:
			return fmt.Sprintf("known when %s is deployed", c.Stack)
		}
		return ""
	}
}

// explain adds what differs to the reasons, and why a stack without differences has a
// step.
func (d describer) explain(c *StackChange, n project.Node, compared bool) {
	if c.Action != ActionUpdate {
		return
	}
	var parts []string
	for _, p := range []struct {
		what string
		all  []ValueChange
	}{{"parameters", c.Parameters}, {"tags", c.Tags}, {"options", c.Options}} {
		if slices.ContainsFunc(p.all, func(v ValueChange) bool { return v.Known }) {
			parts = append(parts, p.what)
		}
	}
	if r := d.Recorded[n.Name]; compared && r.Template != n.Template.Digest {
		parts = append(parts, "template")
	}
	if len(parts) > 0 {
		c.Reasons = append(c.Reasons, "changed here: "+strings.Join(parts, ", "))
	}
	for _, need := range n.Needs {
		if _, changes := d.uncertain[need]; changes && c.Certainty == Possible {
			c.Reasons = append(c.Reasons, "depends on "+need+", which changes")
		}
	}
	switch {
	case !compared || len(c.Parameters)+len(c.Tags)+len(c.Options)+len(c.Resources)+len(c.Outputs) > 0:
	case !n.Template.Pinned:
		if len(c.Reasons) == 0 {
			c.Certainty = Possible
		}
		c.Caveats = append(c.Caveats, "CloudFormation decides whether anything changes: the stack uses "+strings.Join(d.unpinned(n), ", "))
	default:
		c.Caveats = append(c.Caveats, "no difference was found")
	}
}

// unpinned names what the values of a stack are not known by: macros, nested stacks, and
// references to values that have no version.
func (d describer) unpinned(n project.Node) []string {
	var all []string
	if t, err := d.templates(n.Template.Digest); err == nil {
		for _, l := range t.Loose() {
			what := l.What
			if difference.Secret(what) { // the plan shows no reference to a secret
				what = "a secret without a version"
			}
			all = append(all, fmt.Sprintf("%s (line %d)", what, l.Line))
		}
	}
	if len(all) == 0 {
		return []string{"a value without a version in its parameters or tags"}
	}
	return all
}
