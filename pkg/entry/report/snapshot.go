package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// A Snapshot is a name for a revision of a project.
type Snapshot struct {
	Snapshot string    `json:"snapshot"` // its name
	Run      string    `json:"run"`      // that has made it
	Who      string    `json:"who"`      // requested that run
	Made     time.Time `json:"made"`
	Reason   string    `json:"reason,omitempty"`
	Revision Revision  `json:"revision"` // what a restore deploys
}

// SnapshotsOf reports the snapshots of a history, newest first.
func SnapshotsOf(h run.History) []Snapshot {
	all := []Snapshot{}
	for _, s := range h.Snapshots {
		all = append(all, Snapshot{Snapshot: s.Name, Run: s.Run, Who: s.Who, Made: s.Made, Reason: s.Reason, Revision: RevisionOf(s.Revision, h.LastSuccessful)})
	}
	return all
}
