package action

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// verifyVerb verifies that a target can be used.
func verifyVerb(c Cloud) Verb {
	return Verb{Name: plan.Verify, Action: verify{c}, PollReads: 2, Past: "usable"}
}

// verify fails if the role of a target cannot be assumed, or may not ask CloudFormation for its quota of stacks, if that is used up, or if
// CloudFormation cannot read a template with that role.
type verify struct{ Cloud }

// Start does nothing: a poll verifies.
func (verify) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll reads how many stacks the account of the target may have, and has, and has CloudFormation read a template.
func (a verify) Poll(ctx context.Context, t Task) (Progress, error) {
	var target plan.Verification
	if err := t.Step.Arguments.Read(plan.VerificationVersion, &target); err != nil {
		return Progress{}, err
	}
	room, err := a.Room(ctx, target.Target, func() {})
	switch {
	case fault.Is(err, fault.Denied):
		return failedVerification(plan.Finding{Kind: plan.CheckAccess, Why: err.Error()}, fault.New(fault.Refused, "%w", err)), nil
	case err != nil:
		return Progress{}, err
	}
	if target.Template != "" {
		switch err := a.ReadTemplate(ctx, target.Target, target.Template); {
		case fault.Is(err, fault.Denied):
			return failedVerification(plan.Finding{Kind: plan.CheckBucket, Why: err.Error()}, fault.New(fault.Refused, "target %s: %w", target.Name, err)), nil
		case err != nil:
			return Progress{}, err
		}
	}
	switch {
	case room.Limit > 0 && room.Stacks >= room.Limit:
		f := plan.Finding{Kind: plan.CheckQuota, Expected: fmt.Sprintf("fewer than %d stacks", room.Limit), Actual: fmt.Sprintf("%d stacks", room.Stacks)}
		return failedVerification(f, fault.New(fault.Refused, "target %s: account %s has %d stacks in region %s, and CloudFormation lets it have %d: before a deploy creates another, delete stacks, or raise the quota Stack count of AWS CloudFormation there in Service Quotas",
			target.Name, target.Account, room.Stacks, target.Region, room.Limit)), nil
	case room.Limit == 0:
		return Progress{Over: true, Why: fmt.Sprintf("it can be used, and has %d stacks", room.Stacks)}, nil
	}
	return Progress{Over: true, Why: fmt.Sprintf("it can be used, and has %d of %d stacks", room.Stacks, room.Limit)}, nil
}

// failedVerification is the end of a step that has found something.
func failedVerification(f plan.Finding, err error) Progress {
	return Progress{Over: true, Err: err, Result: plan.Result{Findings: []plan.Finding{f}}}
}
