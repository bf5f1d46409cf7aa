package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/purge"
	"github.com/stackwright/stackwright/pkg/run"
)

// A PurgeRequest is the body of a request that purges the installation.
type PurgeRequest struct {
	OlderThan string `json:"older_than"`      // how long ago a run has to have ended, and an object to have been put, at least: 90d, or 48h
	Keep      int    `json:"keep,omitempty"`  // how many of the newest runs of each project and environment stay, however old they are; 50 if it is not given
	Plan      bool   `json:"plan,omitempty"`  // say what would be deleted, and delete nothing
	After     string `json:"after,omitempty"` // the cursor of the last answer: the purge goes on where that has stopped
}

// UsualKeep is how many runs of each project stay if a request does not say it.
const UsualKeep = 50

// mostKept is how many runs of each project may stay.
const mostKept = 100_000

// Retention is what the request says is old. The error says what it may be.
func (q PurgeRequest) Retention() (run.Retention, error) {
	age, err := project.ParseAge(q.OlderThan)
	if err != nil {
		return run.Retention{}, fault.New(fault.Invalid, "older_than: %w", err)
	}
	k := run.Retention{OlderThan: age.Round(time.Second), Keep: q.Keep}
	if k.Keep > mostKept {
		return k, fault.New(fault.Invalid, "keep: %d: give at most %d", k.Keep, mostKept)
	}
	return k, purge.Check(k)
}

// A Purged says what a request has deleted or, with plan, what would be deleted. If it has an after, the purge is not at its end.
type Purged struct {
	Plan bool `json:"plan,omitempty"`
	purge.Freed
	After string `json:"after,omitempty"` // of the request that goes on
}
