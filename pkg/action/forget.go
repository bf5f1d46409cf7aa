package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/plan"
)

// forgetVerb drops the record of a stack that is gone, or that the user keeps without Stackwright.
func forgetVerb() Verb { return Verb{Name: plan.Forget, Action: forget{}, Past: "forgotten"} }

// forget drops the record of a stack. It sends no request to CloudFormation.
type forget struct{}

// Start does nothing: a poll drops the record.
func (forget) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll drops the record.
func (forget) Poll(context.Context, Task) (Progress, error) {
	return Progress{Over: true, Forget: true, Why: "only its record was deleted"}, nil
}
