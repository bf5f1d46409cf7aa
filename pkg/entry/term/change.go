// Package term draws a run as lines of text.
package term

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Change is the change of a step to another status. Its times are in UTC.
type Change struct {
	Time     time.Time     `json:"time"`
	Run      string        `json:"run"`
	Step     string        `json:"step"`
	Stack    string        `json:"stack"` // empty for the barrier
	Verb     plan.Verb     `json:"verb"`
	Possible bool          `json:"possible,omitempty"` // the step changes the stack only if an output of a dependency changes
	Status   run.Status    `json:"status"`
	Why      string        `json:"why"`
	Deadline time.Time     `json:"deadline,omitzero"` // when it is overdue, if it runs and has a timeout; or until when it waits for approval
	Took     time.Duration `json:"-"`                 // from its claim to its end; 0 if it was never claimed or is not over
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
		pending := run.Step{Step: now.Step, Status: run.Pending}
		changes = append(changes, change(after.ID, pending, run.Pending, startedAt(after)))
		changes = append(changes, between(after.ID, pending, now)...)
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
	case now.Status == run.Waiting && before.Status != run.Waiting: // since its last start: a step that waits has no end
		changes = append(changes, change(id, now, run.Waiting, now.Claimed))
	case now.Status != before.Status:
		changes = append(changes, change(id, now, now.Status, now.Ended))
	}
	return changes
}

// change is the change of a step to a status at a time.
func change(id string, s run.Step, to run.Status, at time.Time) Change {
	c := Change{Time: at.UTC(), Run: id, Step: s.ID, Stack: s.Node, Verb: s.Verb, Possible: s.Possible, Status: to, Why: s.Why}
	if s.Over() && s.Status == to {
		c.Took = took(s, s.Ended)
	}
	if to == run.Running && s.Approval == nil || to == run.Waiting {
		c.Deadline = s.Deadline(s.Claimed).UTC()
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

// count is the number of steps of each status, without those that were not needed.
func count(steps []run.Step) map[run.Status]int {
	n := make(map[run.Status]int)
	for _, s := range steps {
		if !notNeeded(s) {
			n[s.Status]++
		}
	}
	return n
}

// notNeeded reports whether a step was skipped because it is for a run of which a step has failed, and none has.
func notNeeded(s run.Step) bool { return s.Status == run.Skipped && s.Cause.Kind == run.CauseNoFailure }

// tally counts the steps by status, as in "3 of 9 done, 2 running".
func tally(r run.Run) string {
	n := count(r.Steps)
	all := 0
	for _, some := range n {
		all += some
	}
	words := []string{fmt.Sprintf("%d of %d done", n[run.Done], all)}
	for _, s := range []run.Status{run.Waiting, run.Running, run.Failed, run.Skipped} {
		if n[s] > 0 {
			words = append(words, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	return strings.Join(words, ", ")
}

// A failure is a failed step, or another reason for which steps were skipped.
type failure struct {
	step    run.Step // the zero Step for another reason
	cause   string   // the step's ID, or the reason
	skipped []string // names of the steps that were skipped because of it, each once, in the order of the plan
}

// skip adds a step that was skipped because of it.
func (f *failure) skip(s run.Step) {
	if n := name(s); !slices.Contains(f.skipped, n) {
		f.skipped = append(f.skipped, n)
	}
}

// failures lists the failed steps, in the order of the plan, and then the other
// reasons.
func failures(r run.Run) []failure {
	var failed, others []failure
	for _, s := range r.Steps {
		if s.Status == run.Failed {
			failed = append(failed, failure{step: s, cause: s.ID})
		}
	}
	for _, s := range r.Steps {
		if s.Status != run.Skipped || notNeeded(s) {
			continue
		}
		cause := cmp.Or(s.Cause.Step, s.Why)
		known := func(f failure) bool { return f.cause == cause }
		if i := slices.IndexFunc(failed, known); i >= 0 {
			failed[i].skip(s)
		} else if i := slices.IndexFunc(others, known); i >= 0 {
			others[i].skip(s)
		} else {
			others = append(others, failure{cause: cause, skipped: []string{name(s)}})
		}
	}
	return append(failed, others...)
}

// name is the name of a step without its verb.
func name(s run.Step) string {
	if s.Node == "" {
		return s.ID
	}
	return s.Node
}

// elapsed shows a duration to the second: 8s, 1m02s, 1h02m.
func elapsed(d time.Duration) string {
	d = d.Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0:
		return fmt.Sprintf("%dh%02dm", h, m)
	case m > 0:
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%ds", s)
}

// exactly shows a duration that is over: below ten seconds, to a tenth.
func exactly(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%gs", d.Round(100*time.Millisecond).Seconds())
	}
	return elapsed(d)
}

// Plural counts things.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// oneLine puts a reason of several lines on one.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
