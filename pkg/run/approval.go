package run

import (
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Question returns the step of r that the answer of the request with the given ID is for: the one that it has answered
// before, else the first one that waits for approval. If step is not empty, it is the ID of that step, or of one of
// the same stack. The error is of kind Refused if r waits for no such approval, or for several and step is empty.
func (r *Run) Question(id, step string) (Step, error) {
	if i := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Answer.Known() && s.Answer.ID == id }); i >= 0 {
		return r.Steps[i], nil
	}
	waiting := r.Asks()
	name := step
	if s := r.Step(step); s != nil {
		name = s.Question()
	} else if step == "" && len(waiting) == 1 {
		name = waiting[0]
	}
	var by []string
	for _, s := range r.Steps {
		if s.Approval != nil && s.Answer.Known() && (step == "" || s.Question() == name) {
			by = append(by, s.Answer.Who)
		}
	}
	switch {
	case step == "" && len(waiting) > 1:
		return Step{}, fault.New(fault.Refused, "run %s waits for several approvals: name one of them with --step: %s", r.ID, strings.Join(waiting, ", "))
	case slices.Contains(waiting, name):
		return r.Steps[slices.IndexFunc(r.Steps, func(s Step) bool { return s.Approval != nil && s.waits() && s.Question() == name })], nil
	case r.State.Over():
		return Step{}, fault.New(fault.Refused, "run %s has ended (%s): it takes no more answers", r.ID, r.State)
	case len(by) > 0 && step == "":
		return Step{}, fault.New(fault.Refused, "run %s was answered by %s already: it waits for no more approvals", r.ID, strings.Join(by, " and "))
	case len(by) > 0:
		return Step{}, fault.New(fault.Refused, "step %s of run %s was answered by %s already: it waits for no more approvals", name, r.ID, strings.Join(by, " and "))
	case step != "" && len(waiting) > 0:
		return Step{}, fault.New(fault.Refused, "step %s of run %s waits for no approval: the run waits for %s", step, r.ID, strings.Join(waiting, ", "))
	case step != "":
		return Step{}, fault.New(fault.Refused, "step %s of run %s waits for no approval: the run is %s", step, r.ID, r.State)
	}
	return Step{}, fault.New(fault.Refused, "run %s waits for no approval: it is %s", r.ID, r.State)
}

// ProposalOf returns the receipt of the step that makes the change set which s approves or executes; the zero Receipt if there is none.
func (r *Run) ProposalOf(s plan.Step) plan.Receipt {
	if made := r.Step(s.Proposal); s.Proposal != "" && made != nil {
		return made.Receipt
	}
	return plan.Receipt{}
}

// AnswerDigest returns the digest of what an answer to s is about: of the change set that s waits for the approval of, else of the
// plan of r.
func (r *Run) AnswerDigest(s Step) string {
	if s.Proposal == "" {
		return r.Digest
	}
	return r.ProposalOf(s.Step).Proposal
}

// Executed reports whether a step of r has executed the change set that s has made: then it belongs to the stack.
func (r *Run) Executed(s Step) bool {
	return slices.ContainsFunc(r.Steps, func(e Step) bool { return e.Proposal == s.ID && e.Acted() && !e.Receipt.Unchanged })
}

// DigestFor returns the digest that an answer names which is about the step with an ID, or about all of r if that is empty.
func (r *Run) DigestFor(step string) string {
	if s := r.Step(step); s != nil {
		return r.AnswerDigest(*s)
	}
	return r.Digest
}

// Proposals returns, by node, the references to what the change sets of r say, of those that are approved and executed.
func (r *Run) Proposals() map[string]string {
	all := make(map[string]string)
	for _, s := range r.Steps {
		if made := r.ProposalOf(s.Step); made.Proposal != "" {
			all[s.Node] = made.Proposal
		}
	}
	return all
}

// subject is what an approval by an answer to s is about, for people.
func (s Step) subject() string {
	if s.Node == "" {
		return "the plan"
	}
	return "what the plan does with " + s.Node
}

// Asks lists what r waits for approval of: the IDs of the first steps that wait for each plan or stack, in the order of the plan.
func (r *Run) Asks() []string {
	var all []string
	for _, s := range r.Steps {
		if s.Approval != nil && s.waits() && !slices.Contains(all, s.Question()) {
			all = append(all, s.Question())
		}
	}
	return all
}

// Approved reports whether a person has approved by an answer to s.
func (s Step) Approved() bool { return s.Approval != nil && s.Answer.Known() && s.Answer.Yes }

// Completes reports whether the last approval of something was given to r, and function plan has not accepted it yet.
// It reports whole if that is the whole plan.
func (r *Run) Completes() (completes, whole bool) {
	open, given := make(map[string]bool), make(map[string]bool)
	for _, s := range r.Steps {
		if s.Approval != nil {
			open[s.Question()] = open[s.Question()] || !s.Approved()
			given[s.Question()] = given[s.Question()] || s.Status == Waiting && s.Approved()
		}
	}
	for question := range given {
		if given[question] && !open[question] {
			completes, whole = true, whole || question == Step{}.Question()
		}
	}
	return completes, whole
}

