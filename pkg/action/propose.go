package action

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// maxProposal is how long CloudFormation may take to make a change set.
const maxProposal = 20 * time.Minute

// proposeVerb says with a change set what an update would change.
func proposeVerb(c Cloud) Verb {
	return Verb{Name: plan.Propose, Action: propose{c}, Request: CreateChangeSet, Configures: true, PollReads: 2, Tidy: propose{c}.tidy, Leaves: "change set", Past: "proposed"}
}

// propose creates a change set and reads it. The change set stays until the run ends: a later step may execute it.
type propose struct{ Cloud }

// Start creates the change set.
func (a propose) Start(ctx context.Context, t Task) (plan.Receipt, error) { return a.Begin(ctx, t) }

// Poll reads the change set when it is ready. If the function that claimed the step has crashed, Poll creates the change
// set again under the same token, which is its name.
func (a propose) Poll(ctx context.Context, t Task) (Progress, error) {
	switch {
	case t.MayStartAgain():
		receipt, err := a.Begin(ctx, t)
		return Progress{Receipt: receipt, Started: err == nil, Soon: true}, err
	case !t.Receipt.Known():
		return Progress{}, nil
	}
	p, ready, err := a.Proposal(ctx, t)
	switch late := t.Now.Sub(t.Claimed) > maxProposal; {
	case fault.Is(err, fault.Missing):
		return Progress{Over: true, Err: deletedChangeSet(t, err)}, nil
	case err != nil:
		return Progress{}, err
	case !ready && late:
		p.Failure = "CloudFormation has not made the change set within " + maxProposal.String()
	case !ready:
		return Progress{Soon: true}, nil
	}
	if p.Failure != "" {
		return Progress{Over: true, Receipt: t.Receipt, Err: fault.New(fault.Refused, "%s", p.Failure)}, nil
	}
	if p.Unchanged { // CloudFormation does not say later whether the stack has changed since
		live, err := a.Live(ctx, t.Location())
		if err != nil {
			return Progress{}, err
		}
		p.LastUpdated, p.Protection = live.LastUpdated, t.Node.Name != "" && live.Protected != t.Node.Protect
	}
	p.Inputs = t.Want.Digest
	return Progress{Over: true, Receipt: t.Receipt, Proposal: &p}, nil
}

// tidy deletes the change set. It is no error if there is none.
func (a propose) tidy(ctx context.Context, t Task) error { return a.Withdraw(ctx, t) }

// deletedChangeSet says that the change set of a task is gone.
func deletedChangeSet(t Task, err error) error {
	return fault.New(fault.Refused, "the change set of stack %s no longer exists, because somebody has changed the stack or deleted the change set: retry the run (%w)", t.Location().Stack, err)
}
