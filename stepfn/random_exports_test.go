package stepfn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which exports appear, move from stack to stack, are exchanged, and vanish.

const unhindered invariant = "unhindered: no step fails because an export is in use or has two makers, unless the plan has said so"

// exportingSeeds is of how many seeds one has stacks with exports of their own.
const exportingSeeds = 5

// exports lets some stacks of a scenario make and import exports. They are drawn from random numbers of their own.
func (a *generator) exports(seed uint64) {
	spread := slices.ContainsFunc(a.script, func(l line) bool { return l[0] == "targets" })
	if seed%exportingSeeds == 2 && !spread && a.following == nil && a.promoting == nil && !a.contests && !a.crowded {
		a.exporting = rand.New(rand.NewPCG(seed, 53))
	}
}

// exporter reports whether a stack is one of those that exports draws.
func exporter(name string) bool { return strings.HasPrefix(name, "e") }

// withExports adds stacks that are connected by exports alone, so that each state can follow each other one in two
// deploys.
func (a *generator) withExports(w stacks) stacks {
	if a.exporting == nil {
		return w
	}
	w = slices.DeleteFunc(slices.Clone(w), func(s stack) bool { return exporter(s.name) })
	for i := range w {
		w[i].needs = slices.DeleteFunc(slices.Clone(w[i].needs), func(n need) bool { return exporter(n.name) })
	}
	var made []string
	for _, k := range a.exporting.Perm(3) {
		s := stack{name: fmt.Sprint("e", k), version: []string{"v1", "v2"}[a.exporting.IntN(2)]}
		s.physical = physicalName(s.name)
		for _, x := range made {
			if a.exporting.IntN(2) == 0 {
				s.imports = append(s.imports, x)
			}
		}
		for _, x := range []string{"x", "y"} {
			if !slices.Contains(made, x) && a.exporting.IntN(2) == 0 {
				s.exports, made = append(s.exports, x), append(made, x)
			}
		}
		if len(w) == 0 || a.exporting.IntN(5) > 0 {
			w = append(w, s)
		} else {
			made = slices.DeleteFunc(made, func(x string) bool { return slices.Contains(s.exports, x) })
		}
	}
	return w
}

// withoutExports are the same stacks without exports and imports of their own.
func (w stacks) withoutExports() stacks {
	w = slices.Clone(w)
	for i := range w {
		w[i].exports, w[i].imports = nil, nil
	}
	return w
}

// hindered reports whether a plan was refused because of exports.
func hindered(r run.Run) bool {
	said := strings.Join(r.Messages, "\n")
	return r.State == run.StateRefused && (strings.Contains(said, "export that is in use") || strings.Contains(said, "no order works"))
}

// unhinders checks the steps of a run that failed.
func (g *player) unhinders(r run.Run) {
	if strings.Contains(strings.Join(r.Messages, "\n"), "export that is in use") {
		return
	}
	for _, s := range r.Steps {
		because := s.Status == run.Failed && exporter(s.Node) &&
			(strings.Contains(s.Why, "Cannot delete export") || strings.Contains(s.Why, "is already exported"))
		g.holds(unhindered, !because, "run %s: %s failed: %s", r.ID, s.ID, s.Why)
	}
}
