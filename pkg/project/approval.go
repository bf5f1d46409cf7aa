package project

import (
	"slices"
	"time"
)

// An Approval says who has to approve a plan before it is executed, and until when. Its zero value demands none.
type Approval struct {
	Plan        bool     `json:"plan,omitempty"`          // plans have to be approved
	Approvers   []string `json:"approvers,omitempty"`     // patterns of principals that may answer; none is all that may answer at all
	Approvals   int      `json:"approvals,omitempty"`     // how many persons have to approve; 0 is one
	Expires     Timeout  `json:"expires,omitempty"`       // how long the plan waits; 0 is DefaultExpiry
	NotByAuthor bool     `json:"not_by_author,omitempty"` // the one who requested the run may not approve it
}

// DefaultExpiry is how long a plan waits for approval, if its project does not say.
const DefaultExpiry = Timeout(24 * time.Hour)

// MaxApprovals is the most persons that may have to approve a plan.
const MaxApprovals = 5

// Same reports whether a and b demand the same.
func (a Approval) Same(b Approval) bool {
	return a.Plan == b.Plan && slices.Equal(a.Approvers, b.Approvers) && a.Approvals == b.Approvals && a.Expires == b.Expires && a.NotByAuthor == b.NotByAuthor
}

// Person reports whether it matters who approves.
func (a Approval) Person() bool { return len(a.Approvers) > 0 || a.NotByAuthor || a.Approvals > 1 }
