package engine_test

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// A model is a protocol as a state machine: an initial state, and the transitions that
// each state allows. It is small enough for check to try all orders of transitions.
type model[S comparable] struct {
	initial     S
	actors      []string                                          // their names; the first is the environment
	transitions func(s S, yield func(actor int, t transition[S])) // yields the transitions that s allows
	invariant   func(S) string                                    // says what s violates, or nothing
	final       func(S) bool                                      // reports whether s is a good end
}

// A transition is one atomic action of an actor: a single read, write or call.
type transition[S comparable] struct {
	name     string // what the actor does, for traces
	to       S
	violates string // says which invariant the action violates, or nothing
}

// environment is the actor whose transitions may happen but need not: faults, and
// actions of processes that were replaced.
const environment = 0

// A result is what a check of a model has found: how much it searched, and the
// shortest trace to the first violation.
type result struct {
	states, transitions, depth int
	violation                  string
	trace                      []string
}

// A stateGraph has the states that were reached, numbered in breadth-first order.
type stateGraph[S comparable] struct {
	model[S]
	states []S
	parent []int32 // of a state: the one from which it was reached first
	table  []int32 // hash table of states: 0 is a free slot, else one more than the state's number
	seed   maphash.Seed
	first  []int32 // of a state: its first edge; the last entry is the number of edges
	edges  []edge

	components
	member  []int32 // of a state: the last set that it was in, for actorsOf
	members int32
}

// An edge is a transition to the state with the given number.
type edge struct {
	to    int32
	actor uint8
}

// check searches all reachable states breadth first, at most limit of them. It
// stops at a state or transition that violates an invariant (safety), and at a
// deadlock: a state that is not final, where only the environment can act. If there
// is none, it searches for a livelock (liveness). A model without violations reaches
// a final state after any faults, if no more faults happen.
func (m model[S]) check(limit int) result {
	g := &stateGraph[S]{model: m, seed: maphash.MakeSeed(), table: make([]int32, 1<<12)}
	g.number(m.initial, -1)
	r := g.search(limit)
	if r.violation == "" {
		r.violation, r.trace = g.livelock()
	}
	r.states, r.transitions, r.depth = len(g.states), len(g.edges), len(g.trace(len(g.states)-1))
	return r
}

// search visits every reachable state once.
func (g *stateGraph[S]) search(limit int) result {
	for i := 0; i < len(g.states); i++ {
		if len(g.states) > limit {
			return result{violation: fmt.Sprintf("there are more than %d states", limit)}
		}
		s, from, violated := g.states[i], len(g.edges), result{}
		g.first = append(g.first, int32(from))
		if why := g.invariant(s); why != "" {
			return result{violation: why, trace: g.trace(i)}
		}
		enabled := false
		g.transitions(s, func(actor int, t transition[S]) {
			if t.violates != "" && violated.violation == "" {
				violated = result{violation: t.violates, trace: append(g.trace(i), g.actors[actor]+" "+t.name)}
			}
			enabled = enabled || actor != environment
			g.edges = append(g.edges, edge{g.number(t.to, int32(i)), uint8(actor)})
		})
		switch {
		case violated.violation != "":
			return violated
		case !enabled && !g.final(s):
			return result{violation: "deadlock: no actor can act", trace: g.trace(i)}
		}
	}
	g.first = append(g.first, int32(len(g.edges)))
	return result{}
}

// number returns the number of a state, and adds the state if it is new.
func (g *stateGraph[S]) number(s S, parent int32) int32 {
	if 2*len(g.states) >= len(g.table) {
		g.table = make([]int32, 4*len(g.table))
		for i, known := range g.states {
			g.table[g.slot(known)] = int32(i + 1)
		}
	}
	at := g.slot(s)
	if g.table[at] == 0 {
		g.states, g.parent = append(g.states, s), append(g.parent, parent)
		g.table[at] = int32(len(g.states))
	}
	return g.table[at] - 1
}

// slot returns where the table has a state, or the free slot where it belongs.
func (g *stateGraph[S]) slot(s S) int {
	mask := len(g.table) - 1
	at := int(maphash.Comparable(g.seed, s)) & mask
	for g.table[at] != 0 && g.states[g.table[at]-1] != s {
		at = (at + 1) & mask
	}
	return at
}

// trace lists the transitions of the shortest path to a state.
func (g *stateGraph[S]) trace(i int) []string {
	var names []string
	for to := i; g.parent[to] >= 0; to = int(g.parent[to]) {
		found := false
		g.transitions(g.states[g.parent[to]], func(actor int, t transition[S]) {
			if !found && t.to == g.states[to] {
				found, names = true, append(names, g.actors[actor]+" "+t.name)
			}
		})
	}
	slices.Reverse(names)
	return names
}

