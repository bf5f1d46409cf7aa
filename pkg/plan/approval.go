package plan

import (
	"cmp"
	"strconv"

	"github.com/stackwright/stackwright/pkg/project"
)

// Ungated returns p without the steps that Gated has added.
func (p Plan) Ungated() Plan {
	n := 0
	for n < len(p.Steps) && p.Steps[n].Approval != nil {
		n++
	}
	var rest []Step
	for _, s := range p.Steps[n:] {
		var after []int
		for _, i := range s.After {
			if i >= n {
				after = append(after, i-n)
			}
		}
		s.After = after
		rest = append(rest, s)
	}
	p.Steps = rest
	return p
}

// Gated returns p with the steps in front of it that wait for approval: one for each person who has to approve, before
// all other steps.
func (p Plan) Gated(by project.Approval) Plan {
	if !by.Plan {
		return p
	}
	var first []Step
	var numbers []int
	for i := range max(by.Approvals, 1) {
		qualifier := ""
		if i > 0 {
			qualifier = strconv.Itoa(i + 1)
		}
		first, numbers = append(first, Step{
			ID: StepID("", Approve, qualifier), Verb: Approve, Qualifier: qualifier, Approval: &by, Timeout: cmp.Or(by.Expires, project.DefaultExpiry),
		}), append(numbers, i)
	}
	for _, s := range p.Steps {
		after := make([]int, len(s.After))
		for i, n := range s.After {
			after[i] = n + len(numbers)
		}
		if s.After = after; len(after) == 0 {
			s.After = numbers
		}
		first = append(first, s)
	}
	p.Steps = first
	return p
}
