package run

import "cmp"

// A Cause is why a step was skipped, or says that a step failed because a user declined
// it. All other steps have the zero Cause.
type Cause struct {
	Kind CauseKind `json:"kind,omitempty"`
	Step string    `json:"step,omitempty"` // the step that failed or was declined: this one, or one that it depends on, directly or not
}

// A CauseKind is a kind of cause.
type CauseKind string

// The kinds of causes.
const (
	CauseFailure    CauseKind = "failed step"    // a step failed that it depends on
	CauseFailures   CauseKind = "max_failures"   // more stacks have failed than the run, or the rollout of its stack, allows
	CauseDeclined   CauseKind = "declined"       // a user declined a step: this one, or one that it depends on
	CauseCancelled  CauseKind = "cancelled"      // a user cancelled the run
	CauseSuperseded CauseKind = "superseded"     // a newer run replaced the run
	CauseTimeout    CauseKind = "timeout"        // the run has timed out
	CauseForced     CauseKind = "ended by force" // the run was ended without its execution
	CauseNoFailure  CauseKind = "nothing failed" // it is for a run of which a step has failed
)

// Known reports whether there is a cause.
func (c Cause) Known() bool { return c.Kind != "" }

// text describes the cause for people.
func (c Cause) text(r *Run) string {
	switch c.Kind {
	case CauseFailure, CauseDeclined:
		return "after " + c.Step
	case CauseFailures:
		return "more stacks have failed than max_failures allows: after " + c.Step
	case CauseSuperseded:
		return "superseded by " + r.SupersededBy
	case CauseTimeout:
		return "the run has timed out"
	}
	return string(c.Kind)
}

// failedBefore is why a pending step can never start: the root cause of a step that it depends on. The zero Cause is none.
func (r *Run) failedBefore(s *Step) Cause {
	after := s.After
	if s.Tolerant && (!r.allOver(after) || r.anyDone(after)) {
		return Cause{}
	}
	if s.OnFailure { // no failure of another step skips it, unless nobody has approved the plan
		after = r.approvalsOfPlan()
		if r.allOver(s.After) && !r.anyFailed() {
			return Cause{Kind: CauseNoFailure}
		}
	}
	for _, n := range after {
		switch a := &r.Steps[n]; a.Status {
		case Failed:
			return cmp.Or(a.Cause, Cause{Kind: CauseFailure, Step: a.ID})
		case Skipped:
			return a.Cause
		}
	}
	return Cause{}
}

// commanded is why no pending step starts: what stops the run. The zero Cause is none.
func (r *Run) commanded(overdue bool) Cause {
	switch {
	case r.Command == Supersede:
		return Cause{Kind: CauseSuperseded}
	case r.Command.Stops():
		return Cause{Kind: CauseCancelled}
	case r.Command == Continue && overdue:
		return Cause{Kind: CauseTimeout}
	}
	return Cause{}
}
