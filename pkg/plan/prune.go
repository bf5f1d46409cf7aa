package plan

import (
	"errors"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/graph"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/project"
)

// prune deletes the stacks that the project's files call obsolete.
func prune() Operation {
	return Operation{
		Name: "prune", Plan: Prune,
		Requestable: true, NeedsFiles: true, Prunes: true, Approvable: true, Retryable: true,
		Options: append(Selecting(), OptionReason, OptionRefuse, OptionPlan),
		Effect:  "it deletes the stacks that are obsolete, and changes no other",
	}
}

// previewPrune shows what a prune would do.
func previewPrune() Operation {
	return Operation{
		Name: PlanPrefix + "prune", Plan: Prune,
		Requestable: true, NeedsFiles: true, Prunes: true, Preview: true,
		Options: Selecting(),
		Effect:  "the deletion of the stacks that are obsolete is planned",
	}
}

// Prune plans to delete the recorded stacks that the project's files call obsolete, or those of them that are selected, and what these left
// behind when they got other physical names. Other stacks have no steps. It refuses to delete what a stack that stays depends on, by its record or by the files. It has no limit of deletions, because
// the files name each stack.
func Prune(v View) (Plan, error) {
	about, refusals := v.selected()
	all := v.selectables()
	for _, p := range v.Only {
		means := func(node string) bool { return all[node].matches(p, node) }
		if !slices.ContainsFunc(v.Desired.Obsolete, means) && slices.ContainsFunc(slices.Collect(maps.Keys(all)), means) {
			refusals = append(refusals, fault.New(fault.Refused, "only: %s is not obsolete: a prune deletes stacks with obsolete: true in the project's files%s", p, suggest.Hint(p, v.Desired.Obsolete)))
		}
	}
	goes := make(map[string]bool)
	for _, node := range v.Desired.Obsolete {
		_, recorded := v.Recorded[node]
		goes[node] = recorded && (about == nil || about[node])
	}
	maps.DeleteFunc(goes, func(_ string, yes bool) bool { return !yes })
	names, users := slices.Sorted(maps.Keys(goes)), v.usersOf(goes)
	for _, name := range names {
		if by := users.After(name); len(by) > 0 {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s is obsolete, but stacks that stay depend on it (%s): deploy these without the dependency first, or write obsolete: true under them too", name, listed(by)))
		}
		if live := v.Live[name]; live.Protected && !live.Status.Gone() && v.managed(name) {
			refusals = append(refusals, fault.New(fault.Refused, "stack %s: it is protected, and so it is not deleted, and deploys leave it alone because it is obsolete: remove obsolete: true from it, deploy it with protect: false, write obsolete: true again, and then prune", name))
		}
	}
	if len(refusals) > 0 || len(names) == 0 {
		return Plan{}, errors.Join(refusals...)
	}
	v.Recorded = maps.Clone(v.Recorded)
	for _, name := range names { // deploys leave an obsolete stack alone, so its record may have other resources to retain
		r := v.Recorded[name]
		r.Retain = v.Desired.Retain[name]
		v.Recorded[name] = r
	}
	v.Selection, v.Desired.Nodes, v.Desired.Obsolete = Selection{Only: names}, nil, nil
	return v.plan(nil)
}

// Pruning returns the desired project as a prune sees it: the obsolete stacks are not among its nodes, as those that the files no longer have.
// Only what the files retain of them is kept.
func Pruning(p project.Project) project.Project {
	p.Nodes, p.Retain = maps.Clone(p.Nodes), make(map[string][]string)
	for _, name := range p.Obsolete {
		p.Retain[name] = p.Nodes[name].Retain
		delete(p.Nodes, name)
	}
	return p
}

// usersOf returns which stacks, but those among the nodes, depend on each of the nodes, by their records or by the files.
func (v View) usersOf(nodes map[string]bool) *graph.Graph[string] {
	var users graph.Graph[string]
	add := func(name string, needs []string) {
		for _, need := range needs {
			if nodes[need] && !nodes[name] {
				users.Add(need, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		add(name, v.Recorded[name].Needs)
	}
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		if n := v.Desired.Nodes[name]; !v.Desired.Ignores(name) {
			add(name, n.Needs)
		}
	}
	return &users
}
