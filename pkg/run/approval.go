package run

import (
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Question returns the step of r that the answer of the request with the given ID is for: the one that it has answered
// before, else the first one that waits for approval. The error is of kind Refused if r waits for no approval.
func (r *Run) Question(id string) (Step, error) {
	var by []string
	for _, s := range r.Steps {
		if s.Answer.Known() && s.Answer.ID == id {
			return s, nil
		}
		if s.Approval != nil && s.Answer.Known() {
			by = append(by, s.Answer.Who)
		}
	}
	for _, s := range r.Steps {
		if s.Approval != nil && s.waits() {
			return s, nil
		}
	}
	switch {
	case r.State.Over():
		return Step{}, fault.New(fault.Refused, "run %s has ended (%s): it takes no more answers", r.ID, r.State)
	case len(by) > 0:
		return Step{}, fault.New(fault.Refused, "run %s was answered by %s already: it waits for no more approvals", r.ID, strings.Join(by, " and "))
	}
	return Step{}, fault.New(fault.Refused, "run %s waits for no approval: it is %s", r.ID, r.State)
}

// Approved reports whether a person has approved the plan by an answer to s.
func (s Step) Approved() bool { return s.Approval != nil && s.Answer.Known() && s.Answer.Yes }

// Approved reports whether all approvals of the plan of r were given.
func (r *Run) Approved() bool {
	return !slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Approval != nil && !s.Approved() })
}

// NewlyApproved reports whether an approval was given to r, and function plan has not accepted it yet.
func (r *Run) NewlyApproved() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Status == Waiting && s.Approved() })
}

// Unapproved reports whether r had to be approved, and was not: then none of its steps has changed anything.
func (r *Run) Unapproved() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Approval != nil && s.Status != Done })
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
		return other.Approval != nil && other.ID != s.ID && other.Answer.Known() && other.Answer.Subject == a.Subject
	}
	switch {
	case s.expired(a.At):
		return fault.New(fault.Refused, "the plan of run %s had to be approved within %s, until %s: deploy again", r.ID, s.Timeout, s.Deadline(s.Claimed).UTC().Format(time.RFC3339))
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
		return fault.New(fault.Refused, "%s has approved run %s already, and it needs %d approvals: another person has to approve it too", a.Who, r.ID, by.Approvals)
	}
	return nil
}

// Rule returns the approval that a run of a project needs whose files say declared: the one of the files that were deployed
// last, so that no files take away their own rule; the files' own if there were none, or they had none.
func (h History) Rule(declared project.Approval) project.Approval {
	if h.Approval != nil && h.Approval.Plan {
		return *h.Approval
	}
	return declared
}
