package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/plan"
)

// forgetVerb drops the record of a stack that is gone.
func forgetVerb() Verb { return Verb{Name: plan.Forget, Action: forget{}, Past: "forgotten"} }

// forget drops the record of a stack that is gone.
type forget struct{}

// Start does nothing: the stack is gone.
func (forget) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll drops the record.
func (forget) Poll(context.Context, Task) (Progress, error) {
	return Progress{Over: true, Forget: true, Why: "it was gone already"}, nil
}
