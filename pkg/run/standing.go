package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/project"
)

// A Standing is how far the stacks of a set have come: each is in one of the lists, in the order of the plan.
type Standing struct {
	Deployed   []string // all their steps are done
	Failed     []string // a step of them has failed
	Started    []string // a step of them was started, and not all are over
	Stopped    []string // a step of them was started, and another was skipped
	NotStarted []string // no step of them was started
}

// Rollouts lists the stacks of which r has a rollout, in the order of the plan.
func (r *Run) Rollouts() []string {
	var all []string
	for i := range r.Steps {
		if name := r.Steps[i].Rollout; name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// Standing returns how far the stacks have come that a limit is for. Steps that wait for approval do not count as started.
func (r *Run) Standing(l project.Limit) Standing {
	type progress struct{ failed, started, skipped, open bool }
	var names []string
	by := make(map[string]*progress)
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Node == "" || !s.of(l) {
			continue
		}
		p := by[s.Node]
		if p == nil {
			p = &progress{}
			by[s.Node], names = p, append(names, s.Node)
		}
		p.failed = p.failed || s.Status == Failed
		p.started = p.started || s.Attempt > 0 && s.Approval == nil
		p.skipped = p.skipped || s.Status == Skipped
		p.open = p.open || !s.Over()
	}
	var all Standing
	for _, name := range names {
		switch p := by[name]; {
		case p.failed:
			all.Failed = append(all.Failed, name)
		case !p.started:
			all.NotStarted = append(all.NotStarted, name)
		case p.open:
			all.Started = append(all.Started, name)
		case p.skipped:
			all.Stopped = append(all.Stopped, name)
		default:
			all.Deployed = append(all.Deployed, name)
		}
	}
	return all
}

// ChangedBefore reports whether a step of r has changed a stack whose steps s comes after. It reads only steps that s comes after: others may
// be written meanwhile.
func (r *Run) ChangedBefore(s Step) bool {
	return slices.ContainsFunc(s.After, func(n int) bool { return r.Steps[n].Node != "" && r.changedUntil(n) })
}

// changedUntil reports whether a step, or one of the same stack before it, has changed the stack.
func (r *Run) changedUntil(n int) bool {
	s := &r.Steps[n]
	return s.Acted() && !s.Receipt.Unchanged || slices.ContainsFunc(s.After, func(before int) bool { return r.Steps[before].Node == s.Node && r.changedUntil(before) })
}

// mostNamed is how many stacks a message names.
const mostNamed = 10

// named lists stacks for people.
func named(stacks []string) string {
	if more := len(stacks) - mostNamed; more > 0 {
		return strings.Join(stacks[:mostNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(stacks, ", ")
}

// Ending says of r, which ends in a state, what stopped it, and how far the rollouts have come that did not end.
func (r *Run) Ending(s State) []string {
	var all []string
	if s.Over() && s != StateSucceeded {
		all = r.LeftBehind()
	}
	if s != StateFailed {
		return all
	}
	if r.TimedOut() {
		all = append(all, "timeout: it took longer than "+project.Timeout(r.Deadline.Sub(r.Started)).String())
	}
	exceeded := make(map[string]project.Limit)
	for _, e := range r.excesses() {
		if e.All() {
			failed := r.Standing(e.Limit).Failed
			all = append(all, fmt.Sprintf("max_failures: %d stacks failed (%s), more than %d: no other was started after that", len(failed), named(failed), e.Most))
		}
		exceeded[e.Rollout] = e.Limit
	}
	for _, name := range r.Rollouts() {
		at := r.Standing(project.Limit{Rollout: name})
		if len(at.Failed)+len(at.Stopped)+len(at.NotStarted) == 0 {
			continue
		}
		text := fmt.Sprintf("rollout of %s: of %d targets, %d deployed", name, len(at.Deployed)+len(at.Failed)+len(at.Stopped)+len(at.NotStarted), len(at.Deployed))
		if len(at.Failed) > 0 {
			text += fmt.Sprintf(", %d failed (%s)", len(at.Failed), named(at.Failed))
		}
		if len(at.Stopped) > 0 {
			text += fmt.Sprintf(", %d not finished (%s)", len(at.Stopped), named(at.Stopped))
		}
		if len(at.NotStarted) > 0 {
			text += fmt.Sprintf(", %d not started (%s)", len(at.NotStarted), named(at.NotStarted))
		}
		if l, stopped := exceeded[name]; stopped {
			text += fmt.Sprintf("; max_failures allows %d to fail", l.Most)
		}
		all = append(all, text+": a retry goes on with the rest, and a rollback goes back (stackwright rollback --to current)")
	}
	return all
}
