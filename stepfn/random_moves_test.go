package stepfn_test

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which a table moves between two stacks of the project, again and again. Its template keeps no data: a
// deploy that deletes the table loses it.

const kept invariant = "kept: a run deletes no table that its files have. Excepted are a rollback of the run that created the table, a stack that is DELETE_FAILED, and a rollback to a revision that is older than the table"

// movingSeeds tells in which random scenarios a table moves: one of so many.
const movingSeeds = 8

// movedTable is the table, and movers are the stacks that may have it.
const movedTable = "m0"

var movers = []string{"s0", "s1"}

// moves lets a scenario have the table. It is drawn from random numbers of its own.
func (a *generator) moves(seed uint64) {
	if seed%movingSeeds != 3 || a.emulated || a.following != nil {
		return
	}
	a.moving = rand.New(rand.NewPCG(seed, 10))
	a.script = slices.DeleteFunc(a.script, func(l line) bool { return l[0] == "targets" }) // a table moves within one account and region
}

// withMoves gives the table to one of the two stacks of a project, which takes it from the other if that has it.
func (a *generator) withMoves(w stacks) stacks {
	if a.moving == nil {
		return w
	}
	w = slices.Clone(w)
	holder := a.moving.IntN(len(movers))
	for k, name := range movers {
		i := slices.IndexFunc(w, func(s stack) bool { return s.name == name })
		if i < 0 {
			i, w = len(w), append(w, stack{name: name, version: "v1"})
		}
		w[i].physical = physicalName(name) // a stack that gets another name is deleted with its table
		w[i].place(k == holder)
	}
	return w
}

// failAfterMove lets an update fail sometimes, after the table was moved.
func (a *generator) failAfterMove(w stacks) {
	if a.moving != nil && !a.plain && a.moving.IntN(3) == 0 {
		a.add("fail", w[a.moving.IntN(len(w))].nameOnBackend()+"/update")
	}
}

// place makes s the one of the two stacks that has the table, or the other.
func (s *stack) place(has bool) {
	s.readable, s.table, s.unkept, s.giver = true, "", false, ""
	if has {
		s.table, s.unkept, s.giver = movedTable, true, s.partner()
	}
}

// partner is the other one of the two stacks.
func (s *stack) partner() string { return movers[(slices.Index(movers, s.name)+1)%len(movers)] }

// givers returns w without the key move_from if no stack has the table and no run could create it: then a deploy creates it.
func (g *player) givers(w stacks) stacks {
	p, ok := g.backend.(*memoryBackend)
	open := func(r run.Run) bool { return !r.State.Over() }
	if !ok || p.Cloud.Created(movedTable) > 0 || slices.ContainsFunc(g.runs(), open) {
		return w
	}
	w = slices.Clone(w)
	for i := range w {
		w[i].giver = ""
	}
	return w
}

// reachable returns w with the table where a deploy can bring it: it stays where it is if one of the two stacks can give or
// take nothing.
func (g *player) reachable(w stacks) stacks {
	p, ok := g.backend.(*memoryBackend)
	if !ok || !slices.ContainsFunc(w, func(s stack) bool { return s.table == movedTable }) {
		return w
	}
	holder := strings.TrimPrefix(p.Cloud.HolderOf(movedTable), physicalName(""))
	w = slices.Clone(w)
	possible := true
	for _, name := range movers {
		s := p.Status(name)
		possible = possible && (s.Good() || s.Restored()) && slices.ContainsFunc(w, func(s stack) bool { return s.name == name })
	}
	for i := range w {
		if s := &w[i]; holder != "" && !possible && slices.Contains(movers, s.name) {
			s.place(s.name == holder)
		}
	}
	for i := range w {
		s := &w[i]
		if there := slices.ContainsFunc(w, func(o stack) bool { return o.name == s.giver }); s.giver != "" && (!there || p.Status(s.name).Dead()) {
			s.giver = ""
		}
	}
	return g.givers(w)
}

// keepsMoved checks the tables that were deleted since the last check.
func (g *player) keepsMoved() {
	p, ok := g.backend.(*memoryBackend)
	if !ok {
		return
	}
	for _, d := range p.Cloud.Deletions[g.deletions:] {
		r := g.ExecutionStatus(d.By)
		files, known := g.sources[r.Source]
		has := known && r.Operation != "destroy" && !g.older(r.Revision, d.Maker) && slices.ContainsFunc(files, func(s stack) bool { return s.table == d.Table })
		g.holds(kept, !has || d.Again || d.Maker != "" && rollbackOf(d.Maker) == d.By, "run %s (%s) has deleted %s, which run %s has created", d.By, r.Operation, d.Table, d.Maker)
	}
	g.deletions = len(p.Cloud.Deletions)
}

// older reports whether a revision is that of a run which was requested before the run that has created a table. Its files had another table of that name, which is gone,
// or none; they move nothing.
func (g *player) older(revision, maker string) bool {
	return revision != "" && maker != "" && g.ExecutionStatus(revision).Requested.Before(g.ExecutionStatus(maker).Requested)
}

// occupies lists the nodes whose stacks a step changes.
func occupies(s run.Step) []string {
	var m plan.Movement
	if s.Verb != plan.MoveIn || s.Arguments.Read(plan.MovementVersion, &m) != nil {
		return []string{s.Node}
	}
	return []string{s.Node, m.Source.Node}
}
