package run

import "time"

// StuckAfter is how long nothing may have happened in a run before it is called
// stuck.
const StuckAfter = time.Hour

// Makespan is how long it took from the plan to the end. It is zero for a run
// that is not over, or of which no step was begun.
func (r *Run) Makespan() time.Duration {
	for _, s := range r.Steps {
		if s.Attempt > 0 && !r.Started.IsZero() && !r.Ended.IsZero() {
			return r.Ended.Sub(r.Started)
		}
	}
	return 0
}

// CriticalPath is the longest chain of steps that come after one another, by
// what they took themselves: no scheduler that has the same steps is faster.
// What a step took is the time from its last claim to when its end was seen; of
// one that was never begun, or has not ended, it is nothing.
func (r *Run) CriticalPath() time.Duration {
	until := make(map[string]time.Duration, len(r.Steps))
	var longest time.Duration
	for _, s := range r.Steps { // those that it comes after stand before it
		var after time.Duration
		for _, id := range s.After {
			after = max(after, until[id])
		}
		until[s.ID] = after + s.took()
		longest = max(longest, until[s.ID])
	}
	return longest
}

// took is what a step took itself.
func (s Step) took() time.Duration {
	if s.Attempt == 0 || s.Ended.IsZero() {
		return 0
	}
	return max(s.Ended.Sub(s.Claimed), 0)
}

// Waited is how long a run waited from when it was asked for until its plan was
// made: for its planner, and in line. It is false for one that was never planned.
func (r *Run) Waited() (time.Duration, bool) {
	if r.Started.IsZero() {
		return 0, false
	}
	return max(r.Started.Sub(r.Requested), 0), true
}

// Stuck reports whether a run that somebody should be driving has come no
// further for StuckAfter: no step of it was begun or has ended. A stack that
// takes longer than that is stuck as well, for nobody can tell the two apart;
// but not while it is within a timeout of its own, for then somebody has said
// how long it may take. Nobody drives a run that is parked or waits in line.
func (r *Run) Stuck(now time.Time) bool {
	if r.State != StatePending && r.State != StateRunning {
		return false
	}
	last := r.Requested
	later := func(t time.Time) {
		if t.After(last) {
			last = t
		}
	}
	later(r.Started)
	for _, s := range r.Steps {
		later(s.Ended)
		if s.Attempt > 0 {
			later(s.Claimed)
		}
		if s.Status == Running && s.Deadline(s.Claimed).After(now) {
			return false
		}
	}
	return now.Sub(last) >= StuckAfter
}

// A Backlog says how the runs that are not over stand.
type Backlog struct {
	Open   int
	Stuck  []string      // their IDs, in the order of the runs
	Oldest time.Duration // since when the oldest of those that are not parked was asked for
}

// NewBacklog counts those of the runs that are not over. Those that have gone on
// for long need their steps; others need none.
func NewBacklog(runs []Run, now time.Time) Backlog {
	var b Backlog
	for _, r := range runs {
		if r.ID == "" || r.State.Over() {
			continue
		}
		b.Open++
		if r.State != StateWaiting {
			b.Oldest = max(b.Oldest, now.Sub(r.Requested))
		}
		if r.Stuck(now) {
			b.Stuck = append(b.Stuck, r.ID)
		}
	}
	return b
}