// livelock searches for a cycle without a final state that can be repeated for ever
// under strong fairness: every actor that can act in a state of the cycle also acts
// within the cycle. The environment acts in no cycle. livelock returns the actors of
// such a cycle, and the trace to it.
func (g *stateGraph[S]) livelock() (string, []string) {
	g.index, g.low, g.member = make([]int32, len(g.states)), make([]int32, len(g.states)), make([]int32, len(g.states))
	var all []int32
	for i, s := range g.states {
		g.index[i] = done
		if !g.final(s) {
			all = append(all, int32(i))
		}
	}
	for open := [][]int32{all}; len(open) > 0; {
		set := open[len(open)-1]
		open = open[:len(open)-1]
		for _, cycle := range g.cycles(set) {
			acting, enabled := g.actorsOf(cycle)
			if enabled&^acting == 0 {
				var names []string
				for i, name := range g.actors {
					if acting&(1<<i) != 0 {
						names = append(names, name)
					}
				}
				return "livelock of " + strings.Join(names, ", "), g.trace(int(slices.Min(cycle)))
			}
			open = append(open, g.without(cycle, enabled&^acting))
		}
	}
	return "", nil
}

// actorsOf returns, as bit sets, the actors that can act within a set of states, and
// the actors that can act in any of its states.
func (g *stateGraph[S]) actorsOf(set []int32) (acting, enabled uint64) {
	g.members++
	for _, i := range set {
		g.member[i] = g.members
	}
	for _, i := range set {
		for _, e := range g.edges[g.first[i]:g.first[i+1]] {
			if e.actor == environment {
				continue
			}
			enabled |= 1 << e.actor
			if g.member[e.to] == g.members {
				acting |= 1 << e.actor
			}
		}
	}
	return acting, enabled
}

// without returns the states of a set in which none of the given actors can act.
func (g *stateGraph[S]) without(set []int32, actors uint64) []int32 {
	var rest []int32
	for _, i := range set {
		can := slices.ContainsFunc(g.edges[g.first[i]:g.first[i+1]], func(e edge) bool { return actors&(1<<e.actor) != 0 })
		if !can {
			rest = append(rest, i)
		}
	}
	return rest
}

// cycles returns the strongly connected components of a set of states that have an
// edge inside. It is Tarjan's algorithm without recursion; edges of the environment
// are left out.
func (g *stateGraph[S]) cycles(set []int32) [][]int32 {
	g.found = nil
	for _, i := range set {
		g.index[i] = unvisited
	}
	for _, root := range set {
		if g.index[root] != unvisited {
			continue
		}
		g.enter(root, g.first[root])
		for len(g.path) > 0 {
			g.follow(&g.path[len(g.path)-1])
		}
	}
	return slices.DeleteFunc(g.found, func(component []int32) bool { return len(component) == 1 && !g.loops(component[0]) })
}

// follow follows the next edge of a visit, or ends the visit after the last one.
func (g *stateGraph[S]) follow(v *visit) {
	if v.edge == g.first[v.state+1] {
		g.leave()
		return
	}
	e := g.edges[v.edge]
	v.edge++
	switch index := g.index[e.to]; {
	case e.actor == environment || index == done:
	case index == unvisited:
		g.enter(e.to, g.first[e.to])
	default:
		g.low[v.state] = min(g.low[v.state], index)
	}
}

// loops reports whether a state has an edge to itself.
func (g *stateGraph[S]) loops(i int32) bool {
	return slices.ContainsFunc(g.edges[g.first[i]:g.first[i+1]], func(e edge) bool { return e.to == i && e.actor != environment })
}

// components is the state of Tarjan's algorithm.
type components struct {
	index []int32 // of a state: its place in the order of visits, or unvisited or done
	low   []int32 // of a state: the least index that can be reached from it
	stack []int32 // the visited states that belong to no component yet
	path  []visit
	found [][]int32
	count int32
}

// The index of a state that is not being visited.
const (
	unvisited = 0
	done      = -1 // it belongs to a component, or is not in the set
)

// A visit is a state whose edges are being followed, and the next edge.
type visit struct{ state, edge int32 }

// enter starts the visit of a state.
func (c *components) enter(state, edge int32) {
	c.count++
	c.index[state], c.low[state] = c.count, c.count
	c.stack = append(c.stack, state)
	c.path = append(c.path, visit{state, edge})
}

// leave ends the visit of the last state. If no earlier state can be reached from
// it, the states on the stack from there on are a component.
func (c *components) leave() {
	state := c.path[len(c.path)-1].state
	c.path = c.path[:len(c.path)-1]
	if len(c.path) > 0 {
		up := c.path[len(c.path)-1].state
		c.low[up] = min(c.low[up], c.low[state])
	}
	if c.low[state] != c.index[state] {
		return
	}
	at := len(c.stack) - 1
	for c.stack[at] != state {
		at--
	}
	component := slices.Clone(c.stack[at:])
	c.stack = c.stack[:at]
	for _, i := range component {
		c.index[i] = done
	}
	c.found = append(c.found, component)
}
