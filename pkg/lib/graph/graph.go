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

// Order lists the keys so that each follows all it comes after. A ring is
// reported as a *CycleError. It keeps a stack of its own, for a chain may be as
// long as a project is large.
func (g *Graph[K]) Order() ([]K, error) {
	type visit struct {
		key  K
		left []K
	}
	var (
		order   = make([]K, 0, len(g.after))
		started = make(map[K]bool, len(g.after))
		done    = make(map[K]bool, len(g.after))
		path    []visit
	)
	for _, root := range g.Keys() {
		if started[root] {
			continue
		}
		started[root] = true
		path = append(path, visit{root, g.After(root)})
		for len(path) > 0 {
			top := &path[len(path)-1]
			if len(top.left) == 0 {
				done[top.key] = true
				order = append(order, top.key)
				path = path[:len(path)-1]
				continue
			}
			next := top.left[0]
			top.left = top.left[1:]
			switch {
			case done[next]:
			case started[next]:
				at := slices.IndexFunc(path, func(v visit) bool { return v.key == next })
				ring := &CycleError[K]{}
				for _, v := range path[at:] {
					ring.Cycle = append(ring.Cycle, v.key)
				}
				ring.Cycle = append(ring.Cycle, next)
				return nil, ring
			default:
				started[next] = true
				path = append(path, visit{next, g.After(next)})
			}
		}
	}
	return order, nil
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
