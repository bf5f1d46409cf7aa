package run

import (
	"cmp"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/project"
)

// leastDuration is how long a step takes at least: one poll starts it, and a later one
// finds that it has finished.
const leastDuration = 2 * time.Second

// expected is how long a step that has not started will probably take. A step that may
// change nothing probably finds nothing to change.
func (s *Step) expected() time.Duration {
	if s.Possible {
		return leastDuration
	}
	return max(s.Expected.Duration(), leastDuration)
}

// chains returns for each step that is not over, by its number, how long the longest
// chain of steps will take that begins with it. This is the step's priority: the run
// cannot end earlier than that.
func (r *Run) chains() []time.Duration {
	chain := make([]time.Duration, len(r.Steps))
	for i := len(r.Steps) - 1; i >= 0; i-- { // its dependents come after it
		s := &r.Steps[i]
		if s.Over() {
			continue
		}
		chain[i] += s.expected()
		for _, n := range s.After {
			chain[n] = max(chain[n], chain[i])
		}
	}
	return chain
}

// places are the limits of a run, less the steps that run.
type places []project.Limit

// places returns how many more steps may run at the same time.
func (r *Run) places() places {
	free := slices.Clone(places(r.MaxParallel))
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == Running {
			free.take(s)
		}
	}
	return free
}

// has reports whether one more step may run.
func (p places) has(s *Step) bool {
	return !slices.ContainsFunc(p, func(l project.Limit) bool { return l.Most <= 0 && s.within(l) })
}

// take counts a step that runs.
func (p places) take(s *Step) { p.add(s, -1) }

// release counts a step that no longer runs.
func (p places) release(s *Step) { p.add(s, 1) }

func (p places) add(s *Step, n int) {
	for i, l := range p {
		if s.within(l) {
			p[i].Most += n
		}
	}
}

// within reports whether a limit is for the stack of the step. The barrier has no stack, and a step that waits for approval changes none.
func (s *Step) within(l project.Limit) bool {
	return s.Node != "" && s.Approval == nil && s.of(l)
}

// byPriority sorts steps that may start: first those with the longest chain after them,
// else in the order of the plan.
func (r *Run) byPriority(steps []*Step) {
	if len(steps) < 2 {
		return
	}
	chain := r.chains()
	slices.SortFunc(steps, func(a, b *Step) int {
		return cmp.Or(cmp.Compare(chain[b.Number], chain[a.Number]), cmp.Compare(a.Number, b.Number))
	})
}
