package plan

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// Locations lists where the stacks are that an operation on p may concern: recorded
// stacks where they are recorded, other stacks where they will be created. The records
// are those that Rename returned.
func Locations(p project.Project, recorded map[string]Record) []Location {
	var locations []Location
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		locations = append(locations, recorded[name].Location())
	}
	for _, name := range slices.Sorted(maps.Keys(p.Nodes)) {
		if _, ok := recorded[name]; !ok {
			n := p.Nodes[name]
			locations = append(locations, Location{Node: name, Stack: n.Stack, Target: n.Target})
		}
	}
	return locations
}
