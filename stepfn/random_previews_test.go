package stepfn_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which users plan operations before they request them.

const (
	plansOnly invariant = "plans only: a plan of an operation leaves the records and the live stacks as they were"
	foretold  invariant = "foretold: an operation that follows its plan at once has the steps of the plan"
)

// previewingSeeds is of how many seeds one has operations that are planned before.
const previewingSeeds = 3

// previews lets operations of a scenario be planned before. Which ones is drawn from random numbers of its own.
func (a *generator) previews(seed uint64) {
	drawn := rand.New(rand.NewPCG(seed, 31))
	if drawn.IntN(previewingSeeds) == 0 && !a.emulated && !a.plain {
		a.previewing = drawn
	}
}

// preview adds that the next request is planned before.
func (a *generator) preview(what string, words []string) {
	if a.previewing == nil || slices.Contains(words, "refusing") || slices.Contains(words, "late") || slices.Contains(words, "twice") {
		return
	}
	if o, known := plan.AllOperations().Named(previewOf(what)); known && o.Requestable && a.previewing.IntN(2) == 0 {
		a.script = append(a.script, line{"planned-before"})
	}
}

// previewOf is the name of the operation that plans another.
func previewOf(operation string) string { return "plan-" + operation }

// plannedBefore sends a request of an operation; if the script says so, after that of its plan. Nothing happens between the two, until the operation is planned too.
func (g *player) plannedBefore(operation string, send func(operation string) string) string {
	if !g.previewed {
		return send(operation)
	}
	g.previewed = false
	g.finish()
	before := g.snapshot()
	id := send(previewOf(operation))
	g.requested = append(g.requested, id)
	g.finish()
	r := g.ExecutionStatus(id)
	g.holds(plansOnly, r.State.Over() && before == g.snapshot(), "%s of run %s is %s; what was\n%s\nis\n%s", r.Operation, r.ID, r.State, before, g.snapshot())
	id = send(operation)
	if r.State == run.StateSucceeded {
		g.expected[id] = g.plannedSteps(r)
	}
	for range 3600 {
		if _, waits := g.expected[id]; !waits || g.ExecutionStatus(id).State.Over() {
			break
		}
		g.Pass(time.Second)
	}
	return id
}

// asForetold checks a run that is planned.
func (w *monitor) asForetold(r run.Run) {
	want, planned := w.expected[r.ID]
	delete(w.expected, r.ID)
	w.holds(foretold, !planned || slices.Equal(want, stepIDs(r)), "run %s, a %s, has the steps %v, and its plan %v", r.ID, r.Operation, stepIDs(r), want)
}
