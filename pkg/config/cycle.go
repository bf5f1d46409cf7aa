package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/graph"
)

// maxCycles is how many cycles are told at most: finding the next one takes a
// walk through the whole project.
const maxCycles = 10

// maxRing is how many stacks of a cycle are named, for a person has to read it.
const maxRing = 100

// cycles tells of each ring of stacks that need one another, with the reason of
// each edge.
func (r *reader) cycles() {
	type pair struct{ from, to string }
	why := map[pair]Edge{} // the reason that stands first
	for e, at := range r.edges {
		p := pair{e.Node, e.Needs}
		first, ok := why[p]
		if !ok || cmp.Or(before(at, r.edges[first]), compareEdges(e, first)) < 0 {
			why[p] = e
		}
	}
	for range maxCycles {
		var g graph.Graph[string]
		for p := range why {
			g.Add(p.from, p.to)
		}
		_, err := g.Order()
		ring, ok := errors.AsType[*graph.CycleError[string]](err)
		if !ok {
			return
		}
		names := startAtLeast(ring.Cycle[:len(ring.Cycle)-1])
		var reasons []string
		for i, name := range names {
			p := pair{name, names[(i+1)%len(names)]}
			reasons = append(reasons, r.reason(why[p]))
		}
		path := names
		if len(names) > maxRing {
			path = append(slices.Clone(names[:maxRing]), fmt.Sprintf("%d more", len(names)-maxRing))
			reasons = append(reasons[:maxRing], "…")
		}
		first := why[pair{names[0], names[1%len(names)]}]
		r.add(r.edges[first], "cycle: %s → %s: %s: remove one of these", strings.Join(path, " → "), names[0], strings.Join(reasons, "; "))
		for i, name := range names {
			delete(why, pair{name, names[(i+1)%len(names)]})
		}
	}
}

// startAtLeast turns a ring so that its least name comes first.
func startAtLeast(ring []string) []string {
	at := slices.Index(ring, slices.Min(ring))
	return slices.Concat(ring[at:], ring[:at])
}

func (r *reader) reason(e Edge) string {
	return fmt.Sprintf("%s (%s)", e, r.edges[e])
}

// String says why, as in "app takes db.Url for parameter Url".
func (e Edge) String() string {
	switch e.Cause {
	case Output:
		return fmt.Sprintf("%s takes %s.%s for %s", e.Node, e.Needs, e.What, e.For)
	case Imported:
		return fmt.Sprintf("%s imports %s, which %s exports", e.Node, e.What, e.Needs)
	}
	return fmt.Sprintf("%s needs %s", e.Node, e.Needs)
}
