package run

import (
	"slices"
	"time"
)

// DueAt returns when a running step has to be polled: at once if an event has arrived
// after the last poll.
func (s Step) DueAt() time.Time {
	if s.Event.Status != "" && s.Event.Polls == 0 {
		return time.Time{}
	}
	return s.Due
}

// How long a step waits for the event about the end of its operation, if events
// arrive. EventBridge and Lambda deliver an event for hours, so such a poll is hardly
// ever the first to see an end.
const (
	quiet       = 15 * time.Minute // at least
	quietGrowth = 16               // the next poll is after so many times as long
	startEvent  = 10 * time.Second // within which an event reports the start of an operation
)

// DueAt returns when a running step of r has to be polled: at once if the run was
// cancelled with force after the last poll. A step whose start an event has reported
// waits for the event about its end, unless events are lost in its account and region.
func (r *Run) DueAt(s Step, lossy map[string]bool) time.Time {
	due := s.DueAt()
	switch {
	case r.Forced && !s.Forced:
		return time.Time{}
	case !s.Reported || s.Event.Status != "" || r.Forced || lossy[s.Where]:
		return due
	}
	waits := max(quiet, 5*s.Expected.Duration()/2)
	for s.Claimed.Add(waits).Before(due) {
		waits *= quietGrowth
	}
	quietDue := s.Claimed.Add(waits)
	if d := s.Deadline(s.Claimed); !d.IsZero() && d.Before(quietDue) {
		if d.Before(due) { // it is overdue
			return due
		}
		return d
	}
	return quietDue
}

// reports counts the events about a step's operation that have arrived by now, and those
// that were lost: about its start, and about an end that a poll has found.
func (s *Step) reports(now time.Time) (arrived, lost int) {
	if !s.Receipt.Known() || s.Receipt.Unchanged {
		return 0, 0
	}
	count := func(known bool) {
		if known {
			arrived++
		} else {
			lost++
		}
	}
	over := s.Status == Done || s.Status == Failed
	if s.Reported || over || s.Status == Running && now.Sub(s.Claimed) > startEvent {
		count(s.Reported)
	}
	if over {
		count(s.Event.Status != "")
	}
	return arrived, lost
}

// tooManyLost reports whether more than one of ten events were lost.
func tooManyLost(arrived, lost int) bool { return 10*lost > arrived }

// Lossy returns the accounts and regions in which more than one of ten events about the
// run's operations were lost.
func (r *Run) Lossy(now time.Time) map[string]bool {
	arrived, lost := make(map[string]int), make(map[string]int)
	for i := range r.Steps {
		s := &r.Steps[i]
		if a, l := s.reports(now); a+l > 0 {
			arrived[s.Where] += a
			lost[s.Where] += l
		}
	}
	lossy := make(map[string]bool)
	for where, n := range lost {
		lossy[where] = tooManyLost(arrived[where], n)
	}
	return lossy
}

// EventsArrive returns the accounts and regions that are not lossy, and where the newest
// start that should have been reported by now was. So one is left out soon after its
// events no longer arrive, however many arrived before.
func (r *Run) EventsArrive(now time.Time) map[string]bool {
	newest, arrive := make(map[string]*Step), make(map[string]bool)
	for i := range r.Steps {
		s := &r.Steps[i]
		if a, l := s.reports(now); a+l > 0 && (newest[s.Where] == nil || s.Claimed.After(newest[s.Where].Claimed)) {
			newest[s.Where] = s
		}
	}
	lossy := r.Lossy(now)
	for where, s := range newest {
		arrive[where] = s.Reported && !lossy[where]
	}
	return arrive
}

// Overdue reports whether the run has reached its deadline. It starts no step then.
func (r *Run) Overdue(now time.Time) bool {
	return !r.Deadline.IsZero() && !now.Before(r.Deadline)
}

// TimedOut reports whether steps of the run were skipped because it was overdue.
func (r *Run) TimedOut() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Cause.Kind == CauseTimeout })
}

// NextPoll returns when the run has to be polled again: when a running step is due, when
// a pending step can start, or at the run's deadline. The zero time means at once, or
// that there is nothing to wait for.
func (r *Run) NextPoll(now time.Time) time.Time {
	var next time.Time
	awaited, lossy := false, r.Lossy(now)
	sooner := func(t time.Time) {
		if !awaited || t.Before(next) {
			next, awaited = t, true
		}
	}
	for _, s := range r.Steps {
		if s.Status == Running {
			sooner(r.DueAt(s, lossy))
		}
		if s.Status == Waiting && s.Answer.Known() {
			sooner(time.Time{})
		}
		if (s.Status == Pending || s.waits()) && r.Command == Continue && !r.Deadline.IsZero() {
			sooner(r.Deadline)
		}
	}
	for _, s := range r.open(now) {
		sooner(s.NotBefore)
	}
	return next
}
