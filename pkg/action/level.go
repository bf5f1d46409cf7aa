package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// setLevelVerb records which steps of a stack have to be approved from now on, if nothing else of the stack changes.
func setLevelVerb() Verb {
	return Verb{Name: plan.SetLevel, Action: setLevel{}, Past: "with another level of approval"}
}

// setLevel writes the level of the node into its record. It sends no request to CloudFormation.
type setLevel struct{}

// Start does nothing: a poll writes the record.
func (setLevel) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll writes the record.
func (setLevel) Poll(_ context.Context, t Task) (Progress, error) {
	if t.Record.Node == "" {
		return Progress{Over: true, Err: fault.New(fault.Missing, "stack %s is no longer recorded: retry the run", t.Node.Stack)}, nil
	}
	r := t.Record
	r.Approve, r.Run = t.Node.Approve, t.Run
	return Progress{Over: true, Record: &r, Why: "approve: " + r.Approve.String()}, nil
}
