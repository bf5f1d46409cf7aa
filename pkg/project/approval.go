package project

import (
	"slices"
	"time"
)

// An Approval says who has to approve a plan, or stacks of it, before it is executed, and until when. Its zero value leaves that
// to all who may approve at all.
type Approval struct {
	Plan        bool     `json:"plan,omitempty"`          // plans have to be approved
	Approvers   []string `json:"approvers,omitempty"`     // patterns of principals that may answer; none is all that may answer at all
	Approvals   int      `json:"approvals,omitempty"`     // how many persons have to approve; 0 is one
	Expires     Timeout  `json:"expires,omitempty"`       // how long the plan waits; 0 is DefaultExpiry
	NotByAuthor bool     `json:"not_by_author,omitempty"` // the one who requested the run may not approve it
}

// An ApprovalLevel says which steps of a stack have to be approved.
type ApprovalLevel string

// The levels. Each demands what those before it demand.
const (
	ApproveNever        ApprovalLevel = ""
	ApproveDeletions    ApprovalLevel = "deletions"    // the deletion of the stack
	ApproveDataLoss     ApprovalLevel = "data_loss"    // updates that delete data, or may
	ApproveReplacements ApprovalLevel = "replacements" // updates that replace resources, or may
	ApproveDrift        ApprovalLevel = "drift"        // updates of a stack that has drifted
	ApproveAlways       ApprovalLevel = "always"       // each change of the stack
)

// ApprovalLevels lists the levels, the weakest first.
func ApprovalLevels() []ApprovalLevel {
	return []ApprovalLevel{ApproveNever, ApproveDeletions, ApproveDataLoss, ApproveReplacements, ApproveDrift, ApproveAlways}
}

// Weaker reports whether l demands less than other.
func (l ApprovalLevel) Weaker(other ApprovalLevel) bool {
	return slices.Index(ApprovalLevels(), l) < slices.Index(ApprovalLevels(), other)
}

// Stronger returns the one of l and other that demands more.
func (l ApprovalLevel) Stronger(other ApprovalLevel) ApprovalLevel {
	if l.Weaker(other) {
		return other
	}
	return l
}

// Updates reports whether an update may have to be approved: then its change set decides, and is what is approved.
func (l ApprovalLevel) Updates() bool { return ApproveDeletions.Weaker(l) }

// String is the level as the files say it.
func (l ApprovalLevel) String() string {
	if l == ApproveNever {
		return "never"
	}
	return string(l)
}

// DefaultExpiry is how long a plan waits for approval, if its project does not say.
const DefaultExpiry = Timeout(24 * time.Hour)

// MaxApprovals is the most persons that may have to approve a plan.
const MaxApprovals = 5

// Known reports whether a says anything.
func (a Approval) Known() bool { return !a.Same(Approval{}) }

// Same reports whether a and b demand the same.
func (a Approval) Same(b Approval) bool {
	return a.Plan == b.Plan && slices.Equal(a.Approvers, b.Approvers) && a.Approvals == b.Approvals && a.Expires == b.Expires && a.NotByAuthor == b.NotByAuthor
}

// Person reports whether it matters who approves.
func (a Approval) Person() bool { return len(a.Approvers) > 0 || a.NotByAuthor || a.Approvals > 1 }
