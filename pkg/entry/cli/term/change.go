// Package term draws a run as lines of text.
package term

import (
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Change is the change of a step to another status.
type Change struct {
	Time     time.Time
	Run      string
	Step     string // its ID
	Stack    string // its node; empty for the barrier
	Verb     plan.Verb
	Possible bool // the step changes the stack only if an output of a dependency changes
	Status   run.Status
	Why      string
	Took     time.Duration // from its claim to its end; 0 if it was never claimed or is not over

	Deadline time.Time // when it is overdue, if it runs and has a timeout
}

// Diff lists the changes of the steps since before, oldest first. A step
// whose status changed several times since before was read has a change for each
// status that its times show. A step that before does not have starts as pending.
func Diff(before, after run.Run) []Change {
	var changes []Change
	for i, now := range after.Steps {
		if i < len(before.Steps) && before.Steps[i].ID == now.ID {
			changes = append(changes, between(after.ID, before.Steps[i], now)...)
			continue
		}
		first := change(after.ID, now, run.Pending, startedAt(after))
		first.Why = ""
		changes = append(changes, first)
		inaccessible := run.Step{Step: now.Step, Status: run.Pending}
		changes = append(changes, between(after.ID, inaccessible, now)...)
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return a.Time.Compare(b.Time) })
	return changes
}

// between lists the changes of one step.
func between(id string, before, now run.Step) []Change {
	var changes []Change
	claimed := now.Claimed.After(before.Claimed)
	if claimed && (before.Status != run.Running || now.Status == run.Running) {
		begin := change(id, now, run.Running, now.Claimed)
		begin.Why = ""
		changes = append(changes, begin)
	}
	switch {
	case now.Status == run.Running:
	case now.Status == run.Pending && (claimed || before.Status != run.Pending || now.Why != before.Why):
		changes = append(changes, change(id, now, run.Pending, now.Claimed))
	case now.Status != before.Status:
		changes = append(changes, change(id, now, now.Status, now.Ended))
	}
	return changes
}

// change is the change of a step to a status at a time.
func change(id string, s run.Step, to run.Status, at time.Time) Change {
	c := Change{Time: at, Run: id, Step: s.ID, Stack: s.Node, Verb: s.Verb, Possible: s.Possible, Status: to, Why: s.Why}
	if s.Over() && s.Status == to {
		c.Took = took(s, s.Ended)
	}
	if to == run.Running {
		c.Deadline = s.Deadline(s.Claimed)
	}
	return c
}

// took is how long a step has run until now; 0 if it was never started.
func took(s run.Step, now time.Time) time.Duration {
	if s.Claimed.IsZero() || now.Before(s.Claimed) {
		return 0
	}
	return now.Sub(s.Claimed)
}

// startedAt is when the run was planned, or, before that, when it was requested.
func startedAt(r run.Run) time.Time {
	if r.Started.IsZero() {
		return r.Requested
	}
	return r.Started
}

// latest is when the run ended, or else when one of its steps last changed.
func latest(r run.Run) time.Time {
	if !r.Ended.IsZero() {
		return r.Ended
	}
	last := startedAt(r)
	for _, s := range r.Steps {
		for _, t := range []time.Time{s.Claimed, s.Ended} {
			if t.After(last) {
				last = t
			}
		}
	}
	return last
}
