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

// DueAt returns when a running step of r has to be polled: at once if the run was
// cancelled with force after the last poll.
func (r *Run) DueAt(s Step) time.Time {
	if r.Forced && !s.Forced {
		return time.Time{}
	}
	return s.DueAt()
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
	awaited := false
	sooner := func(t time.Time) {
		if !awaited || t.Before(next) {
			next, awaited = t, true
		}
	}
	for _, s := range r.Steps {
		if s.Status == Running {
			sooner(r.DueAt(s))
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
