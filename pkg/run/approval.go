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
		name = s.question()
	} else if step == "" && len(waiting) == 1 {
		name = waiting[0]
	}
	var by []string
	for _, s := range r.Steps {
		if s.Approval != nil && s.Answer.Known() && (step == "" || s.question() == name) {
			by = append(by, s.Answer.Who)
		}
	}
	switch {
	case step == "" && len(waiting) > 1:
		return Step{}, fault.New(fault.Refused, "run %s waits for several approvals: name one of them with --step: %s", r.ID, strings.Join(waiting, ", "))
	case slices.Contains(waiting, name):
		return r.Steps[slices.IndexFunc(r.Steps, func(s Step) bool { return s.Approval != nil && s.waits() && s.question() == name })], nil
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

// question is the ID of the first of the steps that wait for the approvals of the same plan or stack as s.
func (s Step) question() string { return plan.StepID(s.Node, plan.Approve, "") }

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
		if s.Approval != nil && s.waits() && !slices.Contains(all, s.question()) {
			all = append(all, s.question())
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
		open[s.Node] = open[s.Node] || s.Approval != nil && !s.Approved()
		given[s.Node] = given[s.Node] || s.Status == Waiting && s.Approved()
	}
	for node := range given {
		if given[node] && !open[node] {
			completes, whole = true, whole || node == ""
		}
	}
	return completes, whole
}

// NewlyApproved reports whether an approval was given to r, and function plan has not accepted it yet.
func (r *Run) NewlyApproved() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Status == Waiting && s.Approved() })
}

// Unapproved reports whether the whole plan of r had to be approved, and was not: then none of its steps has changed anything.
func (r *Run) Unapproved() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Approval != nil && s.Approval.Plan && s.Status != Done }) &&
		!slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Approval == nil && s.Attempt > 0 })
}

// AllApproved reports whether all that has to be approved in the plan of r was approved.
func (r *Run) AllApproved() bool {
	return !slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Approval != nil && s.Status != Done && !s.Approved() })
}

// onlyWaited reports whether r waited for the approval of stacks, and no other step was started.
func (r *Run) onlyWaited() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Approval != nil }) &&
		!slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Approval == nil && s.Attempt > 0 })
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
		return other.Approval != nil && other.question() == s.question() && other.ID != s.ID && other.Answer.Known() && other.Answer.Subject == a.Subject
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
	case by.NotByAuthor && r.Subject == "":
		return fault.New(fault.Refused, "AWS does not say who has requested run %s, and its author may not approve it: request it by the API", r.ID)
	case by.NotByAuthor && a.Subject == r.Subject:
		return fault.New(fault.Refused, "%s has requested run %s, and so may not approve it: another person has to", a.Who, r.ID)
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
