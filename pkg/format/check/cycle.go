package check

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/lib/graph"
)

// maxCycles is how many cycles are reported at most: finding the next one takes a
// walk through the whole project.
const maxCycles = 10

// maxNamed is how many stacks of a cycle are named, so that it can be read.
const maxNamed = 100

// cycles refuses stacks that need one another in a circle, also by the orders of rollouts, with the
// reason of each edge.
func (c *checker) cycles() {
	type pair struct{ from, to string }
	why := map[pair]resolve.Edge{} // the reason at the first position
	edges := c.waves()
	maps.Copy(edges, c.Edges)
	for e, at := range edges {
		p := pair{e.Node, e.Needs}
		first, ok := why[p]
		if !ok || cmp.Or(at.Compare(edges[first]), e.Compare(first)) < 0 {
			why[p] = e
		}
	}
	for range maxCycles {
		var g graph.Graph[string]
		for p := range why {
			g.Add(p.from, p.to)
		}
		_, err := g.Order()
		cycle, ok := errors.AsType[*graph.CycleError[string]](err)
		if !ok {
			return
		}
		names := startAtLeast(cycle.Cycle[:len(cycle.Cycle)-1])
		var reasons []string
		for i, name := range names {
			p := pair{name, names[(i+1)%len(names)]}
			reasons = append(reasons, fmt.Sprintf("%s (%s)", why[p], edges[why[p]]))
		}
		path := names
		if len(names) > maxNamed {
			path = append(slices.Clone(names[:maxNamed]), fmt.Sprintf("%d more", len(names)-maxNamed))
			reasons = append(reasons[:maxNamed], "…")
		}
		first := why[pair{names[0], names[1%len(names)]}]
		c.Add(edges[first], "cycle: %s → %s: %s: remove one of these edges", strings.Join(path, " → "), names[0], strings.Join(reasons, "; "))
		for i, name := range names {
			delete(why, pair{name, names[(i+1)%len(names)]})
		}
	}
}

// startAtLeast turns a cycle so that its least name comes first.
func startAtLeast(cycle []string) []string {
	at := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[at:], cycle[:at])
}
