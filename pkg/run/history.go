package run

import (
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A History says what was deployed to a project. It is part of the project's lock
// and changes only when the run that owns the lock ends.
type History struct {
	LastSuccessful Source  `json:"last_successful"`        // the last deploy of all stacks that succeeded; zero if none did, or they were destroyed since
	LastAttempted  Attempt `json:"last_attempted"`         // the last run that started to write, rollbacks excepted
	LastFull       Source  `json:"last_full"`              // the last deploy of all stacks, however it ended; zero if there was none, or a user destroyed them since
	CancelledBy    string  `json:"cancelled_by,omitempty"` // the run of that deploy, if a user cancelled it

	Settings string `json:"settings,omitempty"` // digest of what the files of LastSuccessful say besides the stacks

	Values string `json:"values,omitempty"` // reference to the values outside the project that LastSuccessful was deployed with: a rollback restores them. Empty if there were none, or if they were not kept

	Approval *project.Approval `json:"approval,omitempty"` // what the files of the last successful deploy say about approvals; nil if nothing

	Promotion *project.Promotion `json:"promotion,omitempty"` // from and to which environments the same files promote by themselves; nil if they do not

	Successful []Revision `json:"successful,omitempty"` // the newest deploys of all stacks that succeeded, newest first, at most MostRevisions, each with other files. They stay when their runs are deleted

	Snapshots []Snapshot `json:"snapshots,omitempty"` // newest first, at most plan.MostSnapshots

	Unrestored map[string]string `json:"unrestored,omitempty"` // what a restore was to create from a backup, and has not, as "db.Database", with what names the backup: no run has deployed the stack since, none but a rollback has deleted it, and none of all stacks has succeeded

	SnapshotPolicy *project.SnapshotPolicy `json:"snapshot_policy,omitempty"` // what the files of the last successful deploy say about which snapshots are kept; nil if nothing

	Moved []string `json:"moved,omitempty"` // the runs that may have moved resources between stacks since the last successful deploy

	Moves []Move `json:"moves,omitempty"` // the newest runs that may have moved resources between stacks, and were not rolled back, oldest first, at most MostMoves; unlike Moved, also those before the last successful deploy

	Kind project.Kind `json:"kind,omitempty"` // of the files of the last run that started to write; destroys have no files and do not count

	Destroy *project.Destroy `json:"destroy,omitempty"` // what the same files said about destroys; nil if nothing. Once a destroy of all stacks has succeeded, it has no hooks
}

// OfDestroy returns the project as a destroy knows it: with the hooks that the destroy calls, and the stacks that it leaves alone.
func (h History) OfDestroy(p project.Project) project.Project {
	if h.Destroy != nil {
		p.Hooks, p.Home, p.Ignored, p.Kind = h.Destroy.Hooks, h.Destroy.Home, h.Destroy.Ignored, h.Destroy.Kind
	}
	return p
}

// destroyed is Destroy once a destroy of all stacks has succeeded. The stacks that it left alone still exist.
func (h History) destroyed() *project.Destroy {
	if h.Destroy == nil || len(h.Destroy.Ignored) == 0 {
		return nil
	}
	return &project.Destroy{Ignored: h.Destroy.Ignored, Kind: h.Destroy.Kind}
}

// A StepOf is a step, with its run, which has no steps.
type StepOf struct {
	Run  Run
	Step Step
}

// An Attempt is a run that started to bring a project to its source.
type Attempt struct {
	Run       string    `json:"run,omitempty"`
	Source    Source    `json:"source"`
	Requested time.Time `json:"requested,omitzero"`
}

// A Move is a run that may have moved resources between stacks.
type Move struct {
	Run     string    `json:"run"`
	Started time.Time `json:"started"`
}

// MostMoves is how many runs that have moved resources a history has.
const MostMoves = 20

// Newer reports whether a run of another source, requested after r, has started
// to write.
func (h History) Newer(r Run) bool {
	return h.LastAttempted.Run != "" && h.LastAttempted.Source != r.Source && h.LastAttempted.Requested.After(r.Requested)
}

// LostFile refuses files without a project file, if the project was deployed from files of
// another kind and has recorded stacks, or schedules that deploy it. Some files were probably
// lost: without them, stacks lose what they say about them, and some are deleted.
func (h History) LostFile(p project.Project, recorded int) error {
	if p.Kind == project.WithFile || p.Kind == h.Kind || recorded == 0 && h.LastFull == (Source{}) {
		return nil
	}
	return fault.New(fault.Refused, "%s was deployed from %s, and these are %s: stacks would lose their parameters, tags and protection, and others would be deleted: deploy all its files, with the project file if there was one; if it shall be deployed from %s from now on, destroy the project before, or deploy them as another project", p.ID(), h.Kind, p.Kind, p.Kind)
}

// MovedBefore says which runs, other than one, may have moved resources between stacks since the last successful
// deploy; it is empty if there are none. The files of that deploy have these resources in other stacks: a rollback
// would create them there again, and delete those that there are.
func (h History) MovedBefore(id string) string {
	others := slices.DeleteFunc(slices.Clone(h.Moved), func(run string) bool { return run == id })
	if len(others) == 0 {
		return ""
	}
	return "run " + others[0] + " may have moved resources between stacks since the last successful deploy, and a rollback would delete them: deploy the files that you want instead"
}

// MovedSince refuses to deploy the files of a revision again if a later run may have moved resources between stacks: the files have these
// resources in other stacks. The plan would create them there again, and delete those that there are.
func (h History) MovedSince(v Revision) error {
	for _, m := range slices.Backward(h.Moves) {
		if m.Run != v.Run && m.Started.After(v.Started) {
			return fault.New(fault.Refused, "run %s may have moved resources between stacks since run %s, and its files would create them again in the stacks where they were, and delete those that there are: deploy these files yourself, with move_from in the other direction", m.Run, v.Run)
		}
	}
	return nil
}

// with returns the history after r, which owned the lock and has ended. A rollback
// goes back to the last successful deploy. A run that was not approved changes nothing.
func (h History) with(r Run, o plan.Operation, rolledBack bool) History {
	if r.Unapproved() {
		return h
	}
	if o.Adopts && !o.Preview && !r.Started.IsZero() && (h.LastAttempted.Run == "" || r.Kind == project.WithFile) {
		h.Kind, h.Destroy = r.Kind, r.Destroy // what is recorded was adopted by these files: nothing was deployed yet, or they are more than what was
	}
	h.Snapshots = h.snapshotsAfter(r, o)
	h.Unrestored = h.unrestoredAfter(r, o, rolledBack)
	if !o.Writes || r.Started.IsZero() {
		return h
	}
	if !o.Restores {
		h.LastAttempted = Attempt{Run: r.ID, Source: r.Source, Requested: r.Requested}
	}
	if r.Source != (Source{}) {
		h.Kind, h.Destroy = r.Kind, r.Destroy
	}
	if r.Source != (Source{}) && r.State == StateSucceeded && !o.Restores {
		h.Approval, h.Promotion = r.Approval, r.Promotion
		if !o.DeploysAgain() { // old files do not say that newer snapshots are deleted
			h.SnapshotPolicy = r.SnapshotPolicy
		}
	}
	if !o.Restores && slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Attempt > 0 && s.Moves() }) {
		h.Moved = append(slices.Clone(h.Moved), r.ID)
		h.Moves = append(slices.Clone(h.Moves), Move{Run: r.ID, Started: r.Started})
		h.Moves = h.Moves[max(0, len(h.Moves)-MostMoves):]
	}
	if o.Restores && r.State == StateSucceeded {
		h.Moves = slices.DeleteFunc(slices.Clone(h.Moves), func(m Move) bool { return m.Run == r.Of })
	}
	if r.Partial() {
		return h
	}
	if r.State == StateSucceeded {
		h.LastSuccessful, h.Values, h.Settings, h.Moved = r.Source, r.Values, r.Settings, nil
		if o.DeletesAll {
			if r.Schedule == "" { // a schedule deploys them again
				h.Promotion = nil
			}
			h.LastSuccessful, h.Values, h.Settings, h.Destroy = Source{}, "", "", h.destroyed()
			h.Moves = nil
		}
		if r.IsRevision(o) {
			h.Successful = h.succeeded(r)
		}
	}
	h.LastFull, h.CancelledBy = h.lastFull(r, o), h.cancelledBy(r, rolledBack)
	return h
}

// lastFull is LastFull after r, a run of all stacks, whether r succeeded or not. A
// scheduled destroy keeps it, because a schedule deploys the stacks again later.
func (h History) lastFull(r Run, o plan.Operation) Source {
	switch {
	case o.DeletesAll && r.Schedule != "":
		return h.LastFull
	case o.DeletesAll:
		return Source{}
	}
	return r.Source
}

// cancelledBy is CancelledBy after r, a run of all stacks: r if a user cancelled it and
// no rollback follows. If a user cancels a scheduled run, later scheduled runs still
// start.
func (h History) cancelledBy(r Run, rolledBack bool) string {
	switch {
	case r.State == StateCancelled && r.Schedule != "":
		return h.CancelledBy
	case r.State == StateCancelled && !rolledBack:
		return r.ID
	}
	return ""
}
