package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/stackwright/stackwright/pkg/project"
)

// Gated returns p with the steps that wait for approval, one for each person who has to approve. If the rule is about the
// whole plan, they come before all other steps. Otherwise each stack that demands approval has its own, which come before
// its steps that have to be approved, and the steps of other stacks do not wait.
func (v View) Gated(p Plan, by project.Approval) Plan {
	by.Approvals = max(by.Approvals, 1)
	var steps []Step
	waits := make(map[string][]int) // the places of the steps that wait for approval, by node; "" is the whole plan
	ask := func(node string) []int {
		if waits[node] == nil {
			for i := range by.Approvals {
				qualifier := ""
				if i > 0 {
					qualifier = strconv.Itoa(i + 1)
				}
				waits[node] = append(waits[node], len(steps))
				steps = append(steps, Step{
					ID: StepID(node, Approve, qualifier), Node: node, Verb: Approve, Qualifier: qualifier, Approval: &by, Timeout: cmp.Or(by.Expires, project.DefaultExpiry),
				})
			}
		}
		return waits[node]
	}
	if by.Plan {
		ask("")
	}
	places := make([]int, len(p.Steps)) // of the steps of p in the new plan
	for i, s := range p.Steps {
		var after []int
		for _, n := range s.After {
			after = append(after, places[n])
		}
		switch {
		case by.Plan && len(after) == 0: // all others come after one of these
			after = slices.Clone(ask(""))
		case !by.Plan && v.demand(s) != "":
			after = append(after, ask(s.Node)...)
			slices.Sort(after)
		}
		places[i], s.After = len(steps), after
		steps = append(steps, s)
	}
	p.Steps = steps
	return p
}

// Demands says which stacks of p have to be approved, and why, by a rule that is not about the whole plan.
func (v View) Demands(p Plan) []string {
	var all []string
	said := make(map[string]bool)
	for _, s := range p.Steps {
		if why := v.demand(s); why != "" && !said[s.Node] {
			said[s.Node] = true
			all = append(all, fmt.Sprintf("stack %s has to be approved: %s", cmp.Or(v.Recorded[s.Node].formerNode(), s.Node), why))
		}
	}
	return all
}

// demand says why a stack demands that a step of it is approved; it is empty if it does not. Both the rule in
// the files and the one with which the stack was last deployed count, so that no files take away their own rule.
func (v View) demand(s Step) string {
	n, desired := v.Desired.Nodes[s.Node]
	was := v.Recorded[s.Node].Approve
	status := v.Live[s.Node].Status
	deletes := s.does(Forget) || s.does(Delete) && (!desired || status == "DELETE_FAILED" || status == "DELETE_IN_PROGRESS") // others that are created again were never created
	changes := s.does(Create, Update, Continue, Delete, Forget, Import, CreateEmpty, MoveOut, MoveIn)
	demanded := func(l project.ApprovalLevel) bool { return l == project.ApproveAlways && changes || l != "" && deletes }
	switch {
	case (changes || s.does(SetLevel)) && desired && n.Approve.Weaker(was):
		return fmt.Sprintf("the files change approve: %s to %s", was, n.Approve)
	case demanded(n.Approve):
		return "approve: " + n.Approve.String()
	case demanded(was):
		return "it was deployed with approve: " + was.String()
	}
	return ""
}

// does reports whether s has one of the verbs.
func (s Step) does(verbs ...Verb) bool { return slices.Contains(verbs, s.Verb) }
