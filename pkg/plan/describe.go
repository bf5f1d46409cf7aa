package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
	c, _ := v.choose() // the plan is made, so nothing is refused
	v.about = c.about
	all := Changes{
		Format: ChangesFormat, Project: v.Desired.Name, Environment: v.Desired.Environment,
		Stacks: []StackChange{}, Summary: Summary{Unchanged: len(p.Unchanged)}, Steps: []PlannedStep{}, Basis: []Basis{},
	}
	d := describer{
		View: v, templates: templates, moved: make(map[string]bool), dependents: dependents(v.Recorded),
		uncertain: make(map[string]func(output string) string), exports: make(map[place]map[string]string),
		candidates: &candidates{}, replacing: v.replacing(), names: make(map[string]named),
		fresh: make(map[string]named),
	}
	for _, r := range v.Recorded {
		d.moved[r.formerNode()] = true
	}
	all.Hooks = hooksOf(slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool { return s.Node != "" }))
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
	all.Cost, all.fresh = costOf(all.Stacks), d.fresh
	all.Targets = v.targets(p, all.Stacks)
	all.Messages = d.candidates.moveHints(p.Twins)
	all.Snapshots = p.Snapshots
	all.Selection = v.selection(c)
	return all
}

// TemplateDigests lists the templates that Describe reads: those of the nodes with steps,
// as they are desired and as they are deployed, each once.
func (v View) TemplateDigests(p Plan) (desired, deployed []string) {
	wanted, recorded := make(map[string]bool), make(map[string]bool)
	for _, s := range p.Steps {
		recorded[v.lastKnown(s.Node)] = true
		wanted[v.Desired.Nodes[s.Node].Template.Digest] = true
	}
	for digest := range wanted {
		delete(recorded, digest)
	}
	delete(wanted, "")
	delete(recorded, "")
	return slices.Sorted(maps.Keys(wanted)), slices.Sorted(maps.Keys(recorded))
}

