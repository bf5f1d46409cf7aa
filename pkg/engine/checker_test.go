package engine_test

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// A model is a small setup of values. Whatever can happen next in a state is a
// move, and every order of moves is tried.
type model[S comparable] struct {
	start S
	names []string                          // of the actors; the first is fate
	next  func(S, func(who int, m move[S])) // tells all moves that a state allows
	wrong func(S) string                    // what is wrong with a state, if anything
	good  func(S) bool                      // whether all has ended well
}

// A move is one atomic action: a single read, write or call.
type move[S comparable] struct {
	what  string // in words
	to    S
	wrong string // what it breaks, if anything
}

// fate is the actor of faults, and of whatever may happen but need not.
const fate = 0

// A proof is what came of a search: how much there was to see, and the shortest
// way to what is wrong.
type proof struct {
	states, moves, deep int
	wrong               string
	trace               []string
}

// A graph is all that was reached. States are numbered as they were found, the
// nearest first.
type graph[S comparable] struct {
	model[S]
	states []S
	parent []int32
	table  []int32 // of states by hash; 0 is free, else one more than the state
	seed   maphash.Seed
	first  []int32 // of a state's edges; one more at the end
	edges  []edge

	components
	stamp  []int32 // of the set that a state was last put in
	stamps int32
}

// An edge is a move that somebody made, without its words.
type edge struct {
	to  int32
	who uint8
}

// prove searches breadth first through all that can happen. A state or move
// that is wrong ends it. Then it searches for states where nothing goes on, and
// for circles that can be gone round for ever though everybody who is able to
// act again and again does so: with neither, and without new faults, whatever
// happened ends well.
func (m model[S]) prove(most int) proof {
	g := &graph[S]{model: m, seed: maphash.MakeSeed(), table: make([]int32, 1<<12)}
	g.find(m.start, -1)
	p := g.search(most)
	if p.wrong == "" {
		p.wrong, p.trace = g.endless()
	}
	p.states, p.moves, p.deep = len(g.states), len(g.edges), len(g.trace(len(g.states)-1))
	return p
}

// search visits every state.
func (g *graph[S]) search(most int) proof {
	for i := 0; i < len(g.states); i++ {
		if len(g.states) > most {
			return proof{wrong: fmt.Sprintf("there are more than %d states", most)}
		}
		s, from, broken := g.states[i], len(g.edges), proof{}
		g.first = append(g.first, int32(from))
		if why := g.wrong(s); why != "" {
			return proof{wrong: why, trace: g.trace(i)}
		}
		able := false
		g.next(s, func(who int, m move[S]) {
			if m.wrong != "" && broken.wrong == "" {
				broken = proof{wrong: m.wrong, trace: append(g.trace(i), g.names[who]+" "+m.what)}
			}
			able = able || who != fate
			g.edges = append(g.edges, edge{g.find(m.to, int32(i)), uint8(who)})
		})
		switch {
		case broken.wrong != "":
			return broken
		case !able && !g.good(s):
			return proof{wrong: "nobody can go on", trace: g.trace(i)}
		}
	}
	g.first = append(g.first, int32(len(g.edges)))
	return proof{}
}

