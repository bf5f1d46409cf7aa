package run

import (
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
)

// StuckAfter is how long a run may make no progress before it counts as stuck.
const StuckAfter = time.Hour

// Metrics say what a run took.
type Metrics struct {
	Makespan     time.Duration // from the plan to the end; 0 as long as the run has not ended, and if it started no step
	CriticalPath time.Duration // the longest chain of dependent steps: no order of the same steps is faster
	QueueWait    time.Duration // from the request to the plan; nothing if the run was never planned
	Planned      bool
	Starts       int     // how often steps were started
	Compared     bool    // it has found out how stacks differ
	Differing    int     // how many do
	Cost         float64 // an estimate in USD of what the run itself cost, without its stacks
}

// Ratio is the makespan divided by the critical path, of which 1 is the best, or 0 if one of them is not known.
func (m Metrics) Ratio() float64 {
	if m.Makespan <= 0 || m.CriticalPath <= 0 {
		return 0
	}
	return m.Makespan.Seconds() / m.CriticalPath.Seconds()
}

// Metrics are those of a run with its steps.
func (r *Run) Metrics() Metrics {
	m := Metrics{Makespan: r.Makespan(), CriticalPath: r.CriticalPath(), Cost: r.cost()}
	if m.Differing = len(r.Differing()); r.State.Over() && len(r.Steps) > 0 {
		m.Compared = plan.AllOperations().Of(r.Operation).Compares
	}
	m.QueueWait, m.Planned = r.Waited()
	for _, s := range r.Steps {
		m.Starts += s.Attempt
	}
	return m
}

// Differing lists the nodes of which a step has found that their stacks differ from what is known of them, sorted.
func (r *Run) Differing() []string {
	var nodes []string
	for _, s := range r.Steps {
		if s.Node != "" && slices.ContainsFunc(s.Result.Findings, plan.Finding.Differs) {
			nodes = append(nodes, s.Node)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// Makespan is the time from the plan to the end. It is zero for a run that has not
// ended, or that started no step.
func (r *Run) Makespan() time.Duration {
	for _, s := range r.Steps {
		if s.Attempt > 0 && !r.Started.IsZero() && !r.Ended.IsZero() {
			return r.Ended.Sub(r.Started)
		}
	}
	return 0
}

// CriticalPath is the duration of the longest chain of dependent steps. No order of the
// same steps can be faster.
func (r *Run) CriticalPath() time.Duration {
	until := make([]time.Duration, len(r.Steps))
	var longest time.Duration
	for i, s := range r.Steps { // its dependencies come before it
		for _, n := range s.After {
			until[i] = max(until[i], until[n])
		}
		until[i] += s.Took()
		longest = max(longest, until[i])
	}
	return longest
}

// Took is the time that a step took itself, from its last claim to its recorded end. It
// is zero for a step that has not started or not ended.
func (s Step) Took() time.Duration {
	if s.Attempt == 0 || s.Ended.IsZero() {
		return 0
	}
	return max(s.Ended.Sub(s.Claimed), 0)
}

// Waited is how long a run waited from its request until its plan: for its planner,
// and in the queue. It is false for a run that was never planned.
func (r *Run) Waited() (time.Duration, bool) {
	if r.Started.IsZero() {
		return 0, false
	}
	return max(r.Started.Sub(r.Requested), 0), true
}

// Stuck reports whether a pending or running run has made no progress for StuckAfter: no
// step has started or ended. A stack that takes longer counts as stuck too, unless its
// step has a timeout that has not passed. A run that waits for a person, or is queued, is
// not stuck.
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
	later(r.NotBefore)
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

// OldAfter is how long after its request a run is stuck that does not wait for a person, whatever it does.
const OldAfter = 24 * time.Hour

// A Backlog describes the runs that have not ended.
type Backlog struct {
	Open   int
	Stuck  []string      // the IDs of runs that make no progress or are a day old, in the order of the runs
	Oldest time.Duration // since the request of the oldest that does not wait for a person
}

// NewBacklog counts the runs that have not ended. To find the stuck ones it needs
// the steps of runs that have taken long; it needs no others.
func NewBacklog(runs []Run, now time.Time) Backlog {
	var b Backlog
	for _, r := range runs {
		if r.ID == "" || r.State.Over() {
			continue
		}
		b.Open++
		var age time.Duration
		if r.State != StateWaiting {
			age = max(now.Sub(later(r.Requested, r.NotBefore)), 0)
		}
		b.Oldest = max(b.Oldest, age)
		if r.Stuck(now) || age >= OldAfter {
			b.Stuck = append(b.Stuck, r.ID)
		}
	}
	return b
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// LastChain lists the numbers of the steps that decided when r ended: the one that has ended last, or still runs, and before each the
// one that ended last of those that it comes after. The first one is the first of the list.
func (r *Run) LastChain() []int {
	last := -1
	later := func(n int) {
		s := r.Steps[n]
		if s.Attempt == 0 {
			return
		}
		if last < 0 || !r.Steps[last].Ended.IsZero() && (s.Ended.IsZero() || s.Ended.After(r.Steps[last].Ended)) {
			last = n
		}
	}
	for n := range r.Steps {
		later(n)
	}
	var chain []int
	for last >= 0 {
		chain = append(chain, last)
		after := r.Steps[last].After
		last = -1
		for _, n := range after {
			later(n)
		}
	}
	slices.Reverse(chain)
	return chain
}