// A describer describes the stacks of a plan, each after its dependencies.
type describer struct {
	View
	templates  Templates
	moved      map[string]bool     // nodes that get another physical name, account or region
	dependents map[string][]string // by node, as they are recorded

	// uncertain says, for each stack that was described, why the value of an output is
	// not known; "" if it stays as it is.
	uncertain map[string]func(output string) string

	// exports says, for each export of a stack that was described, why its value may
	// change.
	exports map[place]map[string]string

	replacing map[string]string // of a replace: why a stack is in the plan

	candidates *candidates // of the stacks that were described

	names map[string]named // the resources with names of their own of the stacks that were described
	fresh map[string]named // those that their stacks do not have yet
}

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
	if d.inaccessible(name) || c.Action == ActionUpdate && (slices.ContainsFunc(steps, func(s Step) bool { return s.Possible }) || live.Status.Busy() || live.Status.Stuck()) {
		c.Certainty = Possible
	}
	for _, s := range steps {
		c.Steps = append(c.Steps, s.ID)
		c.Deployment = cmp.Or(c.Deployment, s.Deployment)
	}
	c.Hooks = hooksOf(steps)
	c.DataLoss = lose(c.Hooks)
	c.Reasons = append(append(c.Reasons, d.reasons(name, c.Action)...), d.hookReasons(steps, n, r)...)
	c.Reasons = append(c.Reasons, retainReasons(steps)...)
	if c.Skips = skipsOf(steps); len(c.Skips) > 0 {
		c.Reasons = append(c.Reasons, "its rollback skips "+saySkipped(c.Skips))
	}
	imports, imported := importReason(steps)
	if imports != "" {
		c.Reasons = append(c.Reasons, imports)
	}
	moves, relocated := moved(name, steps)
	if moves != "" {
		c.Reasons = append(c.Reasons, moves)
	}
	if c.Action == ActionAdopt && asAdopted(steps) {
		c.Reasons = append(c.Reasons, "it is as the project says: nothing in AWS is changed")
		d.uncertain[name] = func(string) string { return "" }
		compared := c // what is compared is not shown
		before, after := d.sides(&compared, n, r, live)
		c.unread = compared.unread
		after.Scope.Parameters = maps.Clone(defaults(after.Template))
		c.desired = d.desired(n, r, before, after, d.values(&compared, n, before, after))
		return c
	}
	if c.Action.Existing() && r.Drifted() {
		c.Drifted = r.Drift.Resources
	}
	if c.Action == ActionRevert || c.Action.proposesSuspension() != "" { // only its change set, or what runs, says what changes
		return c
	}
	before, after := d.sides(&c, n, r, live)
	lost := d.lost(&c, steps, r, live)
	if len(relocated) > 0 { // the update begins with what the move leaves
		before = difference.Side{Template: d.Found[name].Moved.Template, Scope: scope(n.Stack, live.StackID, n.Target)}
		before.Scope.Parameters = parametersOf(live)
		c.Caveats, c.UnknownDataLoss = nil, !comparable(c.Action, before, after)
	}
	uncertain := make(map[string]string)
	if desired && !d.inaccessible(name) {
		after.Scope.Parameters = maps.Clone(defaults(after.Template))
		uncertain = d.values(&c, n, before, after)
	}
	compared := comparable(c.Action, before, after)
	c.uncompared = !compared
	if compared {
		diff := difference.Of(before, after, difference.Uncertain{
			Parameters: because(uncertain), Exports: d.exports[placeOf(n.Target)], Reads: d.readings(c, n),
			Tags: c.Action == ActionUpdate && len(c.Tags) > 0,
		})
		d.add(&c, diff)
		c.construct(before, after)
		for i, r := range c.Resources {
			if imported[r.ID] && r.Action == difference.Add {
				c.Resources[i].Action = difference.Import
			}
		}
		at := placeOf(n.Target)
		if !desired {
			at = placeOf(r.Target)
		}
		d.candidates.collect(c, at, before, after, uncertain)
		deployed, _ := d.TemplateOf(name)
		differs := c.Action == ActionDelete || deployed != n.Template.Digest || len(c.Parameters)+len(c.Resources) > 0
		c.UnknownDataLoss = c.UnknownDataLoss || diff.Hidden && differs
	}
	d.price(&c, steps, n, r, live, before, after, uncertain)
	if len(relocated) > 0 {
		c.Resources = append(relocated, c.Resources...)
	}
	lost(imported)
	c.Outputs = append(c.Outputs, d.leavingOutputs(name, relocated, after.Template)...)
	d.uncertain[name] = d.outputsOf(c, compared)
	if after.Template != nil {
		c.imported = cmp.Or(d.imported(placeOf(n.Target), after), d.anyReading(n))
		d.addExports(c, placeOf(n.Target), after)
		c.Warnings = append(c.Warnings, d.sameNames(c, placeOf(n.Target), before, after, uncertain)...)
	}
	c.Warnings = append(c.Warnings, policyDenies(c, n, r)...)
	c.desired = d.desired(n, r, before, after, uncertain)
	if desired {
		d.explain(&c, n, compared)
	}
	return c
}

// lost returns a function that makes c, if its stack is deleted to be created again although nothing is wrong with it, say what the deletion
// loses, as that of a stack that is deleted permanently does.
func (d describer) lost(c *StackChange, steps []Step, r Record, live Live) func(imported map[string]bool) {
	if !isReplaced(steps) {
		return func(map[string]bool) {}
	}
	deletion := StackChange{Stack: c.Stack, Action: ActionDelete}
	before, _ := d.sides(&deletion, project.Node{}, r, live)
	return func(imported map[string]bool) {
		c.Resources, c.Caveats = nil, append(c.Caveats, deletion.Caveats...)
		c.UnknownDataLoss = deletion.UnknownDataLoss
		if before.Template != nil {
			diff := difference.Of(before, difference.Side{}, difference.Uncertain{})
			outputs := c.Outputs
			d.add(c, diff)
			c.Outputs = outputs
			c.UnknownDataLoss = c.UnknownDataLoss || diff.Hidden
		}
		for i, r := range c.Resources {
			switch {
			case imported[r.ID]:
				c.Resources[i] = ResourceChange{ID: r.ID, Type: r.Type, Construct: r.Construct, Action: difference.Import, Replacement: resource.Never}
			case r.Policy == "Retain":
				c.Warnings = append(c.Warnings, fmt.Sprintf("%s stays in AWS, and no stack has it then: replace with --retain %s (options.retain of a request), which imports it into the new stack", r.ID, r.ID))
			}
		}
	}
}