// find numbers a state.
func (g *graph[S]) find(s S, parent int32) int32 {
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

// slot is the place of a state in the table, or the one where it is to go.
func (g *graph[S]) slot(s S) int {
	mask := len(g.table) - 1
	at := int(maphash.Comparable(g.seed, s)) & mask
	for g.table[at] != 0 && g.states[g.table[at]-1] != s {
		at = (at + 1) & mask
	}
	return at
}

// trace tells the shortest way to a state, in words.
func (g *graph[S]) trace(i int) []string {
	var words []string
	for to := i; g.parent[to] >= 0; to = int(g.parent[to]) {
		said := false
		g.next(g.states[g.parent[to]], func(who int, m move[S]) {
			if !said && m.to == g.states[to] {
				said, words = true, append(words, g.names[who]+" "+m.what)
			}
		})
	}
	slices.Reverse(words)
	return words
}

// endless searches for a circle of moves, none of them a fault and none of its
// states good, that leaves nobody out who is able to move again and again.
func (g *graph[S]) endless() (string, []string) {
	g.index, g.low, g.stamp = make([]int32, len(g.states)), make([]int32, len(g.states)), make([]int32, len(g.states))
	var all []int32
	for i, s := range g.states {
		g.index[i] = done
		if !g.good(s) {
			all = append(all, int32(i))
		}
	}
	for open := [][]int32{all}; len(open) > 0; {
		part := open[len(open)-1]
		open = open[:len(open)-1]
		for _, circle := range g.circles(part) {
			inside, able := g.actors(circle)
			if able&^inside == 0 {
				var who []string
				for i, name := range g.names {
					if inside&(1<<i) != 0 {
						who = append(who, name)
					}
				}
				return "it can go on for ever: " + strings.Join(who, ", "), g.trace(int(slices.Min(circle)))
			}
			open = append(open, g.without(circle, able&^inside))
		}
	}
	return "", nil
}

// actors says who moves within a set of states, and who could move there.
func (g *graph[S]) actors(set []int32) (inside, able uint64) {
	g.stamps++
	for _, i := range set {
		g.stamp[i] = g.stamps
	}
	for _, i := range set {
		for _, e := range g.edges[g.first[i]:g.first[i+1]] {
			if e.who == fate {
				continue
			}
			able |= 1 << e.who
			if g.stamp[e.to] == g.stamps {
				inside |= 1 << e.who
			}
		}
	}
	return inside, able
}

// without leaves out the states where one of the given actors can move.
func (g *graph[S]) without(set []int32, actors uint64) []int32 {
	var rest []int32
	for _, i := range set {
		could := slices.ContainsFunc(g.edges[g.first[i]:g.first[i+1]], func(e edge) bool { return actors&(1<<e.who) != 0 })
		if !could {
			rest = append(rest, i)
		}
	}
	return rest
}

// circles returns the strongly connected parts of a set of states that have a
// move inside them: Tarjan's algorithm, without faults and without recursion.
func (g *graph[S]) circles(set []int32) [][]int32 {
	g.found = nil
	for _, i := range set {
		g.index[i] = inaccessible
	}
	for _, root := range set {
		if g.index[root] != inaccessible {
			continue
		}
		g.enter(root, g.first[root])
		for len(g.path) > 0 {
			g.follow(&g.path[len(g.path)-1])
		}
	}
	return slices.DeleteFunc(g.found, func(circle []int32) bool { return len(circle) == 1 && !g.loops(circle[0]) })
}

// follow takes the next edge of a visit, or ends the visit.
func (g *graph[S]) follow(v *visit) {
	if v.edge == g.first[v.state+1] {
		g.leave()
		return
	}
	e := g.edges[v.edge]
	v.edge++
	switch index := g.index[e.to]; {
	case e.who == fate || index == done:
	case index == inaccessible:
		g.enter(e.to, g.first[e.to])
	default:
		g.low[v.state] = min(g.low[v.state], index)
	}
}

// loops reports whether somebody can move and leave the state as it is.
func (g *graph[S]) loops(i int32) bool {
	return slices.ContainsFunc(g.edges[g.first[i]:g.first[i+1]], func(e edge) bool { return e.to == i && e.who != fate })
}

// components is how far the search for strongly connected parts has come.
type components struct {
	index []int32 // of a state in the order of visits, or inaccessible or done
	low   []int32 // the least index that can be reached from it
	stack []int32 // what was found and belongs to no part yet
	path  []visit
	found [][]int32
	count int32
}

// What a state's index is if it has none: it is still to be visited, or it is
// done with or not read.
const (
	inaccessible = 0
	done         = -1
)

// A visit is a state whose edges are being followed.
type visit struct{ state, edge int32 }

// enter begins with a state.
func (c *components) enter(state, edge int32) {
	c.count++
	c.index[state], c.low[state] = c.count, c.count
	c.stack = append(c.stack, state)
	c.path = append(c.path, visit{state, edge})
}

// leave has followed all edges of the last state. If nothing before it can be
// reached from there, what was found since is one part.
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
	part := slices.Clone(c.stack[at:])
	c.stack = c.stack[:at]
	for _, i := range part {
		c.index[i] = done
	}
	c.found = append(c.found, part)
}
