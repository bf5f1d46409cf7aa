package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// executeVerb updates a stack by the change set of another step, which a person may have approved.
func executeVerb(c Cloud) Verb {
	v := updateVerb(c)
	v.Name, v.Request, v.StartReads = plan.Execute, ExecuteChangeSet, 2
	return v
}

// startExecution executes the change set, unless it is no longer what the other step has read: somebody may have changed the
// stack, the outputs that it uses, or the change set.
func (a change) startExecution(ctx context.Context, t Task) (plan.Receipt, error) {
	live, err := a.Live(ctx, t.Location())
	outdated := fault.New(fault.Refused, "stack %s was changed after its change set was made: retry the run", t.Location().Stack)
	switch {
	case err != nil:
		return plan.Receipt{}, err
	case t.Proposed.Unchanged && (live.Status.Gone() || live.Status.Busy() || !live.LastUpdated.Equal(t.Proposed.LastUpdated)):
		return plan.Receipt{}, outdated
	case t.Proposed.Unchanged:
		return plan.Receipt{StackID: t.Record.StackID, Unchanged: true}, nil
	}
	t.Seen = &live
	switch p, ready, err := a.Proposal(ctx, t.proposal()); {
	case live.Status.Gone():
		return plan.Receipt{}, remedy(t, fault.New(fault.Missing, "it is %s", live.Status))
	case live.Status.Busy(), live.Status.Cleaning():
		return plan.Receipt{}, fault.New(fault.Busy, "stack %s is %s", t.Location().Stack, live.Status)
	case fault.Is(err, fault.Missing):
		return plan.Receipt{}, deletedChangeSet(t, err)
	case err != nil:
		return plan.Receipt{}, err
	case p.Outdated:
		return plan.Receipt{}, outdated
	case !ready: // CloudFormation deletes it, and another of the same name may exist
		return plan.Receipt{}, deletedChangeSet(t, fault.New(fault.Missing, "it is not ready"))
	case t.Want.Digest != t.Proposed.Inputs:
		return plan.Receipt{}, fault.New(fault.Refused, "the outputs that stack %s uses have changed after its change set was made: retry the run", t.Location().Stack)
	}
	return a.Begin(ctx, t)
}

// proposal returns t as the task of the step that has made its change set.
func (t Task) proposal() Task {
	t.Receipt = t.Proposal
	return t
}
