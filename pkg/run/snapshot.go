package run

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/shorten"
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

	Backups []plan.Backup `json:"backups,omitempty"` // of what the stacks held, in the order of the plan
	Caveats []string      `json:"caveats,omitempty"` // why it may not be whole, as the run said that has made it
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

// Identifier returns how a property names the backup of a resource, as in "db.Database", by its ARN or its name, or an error of kind Missing.
func (s Snapshot) Identifier(resource string) (string, error) {
	var has []string
	for _, b := range s.Backups {
		switch {
		case b.Data.String() == resource && b.Deleted:
			return "", fault.New(fault.Missing, "the backup of %s in snapshot %s is deleted: the deletion of the snapshot is not finished: stackwright snapshots delete %s", resource, s.Name, s.Name)
		case b.Data.String() == resource:
			return b.Identifier(""), nil
		}
		has = append(has, b.Data.String())
	}
	if len(has) == 0 {
		return "", fault.New(fault.Missing, "snapshot %s has no backups", s.Name)
	}
	return "", fault.New(fault.Missing, "snapshot %s has no backup of %.200s: it has those of %s", s.Name, resource, strings.Join(has, ", "))
}

// RevisionNamed returns the word that names the revision which r, of operation o, deploys again: the one of its request, or the run of the revision of its snapshot,
// of which the messages of r then say what it is.
func (h History) RevisionNamed(r *Run, o plan.Operation) (word string, err error) {
	if !o.NamesSnapshot() {
		return r.To, nil
	}
	s, err := h.Snapshot(r.Snapshot)
	if err == nil {
		r.Messages = append(r.Messages, s.String())
	}
	return s.Revision.Run, err
}

// AboutSnapshot is what the plan of a request that gives a name knows about the snapshots.
func (h History) AboutSnapshot(name string, now time.Time) plan.Snapshots {
	about := plan.Snapshots{Name: name, Named: h.snapshotNames(), Unrestored: h.Unrestored, Now: now}
	if h.SnapshotPolicy != nil {
		about.Policy = *h.SnapshotPolicy
	}
	for _, s := range h.Snapshots {
		about.Kept = append(about.Kept, plan.KeptSnapshot{Name: s.Name, Made: s.Made, Backups: s.Backups, Caveats: s.Caveats})
	}
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
	left := h.withoutDeleted(r)
	if o.Preview || !o.TakesSnapshot && !o.DeletesSnapshot || r.State != StateSucceeded {
		return left
	}
	others := slices.DeleteFunc(slices.Clone(left), func(s Snapshot) bool { return s.Name == r.Snapshot })
	v, known := h.Deployed()
	if o.DeletesSnapshot || !known {
		return others
	}
	made := Snapshot{
		Name: r.Snapshot, Revision: v, Run: r.ID, Who: r.By(), Made: r.Started, Reason: r.Reason, Backups: r.backups(), Caveats: r.caveats(v),
	}
	return slices.Concat([]Snapshot{made}, others)
}

// A snapshot has at most mostCaveats caveats, each of at most longestCaveat bytes: snapshots are part of one item.
const mostCaveats, longestCaveat = 3, 200

// caveats is what the plan of a snapshot of v said beside which files it names.
func (r Run) caveats(v Revision) []string {
	files := plan.NamesFiles(r.Snapshot, v.Run)
	all := slices.DeleteFunc(slices.Clone(r.Messages), func(message string) bool { return message == files })
	for i := range all {
		all[i] = shorten.To(longestCaveat, all[i])
	}
	if more := len(all) - mostCaveats; more > 0 {
		all = append(all[:mostCaveats], fmt.Sprintf("and %d more: stackwright status %s", more, r.ID))
	}
	return all
}

