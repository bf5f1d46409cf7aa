package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/project"
)

// Gated returns p with the steps that wait for approval, one for each person who has to approve. If the rule is about the
// whole plan, they come before all other steps. Otherwise each stack that demands approval has its own, which come before
// its steps that have to be approved, and the steps of other stacks do not wait. An update whose change set decides becomes
// several steps: propose it, approve it, and execute it.
func (v View) Gated(p Plan, by project.Approval) Plan {
	by.Approvals = max(by.Approvals, 1)
	g := gating{View: v, by: by, approving: make(map[string][]int), proposals: make(map[string]string)}
	if by.Plan {
		g.ask("")
	}
	places := make([]int, len(p.Steps)) // of the steps of p in the new plan
	for i, s := range p.Steps {
		var after []int
		for _, n := range s.After {
			after = append(after, places[n])
		}
		switch {
		case by.Plan && len(after) == 0: // all others come after one of these
			after = slices.Clone(g.ask(""))
		case !by.Plan && v.demand(s) != "":
			after = append(after, g.ask(s.Node)...)
			slices.Sort(after)
		}
		if s.After = after; v.reviewed(s) {
			s = g.review(s)
		}
		places[i] = g.add(s)
	}
	p.Steps = g.steps
	return p
}

// A gating is a plan that gets steps which wait for approval.
type gating struct {
	View
	by        project.Approval
	steps     []Step
	proposals map[string]string // the steps that make change sets, by node
	approving map[string][]int  // the places of the steps that wait for the approval of a node's steps; "" is the whole plan
}

// add adds a step, and returns its place.
func (g *gating) add(s Step) int {
	g.steps = append(g.steps, s)
	return len(g.steps) - 1
}

// ask returns the places of the steps that wait until the steps of a node are approved.
func (g *gating) ask(node string) []int {
	if g.approving[node] == nil {
		g.approving[node] = g.approvals(Step{Node: node, Approval: &g.by})
	}
	return g.approving[node]
}

// approvals adds a copy of s for each person who has to approve, and returns their places.
func (g *gating) approvals(s Step) []int {
	var places []int
	first := s.Qualifier
	for i := range g.by.Approvals {
		if s.Qualifier = first; i > 0 {
			s.Qualifier += strconv.Itoa(i + 1)
		}
		s.Verb, s.ID = Approve, StepID(s.Node, Approve, s.Qualifier)
		s.Timeout = cmp.Or(g.by.Expires, project.DefaultExpiry)
		places = append(places, g.add(s))
	}
	return places
}

// review adds the steps that make the change set of an update, and wait until it is approved, before s, the update or the
// first of its hooks. It returns s, or the step that executes the change set in the place of the update.
func (g *gating) review(s Step) Step {
	propose, execute := s.review()
	if g.proposals[s.Node] == "" {
		proposal := Step{ID: StepID(s.Node, propose, ""), Node: s.Node, Where: s.Where, Verb: propose, Deployment: g.Desired.Nodes[s.Node].Deployment, After: s.After}
		g.proposals[s.Node] = proposal.ID
		s.After = []int{g.add(proposal)}
		if g.level(s.Node).Updates() {
			rule := g.by
			rule.Plan = false
			s.After = g.approvals(Step{
				Node: s.Node, Qualifier: ofChangeSet, Approval: &rule, Proposal: proposal.ID, After: s.After,
				Optional: g.by.Plan || g.weakened(s.Node) == "",
			})
		}
	}
	if s.Around == "" {
		s.ID, s.Verb, s.Proposal = StepID(s.Node, execute, ""), execute, g.proposals[s.Node]
	}
	return s
}

// review returns the verbs that propose the change set of a step and execute it.
func (s Step) review() (propose, execute Verb) {
	if s.does(Revert) {
		return ProposeRevert, Revert
	}
	return Propose, Execute
}

// ofChangeSet qualifies the steps that wait for the approval of a change set.
const ofChangeSet = "change-set"

