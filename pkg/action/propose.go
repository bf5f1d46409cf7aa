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
	return Verb{Name: plan.Propose, Action: propose{c}, Request: CreateChangeSet, Configures: true, PollReads: 2, Leaves: "change set", Past: "proposed"}
}

// propose creates a change set, reads it, and deletes it. What it says is stored before it is deleted, so no crash
// loses it, and no change set outlives its step.
type propose struct{ Cloud }

// Start creates the change set.
func (a propose) Start(ctx context.Context, t Task) (plan.Receipt, error) { return a.Begin(ctx, t) }

// Poll reads the change set when it is ready, and deletes it in the next call. If the function that claimed the step has
// crashed, Poll creates the change set again under the same token, which is its name.
func (a propose) Poll(ctx context.Context, t Task) (Progress, error) {
	switch {
	case t.Receipt.Proposal != "":
		return Progress{Over: true}, a.Withdraw(ctx, t)
	case t.MayStartAgain():
		receipt, err := a.Begin(ctx, t)
		return Progress{Receipt: receipt, Started: err == nil, Soon: true}, err
	case !t.Receipt.Known():
		return Progress{}, nil
	}
	p, ready, err := a.Proposal(ctx, t)
	switch late := t.Now.Sub(t.Claimed) > maxProposal; {
	case fault.Is(err, fault.Missing):
		return Progress{Over: true, Err: fault.New(fault.Refused, "somebody has deleted the change set of stack %s before Stackwright had read it: plan again (%w)", t.Location().Stack, err)}, nil
	case err != nil:
		return Progress{}, err
	case !ready && late:
		p.Failure = "CloudFormation has not made it within " + maxProposal.String()
	case !ready:
		return Progress{Soon: true}, nil
	}
	return Progress{Receipt: t.Receipt, Proposal: &p, Soon: true}, nil
}