// NewlyApproved reports whether an approval was given to r, and function plan has not accepted it yet.
func (r *Run) NewlyApproved() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Status == Waiting && s.Approved() })
}

// Deploying lists the nodes of the steps of r that have not started and whose verb deploys.
func (r *Run) Deploying(deploys func(plan.Verb) bool) []string {
	var nodes []string
	for _, s := range r.Steps {
		if (s.Status == Pending || s.Status == Waiting) && deploys(s.Verb) {
			nodes = append(nodes, s.Node)
		}
	}
	return nodes
}

// Unapproved reports whether the whole plan of r had to be approved, and was not: then none of its steps has changed anything.
func (r *Run) Unapproved() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Approval != nil && s.Approval.Plan && s.Status != Done }) && !r.acted()
}

// AllApproved reports whether all that has to be approved in the plan of r was approved. Only change sets may show that more
// has to be.
func (r *Run) AllApproved() bool {
	return !slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Asks() && s.Status != Done && !s.Approved() })
}

// onlyWaited reports whether r waited for the approval of stacks, and no other step was started.
func (r *Run) onlyWaited() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Approval != nil }) && !r.acted()
}

// acted reports whether r has started a step that may have changed something.
func (r *Run) acted() bool { return slices.ContainsFunc(r.Steps, Step.Acted) }

// Acted reports whether s was started and may have changed something: it did not only wait for a person or make a change set.
func (s Step) Acted() bool {
	return s.Attempt > 0 && s.Approval == nil && !(s.Over() && s.Result.NothingStarted)
}

// Expired reports whether a step of r has waited too long for its approval.
func (r *Run) Expired(now time.Time) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.expired(now) })
}

// expired reports whether s has waited too long for its approval.
func (s Step) expired(now time.Time) bool {
	until := s.Deadline(s.Claimed)
	return s.Approval != nil && s.waits() && !until.IsZero() && !now.Before(until)
}

// permits says why a is no valid answer to s, which waits for approval, as an error of kind Refused, or nil if it is one.
func (r *Run) permits(s Step, a Answer) error {
	by := *s.Approval
	others := func(other Step) bool {
		return other.Approval != nil && other.Question() == s.Question() && other.ID != s.ID && other.Answer.Known() && other.Answer.Subject == a.Subject
	}
	switch {
	case s.expired(a.At):
		return fault.New(fault.Refused, "%s of run %s had to be approved within %s, until %s: deploy again", s.subject(), r.ID, s.Timeout, s.Deadline(s.Claimed).UTC().Format(time.RFC3339))
	case by.Person() && a.Subject == "":
		return fault.New(fault.Refused, "AWS does not say who has sent this answer (%s), and only certain persons may answer run %s: send it to the API", a.Who, r.ID)
	case len(by.Approvers) > 0 && !slices.ContainsFunc(by.Approvers, func(p string) bool { return access.MatchARN(p, a.Who) }):
		return fault.New(fault.Refused, "%s may not answer run %s: its approvers are %s", a.Who, r.ID, strings.Join(by.Approvers, ", "))
	case !a.Yes:
		return nil
	case by.NotByAuthor && slices.Contains(r.AllAuthors(), ""):
		return fault.New(fault.Refused, "AWS does not say who has requested run %s, and its author may not approve it: request it by the API", r.ID)
	case by.NotByAuthor && a.Subject == r.Subject:
		return fault.New(fault.Refused, "%s has requested run %s, and so may not approve it: another person has to", a.Who, r.ID)
	case by.NotByAuthor && slices.Contains(r.Authors, a.Subject):
		return fault.New(fault.Refused, "%s may not approve run %s, because it follows from a deploy or a request of the same person: "+
			"another person has to", a.Who, r.ID)
	case slices.ContainsFunc(r.Steps, others):
		return fault.New(fault.Refused, "%s has approved %s of run %s already, and it needs %d approvals: another person has to approve it too", a.Who, s.subject(), r.ID, by.Approvals)
	}
	return nil
}

// Rule returns the approval that a run of a project needs whose files say declared: the one of the files that were deployed
// last, so that no files take away their own rule; the files' own if there were none, or they had none. It reports whether
// a run that changes the rule to that of its files changes it: then the whole plan has to be approved by the rule before.
func (h History) Rule(declared project.Approval, changes bool) (rule project.Approval, changed bool) {
	if h.Approval == nil {
		return declared, false
	}
	rule, changed = *h.Approval, changes && !h.Approval.Same(declared)
	rule.Plan = rule.Plan || changed
	return rule, changed
}
