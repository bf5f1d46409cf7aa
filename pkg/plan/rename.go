package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// unknownID begins the name of a record whose stack's ID is not known yet.
const unknownID = "stack:"

// Rename gives the records the names that p has for their stacks. If a node gets
// another physical stack, the record of the old stack is stored under its stack ID
// from then on, and the old stack is deleted permanently. If p names a recorded
// stack that no desired node is recorded under, the record gets the new name. Rename
// returns the records after that, and the moves in their order: those that free a
// name, then those that take one. A view is made of renamed records. A stack that is left alone, or that a selection leaves out, keeps its record and its place.
func Rename(p project.Project, recorded map[string]Record, s Selection) (all map[string]Record, leave, take []Record) {
	all, leave, take = rename(p, recorded, nil)
	if about, _ := (View{Desired: p, Recorded: all, Selection: s}).selected(); about != nil {
		return rename(p, recorded, about)
	}
	return all, leave, take
}

// rename is Rename of the nodes that a request is about; nil for all.
func rename(p project.Project, recorded map[string]Record, about map[string]bool) (all map[string]Record, leave, take []Record) {
	all = maps.Clone(recorded)
	for name := range p.Nodes {
		if r, has := all[name]; has && r.FormerName != "" { // it was renamed by an earlier run
			r.FormerName = ""
			all[name] = r
		}
	}
	move := func(from, to string) Record {
		r := all[from]
		r.Node, r.FormerName = to, from
		delete(all, from)
		all[to] = r
		return r
	}
	names := slices.Sorted(maps.Keys(p.Nodes))
	for _, name := range names {
		n := p.Nodes[name]
		r, ok := recorded[name]
		if !ok || PlaceOf(r.Stack, r.Target) == PlaceOf(n.Stack, n.Target) || p.Ignores(name) || about != nil && !about[name] {
			continue
		}
		id := r.StackID
		if id == "" { // its creation was started, and its ID is not known yet
			id = unknownID + r.Target.Account + "/" + r.Target.Region + "/" + r.Stack
		}
		leave = append(leave, move(name, id))
	}
	free := make(map[Place]string)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(all))) {
		if _, wanted := p.Nodes[name]; !wanted {
			free[PlaceOf(all[name].Stack, all[name].Target)] = name
		}
	}
	for _, name := range names {
		n := p.Nodes[name]
		from, ok := free[PlaceOf(n.Stack, n.Target)]
		if _, has := all[name]; ok && !has && (about == nil || about[name]) {
			take = append(take, move(from, name))
		}
	}
	return all, leave, take
}

// renameMessages says which records of the nodes that the plan is about get other names.
func (v View) renameMessages(about map[string]bool) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.Desired.Nodes)) {
		r := v.Recorded[name]
		if r.FormerName == "" || about != nil && !about[name] {
			continue
		}
		former := (Record{Node: r.FormerName, StackID: r.StackID, FormerName: r.Stack}).formerNode()
		all = append(all, fmt.Sprintf("stack %s: its record is renamed, and was %s: the stack %s stays", name, cmp.Or(former, r.FormerName), r.Stack))
	}
	return all
}

// A Place is a physical name in an account and region: at most one live stack is there.
type Place struct{ stack, account, region string }

// PlaceOf returns the place of a physical name in a target.
func PlaceOf(stack string, t project.Target) Place {
	return Place{stack, t.Account, t.Region}
}