// Question returns the ID of the first of the steps that wait for the approval of the same as s.
func (s Step) Question() string {
	if s.Proposal != "" {
		return StepID(s.Node, Approve, ofChangeSet)
	}
	return StepID(s.Node, Approve, "")
}

// Asks reports whether s waits for approval in any case.
func (s Step) Asks() bool { return s.Approval != nil && !s.Optional }

// level is the level by which the steps of a node have to be approved: that of the files, or the one with which the stack was
// last deployed if that demands more, so that no files take away their own rule.
func (v View) level(node string) project.ApprovalLevel {
	return v.Desired.Nodes[node].Approve.Stronger(v.Recorded[node].Approve)
}

// reviewed reports whether the change set of s decides whether s has to be approved.
func (v View) reviewed(s Step) bool {
	s.Verb = cmp.Or(s.Around, s.Verb) // the hooks of an update wait for it too
	return s.does(Revert) || s.does(Update) && v.level(s.Node).Updates()
}

// Estimated returns p, which has the steps that wait for approval, with those waiting in any case that c, what the plan
// changes, demands: a person has been shown that they do. If the whole plan has to be approved, that approval is about
// c too, and the change set of a stack has to be approved only if it differs.
func (v View) Estimated(p Plan, c Changes) Plan {
	if len(p.Steps) > 0 && p.Steps[0].Approval != nil && p.Steps[0].Approval.Plan {
		return p
	}
	p.Steps = slices.Clone(p.Steps)
	for i, s := range p.Steps {
		if s.Optional {
			p.Steps[i].Optional = c.Of(s.Node).demand(v.level(s.Node)) == ""
		}
	}
	return p
}

// Asks says why a change set has to be approved, by the level of a node or the one with which its stack was last deployed.
// estimate is what the plan said of the stack. It reports missed if the change set has to be approved and the estimate, which
// may have been approved with the whole plan, did not say the same.
func (p Proposal) Asks(estimate StackChange, l project.ApprovalLevel) (why string, missed bool) {
	exact, said := estimate.exact(p), estimate.demand(l)
	switch why = exact.demand(l); {
	case p.Unchanged && !p.Protection:
		why = ""
	case l == project.ApproveAlways:
		why = "approve: always"
	}
	if why == "" && said != "" {
		return "the plan said " + said + "; the change set does not", false
	}
	return why, why != "" && (said == "" || len(exact.Disagreements) > 0 || exact.beyond().demand(l) != "")
}

// beyond returns what c, which a change set says, has that no estimate can say: the resources of nested stacks, and that
// something was left out.
func (c StackChange) beyond() StackChange {
	only := StackChange{Exact: c.Exact, UnknownDataLoss: c.UnknownDataLoss}
	for _, r := range c.Resources {
		if r.nested() {
			only.Resources = append(only.Resources, r)
		}
	}
	return only
}

// demand says why c, the update of a stack, has to be approved by a level; it is empty if it does not. An estimate of
// which not all is known leaves that to the change set.
func (c StackChange) demand(l project.ApprovalLevel) string {
	var loses, mayLose, replaces, mayReplace []string
	for _, r := range c.Resources {
		switch {
		case r.DataLoss:
			loses = append(loses, r.ID)
		case r.PossibleDataLoss:
			mayLose = append(mayLose, r.ID)
		case r.Action == difference.Replace:
			replaces = append(replaces, r.ID)
		case r.Replacement == resource.Conditional:
			mayReplace = append(mayReplace, r.ID)
		}
	}
	says := func(what string, ids []string) string {
		return fmt.Sprintf("approve: %s, and the update %s %s", l, what, listed(ids))
	}
	switch {
	case l == project.ApproveAlways && c.Certainty == Certain:
		return "approve: always"
	case !l.Updates():
		return ""
	case !l.Weaker(project.ApproveDrift) && len(c.Drifted) > 0:
		return fmt.Sprintf("approve: %s, and the stack has drifted: %s", l, listed(c.Drifted))
	case len(loses) > 0:
		return says("deletes the data of", slices.Concat(loses, mayLose))
	case len(mayLose) > 0:
		return says("may delete the data of", mayLose)
	case c.Exact && c.UnknownDataLoss:
		return fmt.Sprintf("approve: %s, and CloudFormation has left something out of the change set", l)
	case l.Weaker(project.ApproveReplacements):
		return ""
	case len(replaces) > 0:
		return says("replaces", slices.Concat(replaces, mayReplace))
	case len(mayReplace) > 0:
		return says("may replace", mayReplace)
	}
	return ""
}

