package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/plan"
)

// approveVerb waits until a person has approved the plan.
func approveVerb() Verb { return Verb{Name: plan.Approve, Action: approve{}, Past: "approved"} }

// approve asks a person, and is over when the person has answered.
type approve struct{}

// Start does nothing.
func (approve) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll asks, until there is an answer. If the answer is no, the step fails.
func (approve) Poll(_ context.Context, t Task) (Progress, error) {
	if !t.Answered {
		return Progress{Question: "waits for approval"}, nil
	}
	return Progress{Over: true}, nil
}
