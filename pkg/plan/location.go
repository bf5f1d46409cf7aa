package plan

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// Locations lists where the stacks are that an operation on p may concern: recorded
// ones where they are recorded, others where they will be. The records are renamed
// ones.
func Locations(p project.Project, recorded map[string]Record) []Location {
	var places []Location
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		places = append(places, recorded[name].Location())
	}
	for _, name := range slices.Sorted(maps.Keys(p.Nodes)) {
		if _, ok := recorded[name]; !ok {
			n := p.Nodes[name]
			places = append(places, Location{Node: name, Stack: n.Stack, Target: n.Target})
		}
	}
	return places
}
