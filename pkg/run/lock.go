package run

import (
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Lock says which run may write to a project and which runs are queued for it.
// Every project has one. The lock is changed only in a transaction that also
// writes the run that causes the change, so that a project with queued runs
// always has an owner.
type Lock struct {
	Version int      `json:"version"` // raised by every change; 0 if no run ever took the lock
	Owner   Writer   `json:"owner"`
	Waiting []Writer `json:"waiting,omitempty"`        // the queue, next run first
	Uploads Uploads  `json:"newest_uploads,omitempty"` // the newest upload of each key
	History
}

// A Writer is a run that owns a lock or is queued for it. The zero Writer is no run.
type Writer struct {
	Run         string `json:"run,omitempty"`
	Upload      bool   `json:"upload,omitempty"`      // it replaces older uploads and scheduled deploys
	Schedule    string `json:"schedule,omitempty"`    // the schedule that requested it
	Preemptible bool   `json:"preemptible,omitempty"` // it is a scheduled deploy
}

// preemptible reports whether an upload replaces w: the latest wins among uploads
// and scheduled deploys.
func (w Writer) preemptible() bool { return w.Upload || w.Preemptible }

// An Entry is the change of a project's lock, and of other runs, when a run requests
// the lock.
type Entry struct {
	Lock       Lock     // after the change
	Owns       bool     // the run may write: it owns the lock
	Outdated   bool     // a newer upload entered before: the run is superseded, and the lock does not change
	Duplicate  string   // a run of the same schedule that has not ended: the run is superseded by it, and nothing changes
	Superseded []string // queued runs that this run replaces
	Full       bool     // MaxQueued runs are queued: the run is refused, and nothing changes
	StopOwner  string   // the owner, which must start nothing more because this run supersedes it
}

// MaxQueued is how many runs may be queued for one project. They are stored in one item.
const MaxQueued = 500

// Enter gives r, of operation o, the lock if it is free, else it adds r to the end of the queue. An
// upload replaces queued uploads and scheduled deploys, and stops one that owns
// the lock. A schedule never has two runs in the queue.
func (l Lock) Enter(r Run, o plan.Operation) Entry {
	e := Entry{Lock: l.copy()}
	if e.Duplicate = l.duplicate(r); e.Duplicate != "" {
		return e
	}
	if l.Uploads.outdated(r) {
		e.Outdated = true
		return e
	}
	e.Lock.Uploads = e.Lock.Uploads.with(r)
	w := Writer{Run: r.ID, Upload: r.Upload, Schedule: r.Schedule, Preemptible: r.Schedule != "" && o.NeedsFiles}
	if l.Owner.Run == w.Run || l.Owner == (Writer{}) {
		e.Lock.Owner, e.Owns = w, true
		return e
	}
	if l.Owner.preemptible() && r.Upload {
		e.StopOwner = l.Owner.Run
	}
	if !slices.ContainsFunc(l.Waiting, func(queued Writer) bool { return queued.Run == w.Run }) {
		e.Lock.Waiting, e.Superseded = enqueue(l.Waiting, w)
	}
	if len(e.Lock.Waiting) > MaxQueued {
		return Entry{Lock: l.copy(), Full: true}
	}
	return e
}

// duplicate returns another run of r's schedule that owns the lock or is queued,
// or "".
func (l Lock) duplicate(r Run) string {
	for _, w := range append([]Writer{l.Owner}, l.Waiting...) {
		if r.Schedule != "" && w.Schedule == r.Schedule && w.Run != r.ID {
			return w.Run
		}
	}
	return ""
}

// enqueue adds w to the queue. An upload takes the place of the first preemptible
// run and replaces all preemptible runs.
func enqueue(waiting []Writer, w Writer) (with []Writer, replaced []string) {
	for _, queued := range waiting {
		if !w.Upload || !queued.preemptible() {
			with = append(with, queued)
			continue
		}
		if replaced == nil {
			with = append(with, w)
		}
		replaced = append(replaced, queued.Run)
	}
	if replaced == nil {
		with = append(with, w)
	}
	return with, replaced
}

// An Exit is the change of a project's lock when a run ends.
type Exit struct {
	From      State             // the state of the run before its end
	Lock      Lock              // after the change
	Unchanged bool              // the lock is not written, but must still be as it was read
	NextOwner string            // the run that owns the lock next, if the owner changed
	Rollback  *Run              // the rollback that is requested in the same transaction and runs next, if one is
	Promotion *Run              // the promotion to the next environment that is requested in the same transaction, if one is
	Lifetime  *project.Lifetime // of the environment after the change; nil if it stays
	Message   string            // that a rollback follows, or why none does; empty if none was requested
}

// Leave removes r, of operation o, which has ended, from the lock and gives the lock to the next
// queued run. If a rollback follows r, its ID is rollback.
func (l Lock) Leave(r Run, o plan.Operation, rollback string) Exit {
	x := Exit{Lock: l.copy()}
	x.Lock.Waiting = slices.DeleteFunc(x.Lock.Waiting, func(w Writer) bool { return w.Run == r.ID })
	if l.Owner.Run != r.ID {
		x.Unchanged = len(x.Lock.Waiting) == len(l.Waiting)
		return x
	}
	if x.Rollback, x.Message = l.rollback(r, o, rollback); x.Rollback != nil {
		x.Lock.Waiting = slices.Insert(x.Lock.Waiting, 0, Writer{Run: rollback})
	}
	x.Promotion = r.promotes(o)
	x.Lock.History = l.History.with(r, o, x.Rollback != nil)
	x.Lock.giveToNext()
	x.NextOwner = x.Lock.Owner.Run
	return x
}

// Without removes a run whose item cannot be read, and gives the lock to the next
// queued run. Nobody knows what the run did: it may have had a project file. The rest of
// the history is unchanged.
func (l Lock) Without(id string) Lock {
	l = l.copy()
	l.Waiting = slices.DeleteFunc(l.Waiting, func(w Writer) bool { return w.Run == id })
	if l.Owner.Run == id {
		l.Kind = ""
		l.giveToNext()
	}
	return l
}

// giveToNext makes the next queued run the owner, if there is one.
func (l *Lock) giveToNext() {
	l.Owner = Writer{}
	if len(l.Waiting) > 0 {
		l.Owner, l.Waiting = l.Waiting[0], l.Waiting[1:]
	}
}

// rollback returns the rollback that follows r, which owns l and has ended, and
// the message about it. None follows if none was requested, if the last successful
// deploy was of the same files, or if an upload is queued: the upload is newer, and
// its plan starts from the live stacks in any case. The source of a rollback is zero
// if no deploy has succeeded.
func (l Lock) rollback(r Run, o plan.Operation, id string) (follows *Run, message string) {
	failed := r.State == StateFailed
	newer := slices.IndexFunc(l.Waiting, func(w Writer) bool { return w.Upload })
	switch {
	case !(failed && r.Rollback && !r.Command.Stops()) && !((failed || r.State == StateCancelled) && r.Command == CancelAndRollBack):
		return nil, ""
	case !o.Reversible:
		return nil, "no rollback follows: only a deploy is rolled back"
	case r.Unapproved():
		return nil, "no rollback follows: the run was not approved, so it has changed nothing"
	case r.onlyWaited():
		return nil, "no rollback follows: no stack was approved, so the run has changed nothing"
	case l.MovedBefore(r.ID) != "":
		return nil, "no rollback follows: " + l.MovedBefore(r.ID)
	case newer >= 0:
		return nil, "no rollback follows: run " + l.Waiting[newer].Run + " was uploaded since and is queued"
	case l.LastSuccessful == r.Source:
		return nil, "no rollback follows: the last successful deploy was of the same files"
	}
	return &Run{
		Request: Request{ID: id, Project: r.Project, Operation: plan.RollbackName, Source: l.LastSuccessful, Of: r.ID, Who: r.Who, Subject: r.Subject, Authors: r.Authors, Claim: r.Claim, Requester: r.Requester, From: r.From},
		Version: Version, Command: Continue, State: StateQueued, Requested: r.Ended,
	}, "rollback " + id + " follows: " + l.restores()
}

// OnFailure says what a rollback would do after a deploy that fails now, for people.
func (l Lock) OnFailure() string { return "if the deploy fails, a rollback follows: " + l.restores() }

// restores says what a rollback does, for people.
func (l Lock) restores() string {
	if l.LastSuccessful == (Source{}) {
		return "it deletes the stacks that the deploy created, because no deploy has succeeded yet"
	}
	return "it restores the last successful deploy"
}

// Ahead counts the runs that a queued run waits for, the owner included. It is 0
// for a run that is not queued.
func (l Lock) Ahead(id string) int {
	return 1 + slices.IndexFunc(l.Waiting, func(w Writer) bool { return w.Run == id })
}

// copy returns a lock that shares no memory with l.
func (l Lock) copy() Lock {
	l.Waiting, l.Uploads = slices.Clone(l.Waiting), maps.Clone(l.Uploads)
	return l
}

// First lists the owner of the lock and the runs that are queued, at most so many of them.
func (l Lock) First(most int) []Writer {
	all := slices.DeleteFunc(slices.Concat([]Writer{l.Owner}, l.Waiting), func(w Writer) bool { return w == Writer{} })
	return all[:min(len(all), most)]
}
