package action

import (
	"context"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
)

// approveVerb waits until a person has approved the plan, or the change set of a stack.
func approveVerb() Verb { return Verb{Name: plan.Approve, Action: approve{}, Past: "approved"} }

// approve asks a person, and is over when the person has answered.
type approve struct{}

// Start does nothing.
func (approve) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll asks, until there is an answer. If the answer is no, the step fails. A change set that needs no
// approval needs no answer.
func (approve) Poll(_ context.Context, t Task) (Progress, error) {
	why, missed := "", false
	if t.Step.Proposal != "" {
		why, missed = t.Proposed.Asks(t.Estimate, t.Node.Approve.Stronger(t.Record.Approve))
	}
	switch {
	case t.Answered:
		return Progress{Over: true}, nil
	case t.Step.Optional && !missed:
		return Progress{Over: true, Why: "its change set needs no further approval"}, nil
	}
	return Progress{Question: strings.TrimSuffix("waits for approval: "+why, ": ")}, nil
}
