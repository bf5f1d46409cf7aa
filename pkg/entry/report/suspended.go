package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A Suspended lists the suspended stacks of a project.
type Suspended struct {
	Since  time.Time `json:"since"` // when the first of them was suspended
	Stacks []string  `json:"stacks"`

	Hourly   price.USD `json:"hourly"`   // what it saves an hour, an estimate, as far as that is known
	Unpriced int       `json:"unpriced"` // resources whose price is not known, and not in the amount
}

// SuspendedOf returns the suspended stacks among the records of a project; nil if there are none.
func SuspendedOf(records map[string]plan.Record) *Suspended {
	names, since := plan.Suspended(records)
	if len(names) == 0 {
		return nil
	}
	var hourly price.Dollars
	unpriced := 0
	for _, r := range records {
		if r.Suspended != nil {
			saves, unknown := r.Suspended.Hourly(r.Target.Region)
			hourly, unpriced = hourly+saves, unpriced+len(unknown)
		}
	}
	return &Suspended{Since: since, Stacks: names, Hourly: hourly.USD(), Unpriced: unpriced}
}
