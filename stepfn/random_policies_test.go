package stepfn_test

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Random scenarios in which the installation has a policy, which changes between requests.

const permitted invariant = "permitted: nothing that a policy denied when a run was planned is executed, except by a rollback"

// policedSeeds tells in which random scenarios the installation has policies: one of so many.
const policedSeeds = 5

// A denial is something that a policy denies.
type denial struct {
	when   string
	denies func(r run.Run, s run.Step) bool
}

var denials = map[string]denial{
	"nothing": {"", func(run.Run, run.Step) bool { return false }},
	"creates": {`stack.action in ["create", "replace"]`, func(_ run.Run, s run.Step) bool { return s.Verb == plan.Create }},
	"updates": {`stack.action == "update"`, func(r run.Run, s run.Step) bool {
		return s.Verb == plan.Update && !has(r, s.Node, plan.Adopt) && !importing(r, s.Node)
	}},
	"adopts": {`stack.action == "adopt"`, func(_ run.Run, s run.Step) bool { return s.Verb == plan.Adopt }},
	"deletes": {`stack.action == "delete"`, func(r run.Run, s run.Step) bool {
		return s.Verb == plan.Delete && !has(r, s.Node, plan.Create) && !importing(r, s.Node)
	}},
	"imports":  {`stack.action == "import"`, func(r run.Run, s run.Step) bool { return imports(s.Verb) && r.Operation != "replace" }}, // the action of that is replace
	"forgets":  {`stack.action == "forget"`, func(_ run.Run, s run.Step) bool { return s.Verb == plan.Forget && s.Node != "" }},
	"destroys": {`plan.operation == "destroy"`, func(r run.Run, _ run.Step) bool { return r.Operation == "destroy" }},
}

// has reports whether a run has a step with a verb on a node.
func has(r run.Run, node string, v plan.Verb) bool {
	return slices.ContainsFunc(r.Steps, func(s run.Step) bool { return s.Node == node && s.Verb == v })
}

// importing reports whether a run imports resources into the stack of a node.
func importing(r run.Run, node string) bool {
	return has(r, node, plan.Import)
}

// policies lets a scenario have policies. They are drawn from random numbers of their own, so that
// the rest of the scenario does not depend on them.
func (a *generator) policies(seed uint64) {
	if seed%policedSeeds == 0 {
		a.policed = rand.New(rand.NewPCG(seed, 8))
	}
}

// policy adds a change of the policy.
func (a *generator) policy() {
	if a.policed == nil || a.policed.IntN(3) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(denials))
	a.add("policy", names[a.policed.IntN(len(names))])
}

// deny changes the policy of the installation, when no run can continue.
func (g *player) deny(l line) {
	if g.denied == l[1] || g.denied == "" && l[1] == "nothing" {
		return
	}
	g.finish()
	g.denied = l[1]
	g.injected["policy"]++
	g.Rule(true, "deny", denials[l[1]].when)
}

// permits checks a step of a run that starts.
func (w *monitor) permits(r run.Run, s run.Step, denied string) {
	d, ok := denials[denied]
	w.holds(permitted, !ok || r.Operation == plan.RollbackName || !d.denies(r, s), "%s of run %s starts, and a policy denied what %s", s.ID, r.ID, denied)
}