// construct names the constructs of the resources that differ.
func (c *StackChange) construct(sides ...difference.Side) {
	for i, r := range c.Resources {
		for _, side := range sides {
			if side.Template == nil {
				continue
			}
			if path := side.Template.Resources[r.ID].Construct(); path != "" { // that of the desired template comes last
				c.Resources[i].Construct = path
			}
		}
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
	case ActionCreate, ActionReplace, ActionImport:
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
	case isReplaced(steps):
		return ActionReplace
	case has(Adopt):
		return ActionAdopt
	case has(Import):
		return ActionImport
	case has(Create) && has(Delete) && !deletesLeftover(steps):
		return ActionReplace
	case has(Create):
		return ActionCreate
	case has(Update):
		return ActionUpdate
	case has(Revert):
		return ActionRevert
	case has(Suspend):
		return ActionSuspend
	case has(Resume):
		return ActionResume
	case has(SetLevel):
		return ActionLevel
	case has(SetRetain):
		return ActionRetain
	case has(Forget):
		return ActionForget
	case has(Delete):
		return ActionDelete
	case has(Hook), has(SetHooks):
		return ActionHooks
	}
	return ""
}

// sides returns the stack as it is deployed and as it is desired. A side without template
// does not exist or is not known; a caveat says the latter.
func (d describer) sides(c *StackChange, n project.Node, r Record, live Live) (before, after difference.Side) {
	read := func(digest, what string) (*template.Template, error) {
		t, err := d.templates(digest)
		if err != nil {
			c.Caveats = append(c.Caveats, fmt.Sprintf("%s is not compared: %v", what, err))
		}
		return t, err
	}
	if n.Name != "" {
		after.Template, c.unread = read(n.Template.Digest, "the template")
		after.Scope = scope(n.Stack, live.StackID, n.Target)
	}
	digest, why := "", ""
	switch {
	case c.Action == ActionCreate, c.Action == ActionForget:
		return before, after
	case c.Action == ActionReplace:
		c.UnknownDataLoss = live.Status == "DELETE_FAILED" // the others have never held data
		return before, after
	case c.Action == ActionImport:
		before.Template = d.Found[n.Name].Template // nil if the import creates the stack
		before.Scope = scope(n.Stack, live.StackID, n.Target)
		before.Scope.Parameters = parametersOf(live)
		return before, after
	case c.Action == ActionAdopt:
		if before.Template = d.Found[n.Name].Template; before.Template == nil {
			c.Caveats = append(c.Caveats, "the template that is deployed cannot be understood, so it is not compared")
		}
		if lost := d.Found[n.Name].Lost; len(lost) > 0 {
			c.Caveats = append(c.Caveats, sayLost(lost))
		}
		c.UnknownDataLoss = before.Template == nil
		before.Scope = scope(n.Stack, live.StackID, n.Target)
		before.Scope.Parameters = parametersOf(live)
		return before, after
	case d.asMoved(r.Node) != nil:
		before.Template = d.Found[r.Node].Template
	default:
		digest, why = d.TemplateOf(r.Node)
	}
	switch {
	case before.Template != nil:
	case why == "":
		before.Template, _ = read(digest, "the template that is deployed") // a caveat says that it is not
		if lost := d.Deployed[r.Node].Lost; len(lost) > 0 {
			c.Caveats = append(c.Caveats, sayLost(lost))
		}
	case c.Action == ActionDelete && digest != "":
		before.Template, _ = read(digest, "the template that is deployed")
		c.Caveats = append(c.Caveats, why+": it may have other resources than its template")
	case c.Action == ActionDelete && r.Template != "":
		before.Template, _ = read(r.Template, "the template that was last deployed")
		c.Caveats = append(c.Caveats, why+": the resources are those of the template that Stackwright last deployed")
	default:
		c.Caveats = append(c.Caveats, why+", so its template is not compared")
	}
	c.UnknownDataLoss = why != "" || !comparable(c.Action, before, after)
	before.Scope = scope(r.Stack, live.StackID, r.Target)
	before.Scope.Parameters = parametersOf(live)
	return before, after
}

// parametersOf are the parameters of a live stack, to which those that are known better are added.
func parametersOf(l Live) map[string]string {
	all := make(map[string]string, len(l.Parameters))
	maps.Copy(all, l.Parameters)
	return all
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
				Path: p.Path, Before: p.Before, After: p.After, CreateOnly: p.CreateOnly, Replacement: p.Replacement,
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
		c.Outputs = append(c.Outputs, change)
	}
}
