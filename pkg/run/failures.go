package run

import (
	"cmp"
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// An excess is a limit of MaxFailures that a run has exceeded: it starts no more steps of the stacks of the limit.
type excess struct {
	project.Limit
	step string // the ID of the first step, in the order of the plan, whose failure is more than the limit allows
}

// excesses lists the limits of MaxFailures that r has exceeded, in their order. A stack counts once: if a step of it has failed,
// or was skipped because of a stack that the limit is not for. So one that could not be deployed because of its dependency
// counts in its own rollout, and in that of all stacks only the dependency does.
func (r *Run) excesses() []excess {
	var failing []*Step
	for i := range r.Steps {
		if s := &r.Steps[i]; len(r.MaxFailures) > 0 && s.Node != "" && (s.Status == Failed || s.Status == Skipped && s.Cause.Step != "") {
			failing = append(failing, s)
		}
	}
	if len(failing) == 0 {
		return nil
	}
	causes := make(map[string]*Step)
	for i := range r.Steps {
		causes[r.Steps[i].ID] = &r.Steps[i]
	}
	var all []excess
	for _, l := range r.MaxFailures {
		counted := make(map[string]bool)
		for _, s := range failing {
			because := causes[s.Cause.Step]
			if !s.of(l) || s.Status == Skipped && (because == nil || because.of(l)) {
				continue
			}
			if counted[s.Node] = true; len(counted) > l.Most {
				all = append(all, excess{l, cmp.Or(s.Cause.Step, s.ID)})
				break
			}
		}
	}
	return all
}

// of reports whether a limit is for the step: for its stack, or for a step without a stack that belongs to a rollout.
func (s *Step) of(l project.Limit) bool {
	return l.All() || (s.Node != "" || s.Rollout != "") && l.Limits(s.Node, s.Group, s.Rollout)
}

// stopped returns why a step does not start because of too many failures; the zero Cause if it may. A step that is for failures
// may always.
func (s *Step) stopped(by []excess) Cause {
	if i := slices.IndexFunc(by, func(e excess) bool { return !s.OnFailure && s.of(e.Limit) }); i >= 0 {
		return Cause{Kind: CauseFailures, Step: by[i].step}
	}
	return Cause{}
}
