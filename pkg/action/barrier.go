package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/plan"
)

// barrierVerb does nothing: its step only orders other steps.
func barrierVerb() Verb { return Verb{Name: plan.Barrier, Action: barrier{}} }

// barrier is over as soon as it starts.
type barrier struct{}

// Start does nothing.
func (barrier) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll reports that it is over.
func (barrier) Poll(context.Context, Task) (Progress, error) { return Progress{Over: true}, nil }
