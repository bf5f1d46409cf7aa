package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// A Suspended lists the suspended stacks of a project.
type Suspended struct {
	Since  time.Time `json:"since"` // when the first of them was suspended
	Stacks []string  `json:"stacks"`
}

// SuspendedOf returns the suspended stacks among the records of a project; nil if there are none.
func SuspendedOf(records map[string]plan.Record) *Suspended {
	names, since := plan.Suspended(records)
	if len(names) == 0 {
		return nil
	}
	return &Suspended{Since: since, Stacks: names}
}
