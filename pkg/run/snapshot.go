package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// A Snapshot is a name for a revision. The history has it, and with it the revision, until it is deleted.
type Snapshot struct {
	Name     string    `json:"name"`
	Revision Revision  `json:"revision"` // that was deployed when the snapshot was made
	Run      string    `json:"run"`      // that has made it
	Who      string    `json:"who,omitempty"`
	Made     time.Time `json:"made"`
	Reason   string    `json:"reason,omitempty"`
}

// String says what the snapshot is, for people.
func (s Snapshot) String() string {
	return fmt.Sprintf("snapshot %s was made by %s at %s", s.Name, cmp.Or(s.Who, "somebody"), s.Made.UTC().Format(time.RFC3339))
}

// Deployed returns the revision that was deployed last, successfully and to all stacks. It reports false if there is none.
func (h History) Deployed() (Revision, bool) {
	i := slices.IndexFunc(h.Kept(), func(v Revision) bool { return v.Source == h.LastSuccessful })
	if i < 0 || h.LastSuccessful == (Source{}) {
		return Revision{}, false
	}
	return h.Kept()[i], true
}

// Kept lists the revisions that stay when their runs are deleted: the newest successful ones, and then those that snapshots name.
func (h History) Kept() []Revision {
	kept := slices.Clone(h.Successful)
	for _, s := range h.Snapshots {
		if !slices.ContainsFunc(kept, func(v Revision) bool { return v.Run == s.Revision.Run }) {
			kept = append(kept, s.Revision)
		}
	}
	return kept
}

// Snapshot returns the snapshot of a name, or an error of kind Missing.
func (h History) Snapshot(name string) (Snapshot, error) {
	if i := slices.IndexFunc(h.Snapshots, func(s Snapshot) bool { return s.Name == name }); i >= 0 {
		return h.Snapshots[i], nil
	}
	return Snapshot{}, plan.UnknownSnapshot(name, h.snapshotNames())
}

// snapshotNames lists the names of the snapshots.
func (h History) snapshotNames() []string {
	var names []string
	for _, s := range h.Snapshots {
		names = append(names, s.Name)
	}
	return names
}

// AboutSnapshot is what the plan of a request that gives a name knows about the snapshots.
func (h History) AboutSnapshot(name string) plan.Snapshots {
	about := plan.Snapshots{Name: name, Named: h.snapshotNames()}
	if v, known := h.Deployed(); known {
		about.Current = v.Run
		if h.LastAttempted.Source != v.Source {
			about.Later = h.LastAttempted.Run
		}
	}
	return about
}

// snapshotsAfter are the snapshots, newest first, after r, of operation o, has ended.
func (h History) snapshotsAfter(r Run, o plan.Operation) []Snapshot {
	if !o.TakesSnapshot && !o.DeletesSnapshot || r.State != StateSucceeded {
		return h.Snapshots
	}
	others := slices.DeleteFunc(slices.Clone(h.Snapshots), func(s Snapshot) bool { return s.Name == r.Snapshot })
	v, known := h.Deployed()
	if o.DeletesSnapshot || !known {
		return others
	}
	return slices.Concat([]Snapshot{{Name: r.Snapshot, Revision: v, Run: r.ID, Who: r.By(), Made: r.Started, Reason: r.Reason}}, others)
}