// Of returns what c says of a stack; the zero StackChange if it says nothing.
func (c Changes) Of(stack string) StackChange {
	if i := slices.IndexFunc(c.Stacks, func(s StackChange) bool { return s.Stack == stack }); i >= 0 {
		return c.Stacks[i]
	}
	return StackChange{Stack: stack}
}

// Demands says which stacks of p have to be approved, and why, by a rule that is not about the whole plan. c is what p changes.
func (v View) Demands(p Plan, c Changes) []string {
	var all []string
	said := make(map[string]bool)
	for _, s := range p.Steps {
		name, why := cmp.Or(v.Recorded[s.Node].formerNode(), s.Node), v.demand(s)
		if v.reviewed(s) {
			why = cmp.Or(v.weakened(s.Node), c.Of(s.Node).demand(v.level(s.Node)))
		}
		switch {
		case said[s.Node]:
			continue
		case why != "":
			all = append(all, fmt.Sprintf("stack %s has to be approved: %s", name, why))
		case v.reviewed(s) && v.level(s.Node).Updates():
			all = append(all, fmt.Sprintf("stack %s may have to be approved: by approve: %s, its change set decides", name, v.level(s.Node)))
		default:
			continue
		}
		said[s.Node] = true
	}
	return all
}

// demand says why a stack demands that a step of it is approved; it is empty if it does not, and for an update whose change
// set decides. Both the rule in the files and the one with which the stack was last deployed count.
func (v View) demand(s Step) string {
	c, calls, err := CallOf(s)
	alone := calls && s.Around == ""  // the stack does not change
	s.Verb = cmp.Or(s.Around, s.Verb) // a hook needs what its stack needs
	n, desired := v.Desired.Nodes[s.Node]
	was := v.Recorded[s.Node].Approve
	status := v.Live[s.Node].Status
	deletes := s.does(Forget) || s.does(Delete) && (!desired || isReplaced([]Step{s}) || status == "DELETE_FAILED" || status == "DELETE_IN_PROGRESS") // others that are created again were never created
	skips, unread := s.Skips()
	loses := alone && (err != nil || c.Hook.Loses != "") || len(skips) > 0 || unread != nil
	changes := s.does(Create, Update, Continue, Delete, Forget, Import, CreateEmpty, MoveOut, MoveIn)
	demanded := func(l project.ApprovalLevel) bool {
		return l == project.ApproveAlways && (changes || s.does(Suspend)) || l != "" && (deletes || loses || s.does(DeleteBackup))
	}
	weakened := v.weakened(s.Node)
	switch {
	case v.reviewed(s):
		return ""
	case (changes || s.does(SetLevel)) && weakened != "":
		return weakened
	case demanded(n.Approve):
		return "approve: " + n.Approve.String()
	case demanded(was):
		return "it was deployed with approve: " + was.String()
	}
	return ""
}

// weakened says that the files weaken the level of a node; it is empty if they do not.
func (v View) weakened(node string) string {
	n, desired := v.Desired.Nodes[node]
	if was := v.Recorded[node].Approve; desired && n.Approve.Weaker(was) {
		return fmt.Sprintf("the files change approve: %s to %s", was, n.Approve)
	}
	return ""
}

// does reports whether s has one of the verbs.
func (s Step) does(verbs ...Verb) bool { return slices.Contains(verbs, s.Verb) }
