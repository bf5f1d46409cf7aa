package stepfn_test

import (
	"math/rand/v2"
	"strconv"

	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which somebody changes resources without CloudFormation.

const (
	detects invariant = "detects: a drift detection without faults records what has drifted, and nothing else, and changes no stack"
	reverts invariant = "reverts: reverting drift without faults brings back what has drifted, and deploys nothing else"
)

// driftedSeeds tells in which random scenarios resources drift: one of so many.
const driftedSeeds = 4

// drifts lets resources drift. What drifts is drawn from random numbers of its own, so that the rest of the scenario does not depend on it.
func (a *generator) drifts(seed uint64) {
	if seed%driftedSeeds == 2 {
		a.drifting = rand.New(rand.NewPCG(seed, 12))
	}
}

// drift adds changes of resources, and sometimes a detection.
func (a *generator) drift() {
	if a.drifting == nil {
		return
	}
	for _, st := range a.last {
		if a.drifting.IntN(4) == 0 {
			words := []string{st.nameOnBackend()}
			if a.drifting.IntN(4) == 0 && !a.emulated {
				words = append(words, "deleted")
			}
			a.add("drifts", words...)
		}
	}
	switch a.drifting.IntN(4) {
	case 0:
		a.add("drift")
		a.add("pass", strconv.Itoa(1+a.drifting.IntN(30)))
	case 1:
		a.add("drift")
		a.add("wait-idle")
		a.add("revert-drift")
		if a.plain {
			a.add("wait-idle")
		}
	}
}

// changeResource changes or deletes a resource of a stack, if there is one.
func (g *player) changeResource(l line) {
	if s := g.Status(l[1]); s.Good() || s.Restored() {
		g.injected["drift"]++
		g.drifted = true
		g.Drift(l[1], len(l) > 2)
	}
}

// bringBack reverts all drift, and checks that nothing else changes.
func (g *player) bringBack() {
	if !g.drifted {
		return
	}
	g.detect()
	before := g.Recorded()
	g.submit(line{"revert-drift"})
	g.finish()
	r := g.ExecutionStatus(g.of(0))
	after := g.Recorded()
	for name, was := range before {
		is := after[name]
		g.holds(reverts, is.Digest == was.Digest && is.StackID == was.StackID, "%s was %+v, and is %+v", name, was, is)
		g.holds(reverts, !is.Drifted() || r.State == run.StateRefused, "the run is %s: %s, and %s has drifted: %+v", r.State, failedSteps(r), name, is.Drift)
	}
	g.detect()
	g.createAgain()
}

// createAgain lets somebody create again what was deleted without CloudFormation: no deploy brings it back, and one that changes it fails.
// Resources are deleted so in memory only.
func (g *player) createAgain() {
	if p, inMemory := g.backend.(*memoryBackend); inMemory {
		for _, r := range g.Recorded() {
			p.Cloud.Restore(r.Location())
		}
	}
}

// detect checks that a drift detection finds what has drifted.
func (g *player) detect() {
	before := g.snapshot()
	g.submit(line{"drift"})
	g.finish()
	r := g.ExecutionStatus(g.of(0))
	g.holds(detects, r.State.Over() && before == g.snapshot(), "the run is %s, and what was\n%s\nis\n%s", r.State, before, g.snapshot())
	p, inMemory := g.backend.(*memoryBackend)
	records := g.Recorded()
	for _, s := range r.Steps {
		if s.Status != run.Done || !inMemory {
			continue
		}
		rec := records[s.Node]
		g.holds(detects, rec.Drifted() == p.Cloud.Drifted(rec.Location()), "%s is %s, and its record says %+v", s.ID, s.Why, rec.Drift)
	}
}
