package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
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
	Backups  []Backup  `json:"backups,omitempty"`
	Caveats  []string  `json:"caveats,omitempty"` // why it may not be whole
}

// A Backup is a native backup of a resource that holds data.
type Backup struct {
	Stack    string `json:"stack"`
	Resource string `json:"resource"` // the logical ID
	Type     string `json:"type"`     // as AWS::RDS::DBInstance
	Source   string `json:"source"`   // the physical ID of the resource
	Account  string `json:"account"`
	Region   string `json:"region"`
	ARN      string `json:"arn"`
	Deleted  bool   `json:"deleted,omitempty"` // the deletion of the snapshot has deleted it, and is not finished
}

// backupsOf reports backups.
func backupsOf(all []plan.Backup) []Backup {
	var reported []Backup
	for _, b := range all {
		reported = append(reported, Backup{Stack: b.Node, Resource: b.Resource, Type: b.Type, Source: b.ID, Account: b.Target.Account, Region: b.Target.Region, ARN: b.ARN, Deleted: b.Deleted})
	}
	return reported
}

// SnapshotsOf reports the snapshots of a history, newest first.
func SnapshotsOf(h run.History) []Snapshot {
	all := []Snapshot{}
	for _, s := range h.Snapshots {
		all = append(all, Snapshot{
			Snapshot: s.Name, Run: s.Run, Who: s.Who, Made: s.Made, Reason: s.Reason,
			Revision: RevisionOf(s.Revision, h.LastSuccessful), Backups: backupsOf(s.Backups), Caveats: s.Caveats,
		})
	}
	return all
}
