package stepfn_test

import (
	"math/rand/v2"

	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which somebody changes resources without CloudFormation.

const detects invariant = "detects: a drift detection without faults records what has drifted, and nothing else, and changes no stack"

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
			a.add("drifts", st.nameOnBackend())
		}
	}
	if a.drifting.IntN(3) == 0 {
		a.add("drift")
	}
}

// changeResource changes a resource of a stack, if there is one.
func (g *player) changeResource(stack string) {
	if s := g.Status(stack); s.Good() || s.Restored() {
		g.injected["drift"]++
		g.Drift(stack, false)
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
