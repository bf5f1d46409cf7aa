package plan

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// unknownID begins the name that a record has in place of a stack's ID which is
// not known yet.
const unknownID = "stack:"

// Displace gives the records the names that p has for their stacks. A node that
// is now to be another physical stack leaves its record behind: the old stack is
// recorded under its ID from here on, and falls for good. And a stack that is
// recorded under a name that nobody wants, and that p wants under another, is
// taken up by that. It returns the records as they then are, and how they get
// there: those that make place, then those that take it. A view is made of
// displaced records.
func Rename(p project.Project, recorded map[string]Record) (all map[string]Record, leave, take []Record) {
	all = maps.Clone(recorded)
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
		if !ok || physicalNameOf(r.Stack, r.Target) == physicalNameOf(n.Stack, n.Target) {
			continue
		}
		id := r.StackID
		if id == "" { // begun, and not yet known to be there
			id = unknownID + r.Target.Account + "/" + r.Target.Region + "/" + r.Stack
		}
		leave = append(leave, move(name, id))
	}
	free := make(map[physicalName]string)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(all))) {
		if _, wanted := p.Nodes[name]; !wanted {
			free[physicalNameOf(all[name].Stack, all[name].Target)] = name
		}
	}
	for _, name := range names {
		n := p.Nodes[name]
		from, ok := free[physicalNameOf(n.Stack, n.Target)]
		if _, has := all[name]; ok && !has {
			take = append(take, move(from, name))
		}
	}
	return all, leave, take
}

// A spot is what one stack can be at: what its target is called is no matter.
type physicalName struct{ stack, account, region string }

func physicalNameOf(stack string, t project.Target) physicalName {
	return physicalName{stack, t.Account, t.Region}
}
