package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// compareVerb compares a live stack with its record.
func compareVerb(c Cloud) Verb {
	return Verb{Name: plan.Compare, Action: compare{c}, PollReads: 2, Past: "as recorded"}
}

// compare fails if the stack is not as recorded. It changes neither.
type compare struct{ Cloud }

// Start does nothing: a poll compares.
func (compare) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll compares once no operation is in progress on the stack.
func (a compare) Poll(ctx context.Context, t Task) (Progress, error) {
	refused := func(why string) (Progress, error) {
		return Progress{Over: true, Err: fault.New(fault.Refused, "stack %s: %s", t.Location().Stack, why)}, nil
	}
	if t.Record.StackID == "" {
		return refused(unknown)
	}
	live, err := t.live(ctx, a)
	switch {
	case err != nil || live.Status.Busy() || live.Status.Cleaning():
		return Progress{}, err
	case t.Record.Intent && live.Status.Gone():
		return refused(unknown)
	case t.Record.Intent:
		return refused(unended)
	}
	var policy project.StackPolicy
	deployed := ""
	if live.StackID == t.Record.StackID && !live.Status.Gone() {
		if deployed, err = t.deployed(ctx, a, live); err != nil {
			return Progress{}, err
		}
		policy, err = a.StackPolicy(ctx, t.Location())
	}
	switch {
	case fault.Is(err, fault.Missing): // it was deleted since
		return Progress{Soon: true}, nil
	case err != nil:
		return Progress{}, err
	}
	found := t.Record.Compared(t.Project, live, deployed, policy)
	result := plan.ResultOf(live)
	result.Findings = found
	if len(found) > 0 {
		return Progress{Over: true, Result: result, Err: fault.New(fault.Refused, "stack %s is not as recorded: %s", t.Location().Stack, plan.SayCompared(found))}, nil
	}
	return Progress{Over: true, Result: result, Why: "as recorded"}, nil
}
