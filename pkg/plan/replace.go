package plan

import (
	"errors"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// replace deletes some stacks and creates them again.
func replace() Operation {
	return Operation{
		Name: "replace", Plan: Replace,
		Requestable: true, NeedsFiles: true, NeedsOnly: true, Recreates: true, Approvable: true, Writes: true, Retryable: true, NeedsRunning: true,
		Options: append(Selecting(), OptionRetain, OptionReason, OptionRefuse, OptionMaxDeletions,
			OptionPlan, OptionWhileSuspended),
		Effect: "it deletes some stacks and creates them again",
	}
}

// previewReplace shows what a replace would do.
func previewReplace() Operation {
	return Operation{
		Name: PlanPrefix + "replace", Plan: Replace,
		Requestable: true, NeedsFiles: true, NeedsOnly: true, Recreates: true, Preview: true,
		Options: append(Selecting(), OptionRetain, OptionMaxDeletions),
		Effect:  "the deletion and creation of some stacks is planned",
	}
}

// Replace plans to delete the selected stacks and to create them again. CloudFormation deletes no stack whose exports are in use, so stacks
// that import from one of these are deleted before and created again after it, unless the files no longer let them depend on it: then they are
// updated before. Other dependents are updated after it, and change only if they use what has changed. All other stacks stay as they are.
//
// A resource that View.Retain matches stays in AWS when its stack is deleted, and is imported into the new stack.
//
// A retry deletes no stack that the run before it has deleted: it creates these, if they do not exist, and updates them.
//
// It refuses what a deletion of these stacks is refused for, all at once.
func Replace(v View) (Plan, error) {
	_, refusals := v.selected()
	if len(v.Only) == 0 {
		refusals = append(refusals, fault.New(fault.Invalid, "only: missing: name the stacks to replace"))
	}
	if len(refusals) > 0 {
		return Plan{}, errors.Join(refusals...)
	}
	v = v.atOnce()
	r := v.replacement()
	v.about, v.Moves = make(map[string]bool), nil
	for name := range r.all() {
		v.about[name] = true
	}
	refusals = append(v.unreplaceable(r), v.unretainable(r)...)
	b := builder{view: v, deletes: make(phases), deploys: make(phases), possible: make(map[string]bool)}
	after := v.Recreating()
	after.about = v.about
	for _, name := range slices.Sorted(maps.Keys(v.about)) {
		n, desired := v.Desired.Nodes[name]
		if !desired { // it is refused
			continue
		}
		var err error
		if b.deletes[name], b.deploys[name], err = after.planConvergence(name, ""); err == nil && r.deletes[name] != nil {
			b.deletes[name], err = v.deletionToRecreate(n)
		}
		if err == nil {
			b.deploys[name], err = withHooks(b.deploys[name], n.Hooks, callOf(n))
		}
		if err == nil {
			b.deploys[name], err = v.withPending(b.deploys[name], n)
		}
		if err != nil {
			refusals = append(refusals, err)
		}
		b.possible[name] = r.deletes[name] == nil && r.before[name] == ""
	}
	refusals = append(refusals, v.leftDependents(b.deletes)...)
	refusals = append(refusals, v.lacking(b.deploys)...)
	refusals = append(refusals, v.readLeft(b.deploys)...)
	if err := v.refuseCycle(b.deploys); err != nil {
		refusals = append(refusals, err)
	}
	if len(refusals) > 0 {
		return Plan{}, errors.Join(refusals...)
	}
	return b.plan()
}

// A replacement is what a replace does with each stack that it changes, by node.
type replacement struct {
	deletes map[string]*cause // it is deleted and created again
	again   map[string]bool   // the run that is retried has deleted it, so it is only created, or updated
	before  map[string]string // it is updated before the deletions, because it imports from this stack and no longer depends on it
	after   map[string]string // it is updated after the creations, because it depends on this stack
}

// A cause says why a replace deletes a stack.
type cause struct {
	named   bool   // the request selects it
	imports string // the node from which its stack imports, if no request selects it
}

// all says why each stack is in the plan.
func (r replacement) all() map[string]string {
	why := make(map[string]string)
	for name, from := range r.after {
		why[name] = "it depends on " + from
	}
	for name, from := range r.before {
		why[name] = "it imports an export of " + from + ", and no longer depends on it"
	}
	for name := range r.again {
		why[name] = "the run that is retried has deleted it, to create it again"
	}
	for name, c := range r.deletes {
		why[name] = c.String()
	}
	return why
}

// String says it for people.
func (c cause) String() string {
	if c.named {
		return "it is to be replaced"
	}
	return "it imports an export of " + c.imports + ", which CloudFormation does not delete as long as it is in use"
}

// replacement finds out what a replace does, as far as v.Importers is known.
func (v View) replacement() replacement {
	r := replacement{deletes: v.deletedToRecreate(), again: v.Replaced, before: make(map[string]string), after: make(map[string]string)}
	for _, name := range slices.Sorted(maps.Keys(r.deletes)) {
		for _, user := range v.importersOf(name) {
			if n, desired := v.Desired.Nodes[user]; desired && r.deletes[user] == nil && !slices.Contains(n.Needs, name) && v.follows(user) {
				r.before[user] = name
			}
		}
	}
	next := slices.Sorted(maps.Keys(r.deletes))
	next = append(next, slices.Sorted(maps.Keys(r.again))...)
	users := dependents(v.Recorded)
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		for _, user := range users[from] {
			n, desired := v.Desired.Nodes[user]
			if !desired || r.deletes[user] != nil || r.again[user] || r.after[user] != "" || !slices.Contains(n.Needs, from) || !v.follows(user) || !v.managed(user) {
				continue
			}
			r.after[user] = from
			next = append(next, user)
		}
	}
	return r
}

