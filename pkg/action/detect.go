package action

import (
	"context"
	"errors"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// maxDetection is how long CloudFormation may take to detect the drift of a stack. The polls of a step wait up to that long for
// its answer.
const maxDetection = time.Hour

// detectVerb compares the resources of a live stack with its template.
func detectVerb(c Cloud) Verb {
	return Verb{Name: plan.Detect, Action: detect{c}, Request: DetectStackDrift, StartReads: 1, PollReads: 3, Past: "compared with the template"}
}

// detect starts a drift detection of CloudFormation and records what it has found. It changes no stack, so it may be started twice.
type detect struct{ Cloud }

// Start starts the detection.
func (a detect) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	refused := fault.New(fault.Refused, "stack %s: %s", t.Location().Stack, unknown)
	if t.Record.StackID == "" {
		return plan.Receipt{}, refused
	}
	live, err := a.Live(ctx, t.Location())
	switch s := live.Status; {
	case err != nil:
		return plan.Receipt{}, err
	case s.Gone() && t.Record.Intent: // the operation whose end is not recorded may have made another stack
		return plan.Receipt{}, refused
	case s.Gone():
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s does not exist any more: refresh forgets it, and the next deploy creates it", t.Location().Stack)
	case s.Busy(), s.Cleaning():
		return plan.Receipt{}, fault.New(fault.Busy, "stack %s is %s", t.Location().Stack, s)
	case !s.Stuck() && !live.Updatable():
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s is %s, and has no resources to compare with its template: deploy it first", t.Location().Stack, s)
	}
	return a.Begin(ctx, t)
}

// Poll reads what was found, once the detection has ended. If the function that claimed the step has crashed, it starts the
// detection again.
func (a detect) Poll(ctx context.Context, t Task) (Progress, error) {
	switch {
	case t.MayStartAgain():
		receipt, err := a.Start(ctx, t)
		return Progress{Receipt: receipt, Started: err == nil, Soon: true}, err
	case !t.Receipt.Known():
		return Progress{}, nil
	}
	d, ready, err := a.Detection(ctx, t)
	switch {
	case !ready && t.Now.Sub(t.Claimed) > maxDetection:
		why := fault.New(fault.Refused, "CloudFormation has not compared the resources of stack %s within %s: detect its drift again", t.Location().Stack, maxDetection)
		return Progress{Over: true, Err: errors.Join(why, err)}, nil
	case err != nil:
		return Progress{}, err
	case !ready && d.Operation != "" && d.Operation != t.Receipt.Operation: // a detection of a nested stack has started, or one has ended
		p := Progress{Receipt: t.Receipt, Soon: true}
		p.Receipt.Operation = d.Operation
		return p, nil
	case !ready:
		return Progress{}, nil
	}
	p := Progress{Over: true, Why: d.String(), Result: plan.Result{Findings: d.Findings}}
	if d.Failure != "" {
		p.Err = fault.New(fault.Refused, "not all resources of stack %s could be compared: %s. CloudFormation reads them with the permissions of Stackwright, which the setting driftPolicies of the installation grants, and the parameter DriftPolicies in other accounts. %s", t.Location().Stack, d.Failure, d)
	}
	if d.Failure == "" || len(d.Drifted()) > 0 {
		r := t.Record
		r.Drift = &plan.Drift{At: t.Now, Run: t.Run, Resources: d.Drifted()}
		p.Record = &r
	}
	return p, nil
}
