package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/plan"
)

// proposeRevertVerb says with a change set what would bring back the resources of a stack that have drifted. The change set compares the
// template that is deployed with the live resources.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/drift-aware-change-sets.html
func proposeRevertVerb(c Cloud) Verb {
	v := proposeVerb(c)
	v.Name, v.Action, v.Request, v.Configures = plan.ProposeRevert, proposeRevert{propose{c}}, CreateDriftChangeSet, false
	return v
}

// proposeRevert does what propose does, and says what CloudFormation would not bring back.
type proposeRevert struct{ propose }

// Poll reads the change set when it is ready.
func (a proposeRevert) Poll(ctx context.Context, t Task) (Progress, error) {
	p, err := a.propose.Poll(ctx, t)
	if err != nil || p.Proposal == nil {
		return p, err
	}
	p.Why = t.Record.Drift.Unreverted(*p.Proposal)
	live, err := a.Live(ctx, t.Location())
	p.Proposal.LastUpdated = live.LastUpdated
	return p, err
}

// revertVerb brings resources back by the change set of another step, which a person may have approved.
func revertVerb(c Cloud) Verb {
	v := executeVerb(c)
	v.Name, v.Request, v.Configures, v.Past = plan.Revert, ExecuteDriftChangeSet, false, "reverted"
	return v
}

// reverted returns the progress and the record of a stack whose resources were brought back: what is deployed is what was deployed before, and a
// change outside Stackwright is still one.
func (t Task) reverted(p Progress, r plan.Record) Progress {
	r.Drift = t.Record.Drift.Left(t.Proposed)
	if t.Receipt.Unchanged || !t.Proposed.LastUpdated.Equal(t.Record.LastUpdated) {
		r.LastUpdated = t.Record.LastUpdated
	}
	p.Record, p.Why = &r, t.Record.Drift.Unreverted(t.Proposed)
	if t.Receipt.Unchanged && p.Why == "" {
		p.Why = "unchanged"
	}
	return p
}