// follows reports whether a replace may change a stack that the request does not select.
func (v View) follows(name string) bool { return !v.excludes(name) && !v.Desired.Ignores(name) }

// deletedToRecreate lists the stacks that a replace deletes and creates again: the selected ones, and those that import from them and depend
// on them by the files too.
func (v View) deletedToRecreate() map[string]*cause {
	about, _ := v.selected()
	all := make(map[string]*cause)
	var next []string
	for _, name := range slices.Sorted(maps.Keys(about)) {
		if !v.Replaced[name] {
			all[name] = &cause{named: true}
			next = append(next, name)
		}
	}
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		for _, user := range v.importersOf(from) {
			if n, desired := v.Desired.Nodes[user]; all[user] == nil && desired && slices.Contains(n.Needs, from) && v.follows(user) {
				all[user] = &cause{imports: from}
				next = append(next, user)
			}
		}
	}
	return all
}

// importersOf lists the recorded stacks that import an export of a node's stack, in their order.
func (v View) importersOf(name string) []string {
	var all []string
	for _, user := range slices.Sorted(maps.Keys(v.Recorded)) {
		if r := v.Recorded[user]; placeOf(r.Target) == placeOf(v.Recorded[name].Target) && slices.Contains(v.Importers[name], r.Stack) && user != name {
			all = append(all, user)
		}
	}
	return all
}

// ImportersUnread lists the stacks that a replace deletes and of which the view does not say yet which stacks import from them. They are
// sorted. When these are known, there may be more.
func (v View) ImportersUnread() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.deletedToRecreate())) {
		if _, known := v.Importers[name]; !known && v.managed(name) {
			all = append(all, name)
		}
	}
	return all
}

// deletionToRecreate returns the steps that delete the stack of a node that is created again. They delete exactly the stack that the view has
// seen.
func (v View) deletionToRecreate(n project.Node) ([]Step, error) {
	r, live := v.Recorded[n.Name], v.Live[n.Name]
	arguments, err := NewArguments(RetentionVersion, Retention{Replaces: live.StackID, LastUpdated: live.LastUpdated, Reimport: v.reimported(n.Name)})
	if err != nil {
		return nil, fault.New(fault.Refused, "stack %s: it retains too many resources: retain fewer (%w)", n.Name, err)
	}
	steps, err := withHooks([]Step{{Verb: Delete, Timeout: n.Timeout, Arguments: arguments}}, r.Hooks, HookCall{Stack: n.Name, StackName: r.Stack, Target: r.Target})
	if err != nil {
		return nil, err
	}
	created := slices.Concat(project.At(n.Hooks, project.BeforeCreate), project.At(n.Hooks, project.AfterCreate))
	for _, s := range steps {
		if s.does(Hook) && slices.ContainsFunc(created, func(h project.Hook) bool { return h.Name == s.Qualifier }) {
			return nil, fault.New(fault.Refused, "stack %s: hook %s is called both for its deletion and for its creation, and a replace can call it only once: write two hooks with different names", n.Name, s.Qualifier)
		}
	}
	return steps, nil
}

// isReplaced reports whether a stack is deleted to have it created again although nothing is wrong with it.
func isReplaced(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { r, err := s.Retention(); return err == nil && r.Replaces != "" })
}

// replacing says for each stack that a replace deletes, has deleted, or updates before, why it does; nil for other plans. What follows is
// explained by what it depends on.
func (v View) replacing() map[string]string {
	if v.Importers == nil {
		return nil
	}
	r := v.replacement()
	r.after = nil
	return r.all()
}
