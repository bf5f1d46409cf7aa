// Package graph orders keys by their dependencies.
package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Graph records which keys come after which others.
// The zero value is an empty graph. Every listing is sorted, so a graph has
// one order and one set of errors.
type Graph[K cmp.Ordered] struct {
	after map[K]map[K]bool
}

// Add puts k in the graph and places it after the given keys.
// Adding the same edge twice is adding it once.
func (g *Graph[K]) Add(k K, after ...K) {
	if g.after == nil {
		g.after = make(map[K]map[K]bool)
	}
	if g.after[k] == nil {
		g.after[k] = make(map[K]bool)
	}
	for _, a := range after {
		g.Add(a)
		g.after[k][a] = true
	}
}

// Remove removes an edge.
func (g *Graph[K]) Remove(e Edge[K]) { delete(g.after[e.Later], e.Earlier) }

// Keys lists the keys of g.
func (g *Graph[K]) Keys() []K { return slices.Sorted(maps.Keys(g.after)) }

// After lists what k comes directly after.
func (g *Graph[K]) After(k K) []K { return slices.Sorted(maps.Keys(g.after[k])) }

// Reverse returns g with every edge turned around.
func (g *Graph[K]) Reverse() *Graph[K] {
	var r Graph[K]
	for k, after := range g.after {
		r.Add(k)
		for a := range after {
			r.Add(a, k)
		}
	}
	return &r
}

// Reach returns the given keys and all they come after, near and far.
func (g *Graph[K]) Reach(from ...K) map[K]bool {
	seen := make(map[K]bool)
	todo := slices.Clone(from)
	for len(todo) > 0 {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[k] {
			continue
		}
		seen[k] = true
		for a := range g.after[k] {
			todo = append(todo, a)
		}
	}
	return seen
}

// AddAcyclic adds edges in their order, each only if it makes no cycle with those before
// it, and returns the edges that it has added. g has no cycle.
func (g *Graph[K]) AddAcyclic(edges []Edge[K]) []Edge[K] {
	var whole Graph[K]
	for k, after := range g.after {
		whole.Add(k, slices.Collect(maps.Keys(after))...)
	}
	for _, e := range edges {
		whole.Add(e.Later, e.Earlier)
	}
	in := whole.components()
	var added []Edge[K]
	for _, e := range edges {
		if in[e.Later] != in[e.Earlier] || !g.Reach(e.Earlier)[e.Later] { // an edge between two components is in no cycle
			g.Add(e.Later, e.Earlier)
			added = append(added, e)
		}
	}
	return added
}

// An Edge places a key after another.
type Edge[K cmp.Ordered] struct{ Later, Earlier K }

// components numbers the keys by strongly connected component: two keys have one number
// if each comes after the other, or if they are the same. This is Tarjan's algorithm.
func (g *Graph[K]) components() map[K]int {
	found, low, in := make(map[K]int), make(map[K]int), make(map[K]int)
	var path []K
	var visit func(K)
	visit = func(k K) {
		found[k] = len(found) + 1
		low[k] = found[k]
		path = append(path, k)
		for a := range g.after[k] {
			if found[a] == 0 {
				visit(a)
				low[k] = min(low[k], low[a])
			} else if in[a] == 0 {
				low[k] = min(low[k], found[a])
			}
		}
		if low[k] != found[k] {
			return
		}
		for {
			last := path[len(path)-1]
			path = path[:len(path)-1]
			in[last] = found[k]
			if last == k {
				return
			}
		}
	}
	for k := range g.after {
		if found[k] == 0 {
			visit(k)
		}
	}
	return in
}

// Order lists the keys so that each follows all it comes after. A ring is
// reported as a *CycleError.
func (g *Graph[K]) Order() ([]K, error) {
	order, ring := Sort(g.Keys(), g.After)
	if len(ring) > 0 {
		return nil, &CycleError[K]{append(ring, ring[0])}
	}
	return order, nil
}

// Sort puts keys after those that they come after, else in the order in which they
// are given. It also returns the first ring in the way, beginning with
// the key that is given first; keys in a ring are in the order all the same.
func Sort[K comparable](keys []K, after func(K) []K) (order, ring []K) {
	const entered, left = 1, 2
	state := make(map[K]int, len(keys))
	var path []K
	var visit func(K)
	visit = func(k K) {
		state[k] = entered
		path = append(path, k)
		for _, a := range after(k) {
			switch state[a] {
			case left:
			case entered:
				if ring == nil {
					ring = slices.Clone(path[slices.Index(path, a):])
				}
			default:
				visit(a)
			}
		}
		path = path[:len(path)-1]
		state[k] = left
		order = append(order, k)
	}
	for _, k := range keys {
		if state[k] == 0 {
			visit(k)
		}
	}
	return order, ring
}

// A CycleError reports keys that come after one another in a ring; the first
// is also the last.
type CycleError[K cmp.Ordered] struct{ Cycle []K }

// Error shows the whole ring.
func (e *CycleError[K]) Error() string {
	names := make([]string, len(e.Cycle))
	for i, k := range e.Cycle {
		names[i] = fmt.Sprint(k)
	}
	return "cycle: " + strings.Join(names, " → ")
}
