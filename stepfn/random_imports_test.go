package stepfn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
)

// Random scenarios in which stacks import tables: tables that exist outside of all stacks, keys under
// import: that come and go, and stacks of a user that take tables and leave them.

const preserved invariant = "preserved: no table that existed is deleted, or created again, and a stack that imports a table gets it by an import"

// importingSeeds tells in which random scenarios stacks import tables: one of so many.
const importingSeeds = 4

// tables are the tables of these scenarios.
var tables = []string{"t0", "t1", "t2"}

// imports lets a scenario have tables. They are drawn from random numbers of their own.
func (a *generator) imports(seed uint64) {
	if seed%importingSeeds != 1 || a.emulated || a.following != nil {
		return
	}
	a.importing, a.outside = rand.New(rand.NewPCG(seed, 9)), rand.New(rand.NewPCG(seed, 37))
	for _, t := range tables {
		a.add("table", t)
	}
}

// withTables gives tables to some stacks of a project: no table to two of them, because check refuses that.
func (a *generator) withTables(w stacks) stacks {
	if a.importing == nil {
		return w
	}
	w = slices.Clone(w)
	free := slices.Clone(tables)
	for i := range w {
		if s := &w[i]; s.table != "" && a.importing.IntN(5) > 0 {
			free = slices.DeleteFunc(free, func(t string) bool { return t == s.table })
			s.importsTable = a.importing.IntN(3) > 0
		} else {
			s.readable, s.table, s.importsTable = true, "", false
		}
	}
	for i := range w {
		if s := &w[i]; s.table == "" && len(free) > 0 && a.importing.IntN(3) == 0 {
			k := a.importing.IntN(len(free))
			s.table, s.importsTable = free[k], a.importing.IntN(6) > 0
			free = slices.Delete(free, k, k+1)
		}
	}
	return w
}

// takeTables adds that a user takes a table, or leaves one.
func (a *generator) takeTables() {
	if a.importing == nil || a.importing.IntN(4) > 0 {
		return
	}
	what := []string{"taken", "taken", "left"}[a.importing.IntN(3)]
	a.add(what, tables[a.importing.IntN(len(tables))])
}

// tableLine executes a line about tables.
func (g *player) tableLine(l line) {
	p := g.backend.(*memoryBackend)
	theirs := "user-" + l[1]
	switch {
	case l[0] == "table":
		p.Cloud.CreateTable(l[1])
		g.tables = append(g.tables, l[1])
	case l[0] == "taken" && p.Cloud.HolderOf(l[1]) == "":
		g.injected["table taken"]++
		made := stacks{{name: theirs, physical: theirs, version: "v1", readable: true, table: l[1]}}
		p.Cloud.Make(theirs, made.project().Nodes[theirs].Template.Digest, nil)
	case l[0] == "left" && p.Cloud.HolderOf(l[1]) == theirs:
		p.Cloud.Set(theirs, "DELETE_COMPLETE")
	}
}

// keepsTables checks the tables that existed before.
func (g *player) keepsTables() {
	for _, t := range g.tables {
		n := g.backend.(*memoryBackend).Cloud.Created(t)
		g.holds(preserved, n == 1, "%s exists after %d creations: 0 is deleted", t, n)
	}
}

// imported checks a request that creates or updates a stack which imports a table: the stack has it
// already.
func (w *monitor) imported(t action.Task) {
	if len(t.Node.Import) == 0 || t.Request != action.CreateStack && t.Request != action.UpdateStack {
		return
	}
	has, _ := w.p.Cloud.Template(t.Location().Stack)
	table := sim.TableOf(t.Node.Template.Digest)
	w.holds(preserved, sim.TableOf(has) == table, "%s is requested with the table %s, and the stack has %q", t.Step.ID, table, sim.TableOf(has))
}

// importable returns w without what cannot be imported as it is: a user leaves his tables, a stack
// imports only what no other stack has, and only if it can import.
func (g *player) importable(w stacks) stacks {
	p, ok := g.backend.(*memoryBackend)
	if !ok {
		return w
	}
	for _, t := range g.tables {
		g.tableLine(line{"left", t})
	}
	w = slices.Clone(w)
	for i := range w {
		s := &w[i]
		if s.table == "" || s.table == movedTable {
			continue
		}
		status := p.Status(s.nameOnBackend())
		possible := status.Gone() || status.Dead() || status.Good() || status.Restored()
		has, _ := p.Cloud.Template(s.physical)
		switch holder := p.Cloud.HolderOf(s.table); {
		case holder == s.physical && status.Dead(): // the stack is deleted, and the table is retained
			s.importsTable = true
		case holder == s.physical: // with or without the key
		case holder != "" || sim.TableOf(has) != "" || !possible:
			s.table, s.importsTable = "", false
		default:
			s.importsTable = true
		}
	}
	return w
}

// hasTable checks that a stack has the table that it was deployed with.
func (g *player) hasTable(run string, s stack) {
	p, ok := g.backend.(*memoryBackend)
	if !ok {
		return
	}
	template, _ := p.Cloud.Template(s.physical)
	g.holds(fulfilled, sim.TableOf(template) == s.table, "%s", fmt.Sprintf("run %s has succeeded, but %s has the table %q, not %q", run, s.name, sim.TableOf(template), s.table))
}
