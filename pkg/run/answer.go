package run

import (
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// An Answer is what a user answered to a step that waits for a person. The zero
// Answer is none.
type Answer struct {
	ID     string    `json:"id"` // of the request: each is recorded once
	Yes    bool      `json:"yes"`
	Who    string    `json:"who"`
	Claim  string    `json:"claim,omitempty"` // who its sender says that he is; nobody checks it
	From   string    `json:"from,omitempty"`  // as in Request
	Why    string    `json:"why,omitempty"`
	Digest string    `json:"digest"` // of the plan that the user was shown
	At     time.Time `json:"at"`

	Subject string `json:"subject,omitempty"` // as in Request
}

// By says for people who gave the answer.
func (a Answer) By() string { return Request{Who: a.Who, Claim: a.Claim}.By() }

// Known reports whether a user has answered.
func (a Answer) Known() bool { return a.ID != "" }

// waits reports whether s waits for an answer that no user has given yet.
func (s Step) waits() bool { return s.Status == Waiting && !s.Answer.Known() }

// Questions lists the steps of r that wait for an answer. The question is the
// step's Why.
func (r *Run) Questions() []Step {
	var all []Step
	for _, s := range r.Steps {
		if s.waits() {
			all = append(all, s)
		}
	}
	return all
}

// Accepts says why r does not take an answer to its step s, as an error of kind
// Refused, or nil if it does. An answer is bound to the plan that the user was
// shown, and nobody can change one that was given.
func (r *Run) Accepts(s Step, a Answer) error {
	switch {
	case r.State.Over():
		return fault.New(fault.Refused, "run %s has ended (%s)", r.ID, r.State)
	case r.Command.Stops():
		return fault.New(fault.Refused, "run %s is being stopped: its steps take no more answers", r.ID)
	case a.Digest != r.AnswerDigest(s) && s.Proposal != "":
		return fault.New(fault.Refused, "the answer is to %.12s, and step %s of run %s asks for the approval of change set %.12s: show it again, then answer it", a.Digest, s.ID, r.ID, r.AnswerDigest(s))
	case a.Digest != r.AnswerDigest(s):
		return fault.New(fault.Refused, "the answer is to plan %.12s, and run %s has plan %.12s: show the plan again, then answer it", a.Digest, r.ID, r.Digest)
	case s.Answer.Known():
		return fault.New(fault.Refused, "step %s of run %s was answered by %s already", s.ID, r.ID, s.Answer.By())
	case s.Status != Waiting:
		return fault.New(fault.Refused, "step %s of run %s waits for no answer: it is %s", s.ID, r.ID, s.Status)
	case s.Approval != nil:
		return r.permits(s, a)
	}
	return nil
}
