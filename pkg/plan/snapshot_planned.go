package plan

import (
	"slices"
	"time"
)

// A PlannedSnapshot is what a plan does with a snapshot.
type PlannedSnapshot struct {
	Snapshot string          `json:"snapshot"`
	Made     time.Time       `json:"made"`
	Deleted  bool            `json:"deleted"`
	Reasons  []string        `json:"reasons"`           // why a prune deletes it, or why it stays
	Backups  []PlannedBackup `json:"backups"`           // that there are
	Caveats  []string        `json:"caveats,omitempty"` // why it may not be whole
}

// A PlannedBackup is a backup of a snapshot, and what becomes of it.
type PlannedBackup struct {
	Stack    string `json:"stack"`    // the stack that held the data
	Resource string `json:"resource"` // its logical ID
	Kind     string `json:"kind"`     // for people, as "DB instance"
	ARN      string `json:"arn"`
	Deleted  bool   `json:"deleted"`
}

// planned says what a plan does with a snapshot: whether it deletes the snapshot, and its backups, and why.
func (s KeptSnapshot) planned(deleted, backups bool, reasons ...string) PlannedSnapshot {
	p := PlannedSnapshot{
		Snapshot: s.Name, Made: s.Made, Deleted: deleted, Reasons: slices.Concat([]string{}, reasons), Backups: []PlannedBackup{}, Caveats: s.Caveats,
	}
	for _, b := range Left(s.Backups) {
		p.Backups = append(p.Backups, PlannedBackup{Stack: b.Node, Resource: b.Resource, Kind: b.Kind, ARN: b.ARN, Deleted: backups})
	}
	return p
}

// previewDeleteSnapshot shows what a deletion of a snapshot would delete.
func previewDeleteSnapshot() Operation {
	return Operation{
		Name: PlanPrefix + "delete-snapshot", Plan: withoutMessages(DeleteSnapshot),
		Requestable: true, Preview: true, DeletesSnapshot: true,
		Options: []Option{OptionSnapshot, OptionKeepBackups},
		Effect:  "the deletion of a snapshot and its backups is planned",
	}
}

// previewPruneSnapshots shows what a prune of the snapshots would delete.
func previewPruneSnapshots() Operation {
	return Operation{
		Name: PlanPrefix + "prune-snapshots", Plan: withoutMessages(PruneSnapshots),
		Requestable: true, Preview: true, PrunesSnapshots: true,
		Effect: "the deletion of the snapshots that the policy of the project does not keep is planned",
	}
}

// withoutMessages makes a plan whose snapshots are shown, so that its messages need not list them too.
func withoutMessages(make func(View) (Plan, error)) func(View) (Plan, error) {
	return func(v View) (Plan, error) {
		p, err := make(v)
		if len(p.Snapshots) > 0 {
			p.Messages = nil
		}
		return p, err
	}
}

// Differs reports whether the plan changes a stack, calls a hook or deletes a snapshot, certainly or possibly.
func (c Changes) Differs() bool {
	return len(c.Hooks) > 0 || slices.ContainsFunc(c.Stacks, func(s StackChange) bool { return !s.Idle() }) || slices.ContainsFunc(c.Snapshots, func(s PlannedSnapshot) bool { return s.Deleted })
}