// withoutDeleted are the snapshots without those that steps of r have deleted, also if others of its steps have failed. The backups that they have deleted say so.
func (h History) withoutDeleted(r Run) []Snapshot {
	gone := make(map[string]bool) // ARNs of backups, and names of snapshots
	for _, s := range r.Steps {
		d, deletes := s.BackupDeletion()
		if !deletes || s.Status != Done {
			continue
		}
		if s.Drops() {
			gone[d.Snapshot] = true
		}
		for _, b := range d.Backups {
			gone[b.ARN] = true
		}
	}
	if len(gone) == 0 {
		return h.Snapshots
	}
	var left []Snapshot
	for _, s := range h.Snapshots {
		if gone[s.Name] {
			continue
		}
		s.Backups = slices.Clone(s.Backups)
		for i, b := range s.Backups {
			s.Backups[i].Deleted = b.Deleted || gone[b.ARN]
		}
		left = append(left, s)
	}
	return left
}

// unrestoredAfter is Unrestored after r, of operation o, has ended: with what r was to create from backups of its snapshot, and has not, or what its rollback may delete,
// and without what r has deployed, or deleted and was not to create again. A run that has brought all stacks to what its files say leaves only those that it was to
// create. A stack that a rollback deletes is still to be created from the backup: the user has requested the restore, and not the deletion.
func (h History) unrestoredAfter(r Run, o plan.Operation, rolledBack bool) map[string]string {
	if o.Preview {
		return h.Unrestored
	}
	full := o.Writes && !o.Restores && !r.Partial() && r.State == StateSucceeded
	missing, done, gone := make(map[string]bool), make(map[string]bool), make(map[string]bool) // nodes
	for _, s := range r.Steps {
		missing[s.Node] = missing[s.Node] || s.Creates() && (rolledBack || s.Status != Done)
		done[s.Node] = done[s.Node] || s.Deploys() && s.Status == Done
		gone[s.Node] = gone[s.Node] || s.Forgets() && s.Status == Done && !o.Restores
	}
	left := maps.Clone(h.Unrestored)
	maps.DeleteFunc(left, func(of, _ string) bool {
		node := of[:strings.LastIndex(of, ".")]
		return !missing[node] && (full || done[node] || gone[node])
	})
	s, err := h.Snapshot(r.Snapshot)
	if err != nil || !o.FromRevision || !o.NamesSnapshot() {
		return left
	}
	for _, b := range plan.Left(s.Backups) {
		if b.Property != "" && missing[b.Node] {
			if left == nil {
				left = make(map[string]string)
			}
			left[b.Data.String()] = b.Identifier("")
		}
	}
	return left
}

// backups lists the backups that the steps of r have made.
func (r Run) backups() []plan.Backup {
	var all []plan.Backup
	for _, s := range r.Steps {
		if b, backs := s.Backing(); backs && s.Receipt.Backup != "" {
			all = append(all, plan.Backup{Data: b.Data, ARN: s.Receipt.Backup})
		}
	}
	return all
}

// LeftBehind says which backups r, which has not succeeded, has left behind, or may have left: of a step whose start has not answered, nobody knows. Those that
// a step has deleted are not among them.
func (r Run) LeftBehind() []string {
	deleted := make(map[string]bool)
	for _, s := range r.Steps {
		if d, deletes := s.BackupDeletion(); deletes && s.Status == Done {
			for _, b := range d.Backups {
				deleted[b.Data.String()] = true
			}
		}
	}
	var all []string
	for _, b := range r.backups() {
		if !deleted[b.Data.String()] {
			all = append(all, fmt.Sprintf("the backup %s of %s is left, and no snapshot has it: delete it in AWS", b.ARN, b.Data))
		}
	}
	for _, s := range r.Steps {
		if b, backs := s.Backing(); backs && s.Attempt > 0 && s.Receipt.Backup == "" && !deleted[b.Data.String()] {
			name := plan.BackupName(r.ID, r.TokenKey, r.Project, b.Snapshot, b.Data)
			all = append(all, fmt.Sprintf("the backup %s of %s may have been made, and no snapshot has it: AWS has not answered: delete it in AWS, if it is there", name, b.Data))
		}
	}
	return all
}

// Began is when r started, or was requested if it has not started.
func (r Run) Began() time.Time {
	if r.Started.IsZero() {
		return r.Requested
	}
	return r.Started
}
