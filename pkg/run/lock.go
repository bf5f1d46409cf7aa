package run

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// A Lock says who may write to a project, and who waits to. There is one for
// each project. It is changed only in a transaction that also writes the run
// that the change is about, so that a project with runs in line is never without
// an owner.
type Lock struct {
	Version        int               `json:"version"` // raised by every change; 0 is a lock that nobody ever took
	Owner          Writer            `json:"owner"`
	Waiting        []Writer          `json:"waiting,omitempty"` // the next one first
	LastSuccessful Source            `json:"good"`              // what was last deployed well; zero if nothing was, or it was destroyed
	LastAttempted  Attempt           `json:"last"`              // what began to write last, but for rollbacks
	LastFull       Source            `json:"whole"`             // what all stacks were last brought to, or tried to be; zero if nothing was, or a person destroyed it
	CancelledBy    string            `json:"halted,omitempty"`  // the run by which they were to be brought there, if a person cancelled it
	Newest         map[string]string `json:"newest,omitempty"`  // the sequencer of the newest upload that was seen, by key
}

// A Last is a run that began to bring a project to its source.
type Attempt struct {
	Run       string    `json:"run,omitempty"`
	Source    Source    `json:"source"`
	Requested time.Time `json:"asked,omitzero"`
}

// Newer reports whether something newer than r, of another source, has been
// begun since r was asked for.
func (l Lock) Newer(r Run) bool {
	return l.LastAttempted.Run != "" && l.LastAttempted.Source != r.Source && l.LastAttempted.Requested.After(r.Requested)
}

// A Writer is a run that owns a lock, or waits to. The zero Writer is nobody.
type Writer struct {
	Run         string `json:"run,omitempty"`
	Upload      bool   `json:"upload,omitempty"`   // it takes the place of older ones, and of what a schedule deploys
	Schedule    string `json:"schedule,omitempty"` // that asked for it
	Preemptible bool   `json:"yields,omitempty"`   // it is a schedule's deploy
}

// yields reports whether an upload takes w's place: latest wins among uploads
// and what schedules deploy.
func (w Writer) preemptible() bool { return w.Upload || w.Preemptible }

// An Entry is what becomes of a project's lock, and of other runs, when a run
// comes that wants to write.
type Entry struct {
	Lock       Lock     // as it is then
	Owns       bool     // the run may write: it owns the lock
	Outdated   bool     // a newer upload has been seen: the run is superseded, and nothing changes
	Duplicate  string   // a run of the same schedule that is not over: the run is superseded by it, and nothing changes
	Superseded []string // runs in line whose place it takes: they are superseded
	StopOwner  string   // the owner, which is to begin nothing more: the run comes after it
}

// Enter lets r in: as the owner if there is none, else into the line, behind
// all who wait. An upload takes the place of one that waits, and stops one that
// is being deployed; so it does with what a schedule deploys. Of one schedule no
// two runs are there together.
func (l Lock) Enter(r Run) Entry {
	e := Entry{Lock: l.copy()}
	if e.Duplicate = l.duplicate(r); e.Duplicate != "" {
		return e
	}
	if r.Upload && older(r.Sequencer, l.Newest[r.Source.Key]) {
		e.Outdated = true
		return e
	}
	if r.Upload && r.Sequencer != "" {
		if e.Lock.Newest == nil {
			e.Lock.Newest = make(map[string]string)
		}
		e.Lock.Newest[r.Source.Key] = r.Sequencer
	}
	w := Writer{Run: r.ID, Upload: r.Upload, Schedule: r.Schedule, Preemptible: r.Schedule != "" && r.Operation == "deploy"}
	if l.Owner.Run == w.Run || l.Owner == (Writer{}) {
		e.Lock.Owner, e.Owns = w, true
		return e
	}
	if l.Owner.preemptible() && r.Upload {
		e.StopOwner = l.Owner.Run
	}
	if !slices.ContainsFunc(l.Waiting, func(waits Writer) bool { return waits.Run == w.Run }) {
		e.Lock.Waiting, e.Superseded = enqueue(l.Waiting, w)
	}
	return e
}

// again is another run of the schedule that asked for r, which owns the lock or
// waits; "" if there is none.
func (l Lock) duplicate(r Run) string {
	for _, w := range append([]Writer{l.Owner}, l.Waiting...) {
		if r.Schedule != "" && w.Schedule == r.Schedule && w.Run != r.ID {
			return w.Run
		}
	}
	return ""
}

// line puts w in line. An upload has the place of the first one there that
// yields, and replaces all of them.
func enqueue(waiting []Writer, w Writer) (with []Writer, replaced []string) {
	for _, waits := range waiting {
		if !w.Upload || !waits.preemptible() {
			with = append(with, waits)
			continue
		}
		if replaced == nil {
			with = append(with, w)
		}
		replaced = append(replaced, waits.Run)
	}
	if replaced == nil {
		with = append(with, w)
	}
	return with, replaced
}

