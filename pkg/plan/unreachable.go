package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// Unreachable are recorded stacks that are no longer desired, and that nobody can reach at present, because their account is closed or has left the
// organization: by node, with why. No operation but a forget is about them, and their records stay.
type Unreachable map[string]string

// TargetsLeft returns the targets of the recorded stacks that are no longer desired.
func TargetsLeft(desired project.Project, recorded map[string]Record) []project.Target {
	all := make(map[project.Target]bool)
	for name, r := range recorded {
		if _, wanted := desired.Nodes[name]; !wanted {
			all[r.Target] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), project.Target.Compare)
}

// UnreachableIn returns the recorded stacks that are no longer desired in some targets, which are closed, with why.
func UnreachableIn(desired project.Project, recorded map[string]Record, closed map[project.Target]string) Unreachable {
	a := make(Unreachable)
	for name, r := range recorded {
		if _, wanted := desired.Nodes[name]; !wanted && closed[r.Target] != "" {
			a[name] = closed[r.Target]
		}
	}
	return a
}

// Others returns the records of all other stacks.
func (a Unreachable) Others(recorded map[string]Record) map[string]Record {
	if len(a) == 0 {
		return recorded
	}
	others := maps.Clone(recorded)
	for name := range a {
		delete(others, name)
	}
	return others
}

// Leaving returns the view without the stacks that are unreachable. For an operation that is also about these, it says why they cannot be read.
func (v View) Leaving(a Unreachable, o Operation) View {
	if !o.OfUnreachable {
		v.Recorded, v.Unreachable = a.Others(v.Recorded), a
		return v
	}
	v.Live = maps.Clone(v.Live)
	if v.Live == nil {
		v.Live = make(map[string]Live)
	}
	for name, why := range a {
		v.Live[name] = Live{AccessError: why}
	}
	return v
}

// messages says which stacks are unreachable, once for each account.
func (a Unreachable) messages() []string {
	by := make(map[string][]string)
	for name, why := range a {
		by[why] = append(by[why], name)
	}
	var all []string
	for _, why := range slices.Sorted(maps.Keys(by)) {
		names := by[why]
		slices.Sort(names)
		all = append(all, fmt.Sprintf("not reachable for now, and kept in the records: %s: %s", listed(names), why))
	}
	return all
}
