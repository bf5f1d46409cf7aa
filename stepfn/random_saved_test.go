package stepfn_test

import (
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

const (
	asPlanned invariant = "as-planned: a run with a saved plan does exactly what that plan says, or nothing"
	refused   invariant = "refused: a run whose saved plan is out of date does nothing"
)

// A savedPlan is the last plan of a random scenario that was only shown.
type savedPlan struct {
	run     string
	from    int      // the place in the requested runs of the first one after it
	changed []string // the stacks that were changed outside Stackwright since
}

// deployPlanned requests a deploy that carries out the last plan, with the files of that plan.
func (g *player) deployPlanned(l line) {
	plan := g.ExecutionStatus(g.saved.run)
	if plan.State != run.StateSucceeded {
		return
	}
	_, late := l.option("late") // by then it may be in date again
	outdated := !late && g.isOutdated(plan)
	g.injected["saved plan"]++
	if outdated {
		g.injected["saved plan out of date"]++
		g.Pass(10 * time.Second) // descriptions of stacks lag less: what nobody can see refuses no plan
	}
	w := g.desired[plan.ID]
	id := g.deliver(append(line{"deploy"}, l[1:]...), w, "", []options{{plan: plan.Changes, source: plan.Source}})
	g.requested = append(g.requested, id)
	g.desired[id], g.outdated[id], g.last = w, outdated, w
}

// isOutdated reports whether a stack that a plan changes is not as it was. No run is open.
func (g *player) isOutdated(p run.Run) bool {
	shown := g.Planned(p)
	nodes := make(map[string]bool)
	for _, c := range shown.Stacks {
		if slices.Contains(g.saved.changed, c.Name) {
			return true
		}
		created := c.Action == plan.ActionCreate || c.Action == plan.ActionImport && slices.Contains(c.Steps, c.Stack+"/create-empty")
		cameAndWent := created && g.Status(strings.TrimPrefix(c.Name, physicalName(""))).Gone()
		nodes[c.Stack] = !cameAndWent
	}
	for _, id := range g.requested[g.saved.from:] {
		for _, s := range g.ExecutionStatus(id).Steps {
			if s.Attempt > 0 && nodes[s.Node] && requests(s.Verb) && s.Status == run.Done && !s.Receipt.Unchanged {
				return true
			}
		}
	}
	return false
}

// checkPlanned checks a run that has ended, if it has a saved plan.
func (g *player) checkPlanned(r run.Run) {
	if r.Plan == "" {
		return
	}
	g.holds(refused, !g.outdated[r.ID] || len(r.Steps) == 0, "run %s has the steps %v", r.ID, stepIDs(r))
	if len(r.Steps) == 0 {
		return
	}
	saved := run.Run{Changes: r.Plan}
	want := g.plannedSteps(saved)
	g.holds(asPlanned, slices.Equal(want, stepIDs(r)), "run %s has the steps %v, and its plan %v", r.ID, stepIDs(r), want)
}

// plannedSteps lists the steps of a plan, as its document has them.
func (g *player) plannedSteps(r run.Run) (all []string) {
	for _, s := range g.Planned(r).Steps {
		all = append(all, s.Step)
	}
	return all
}

// stepIDs lists the steps of a run, but for those that wait for an approval. What only proposes a change has the ID of the change.
func stepIDs(r run.Run) []string {
	var all []string
	for _, s := range r.Steps {
		switch {
		case s.Approval != nil, s.Verb == plan.Propose:
		case s.Verb == plan.Execute: // of an update
			all = append(all, plan.StepID(s.Node, plan.Update, ""))
		default:
			all = append(all, strings.Replace(s.ID, "/propose-", "/", 1))
		}
	}
	return slices.Compact(all) // what is proposed follows its proposal
}