// An Exit is what becomes of a project's lock when a run is over.
type Exit struct {
	From      State  // what the run was until then
	Lock      Lock   // as it is then
	Unchanged bool   // as it was: it is only to be as it was read
	NextOwner string // the run that owns it from then on, if that has changed
	Rollback  *Run   // the rollback that is asked for with it, if one is: it comes next
	Message   string // that this one follows, or why none does; empty if none is wished for
}

// Leave lets r, which is over, go: the next in line is the owner then. What r
// has deployed well is what a rollback goes back to from then on; that is asked
// for under the ID rollback, if one is to follow.
func (l Lock) Leave(r Run, rollback string) Exit {
	x := Exit{Lock: l.copy()}
	x.Lock.Waiting = slices.DeleteFunc(x.Lock.Waiting, func(w Writer) bool { return w.Run == r.ID })
	if l.Owner.Run != r.ID {
		x.Unchanged = len(x.Lock.Waiting) == len(l.Waiting)
		return x
	}
	if x.Rollback, x.Message = l.rollback(r, rollback); x.Rollback != nil {
		x.Lock.Waiting = slices.Insert(x.Lock.Waiting, 0, Writer{Run: rollback})
	}
	if r.Writes() && r.Operation != "rollback" {
		x.Lock.LastAttempted = Attempt{Run: r.ID, Source: r.Source, Requested: r.Requested}
	}
	switch {
	case r.State != StateSucceeded || len(r.Only) > 0:
	case r.Operation == "destroy":
		x.Lock.LastSuccessful = Source{}
	case r.Writes():
		x.Lock.LastSuccessful = r.Source
	}
	x.Lock.LastFull, x.Lock.CancelledBy = l.lastFull(r), l.cancelledBy(r, x.Rollback != nil)
	x.Lock.Owner = Writer{}
	if len(x.Lock.Waiting) > 0 {
		x.Lock.Owner, x.Lock.Waiting = x.Lock.Waiting[0], x.Lock.Waiting[1:]
	}
	x.NextOwner = x.Lock.Owner.Run
	return x
}

// whole is what all stacks were last brought to when r, which owns l, is over,
// however it ended. That a schedule destroys them is for a time.
func (l Lock) lastFull(r Run) Source {
	switch {
	case !r.Writes() || len(r.Only) > 0 || r.Operation == "destroy" && r.Schedule != "":
		return l.LastFull
	case r.Operation == "destroy":
		return Source{}
	}
	return r.Source
}

// halted is the run that a person has cancelled, and after which nothing was
// deployed: r, unless a rollback follows, or the one before. What a schedule
// asked for is cancelled for once.
func (l Lock) cancelledBy(r Run, back bool) string {
	switch {
	case !r.Writes() || len(r.Only) > 0 || r.Schedule != "" && r.State == StateCancelled:
		return l.CancelledBy
	case r.State == StateCancelled && !back:
		return r.ID
	}
	return ""
}

// back is the rollback that follows r, which owns l and is over, and what is to
// be said of it. There is none if none is wished for, if there is nothing to go
// back to, or if an upload waits: that is newer, and is planned on what is there
// in any case.
func (l Lock) rollback(r Run, id string) (then *Run, says string) {
	failed := r.State == StateFailed
	newer := slices.IndexFunc(l.Waiting, func(w Writer) bool { return w.Upload })
	switch {
	case !(failed && r.Rollback && !r.Command.Stops()) && !((failed || r.State == StateCancelled) && r.Command == CancelAndRollBack):
		return nil, ""
	case r.Operation != "deploy":
		return nil, "no rollback follows: only a deploy is rolled back"
	case newer >= 0:
		return nil, "no rollback follows: run " + l.Waiting[newer].Run + " waits, which was uploaded since"
	case l.LastSuccessful == (Source{}):
		return nil, "there is nothing to go back to: no deploy has succeeded yet, or none since all was destroyed"
	case l.LastSuccessful == r.Source:
		return nil, "there is nothing to go back to: the last deploy that succeeded was of these very files"
	}
	return &Run{
		ID: id, Version: Version, Project: r.Project, Operation: "rollback", Source: l.LastSuccessful,
		Of: r.ID, Who: r.Who, Command: Continue, State: StateQueued, Requested: r.Ended,
	}, "rollback " + id + " follows, to what was last deployed well"
}

// Ahead counts those that a run in line waits for, the owner among them. It is 0
// for a run that is not in line.
func (l Lock) Ahead(id string) int {
	return 1 + slices.IndexFunc(l.Waiting, func(w Writer) bool { return w.Run == id })
}

// copy returns a lock that shares nothing with l.
func (l Lock) copy() Lock {
	l.Waiting, l.Newest = slices.Clone(l.Waiting), maps.Clone(l.Newest)
	return l
}

// older reports whether a sequencer is older than another. They are hexadecimal
// numbers, of which the shorter is filled up with zeros on the right.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
func older(a, b string) bool {
	n := max(len(a), len(b))
	fill := func(s string) string { return strings.ToLower(s) + strings.Repeat("0", n-len(s)) }
	return a != "" && b != "" && fill(a) < fill(b)
}
