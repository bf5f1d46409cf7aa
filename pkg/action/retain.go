package action

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// setRetainVerb records which resources a deletion of the stack retains, if nothing else of the stack changes.
func setRetainVerb() Verb {
	return Verb{Name: plan.SetRetain, Action: setRetain{}, Past: "with another retain"}
}

// setRetain writes the resources that the node retains into its record. It sends no request.
type setRetain struct{}

// Start does nothing: a poll writes the record.
func (setRetain) Start(context.Context, Task) (plan.Receipt, error) { return plan.Receipt{}, nil }

// Poll writes the record.
func (setRetain) Poll(_ context.Context, t Task) (Progress, error) {
	if t.Record.Node == "" {
		return Progress{Over: true, Err: fault.New(fault.Missing, "stack %s is no longer recorded: retry the run", t.Node.Stack)}, nil
	}
	r := t.Record
	r.Retain, r.Run = t.Node.Retain, t.Run
	return Progress{Over: true, Record: &r, Why: "retain: " + cmp.Or(strings.Join(r.Retain, ", "), "none")}, nil
}

// retaining returns the task that repeats the deletion of t, which has ended as op, without the resources because of which it has failed. It
// reports false if the step retains none of them, or not all: CloudFormation would fail again.
func (t Task) retaining(op Operation, allowed []string) (again Task, ok bool) {
	names := t.Retained()
	for _, l := range op.Left {
		switch {
		case l.Retained:
		case slices.Contains(names, l.ID) || !slices.Contains(allowed, l.ID):
			return t, false
		default:
			names = append(names, l.ID)
		}
	}
	slices.Sort(names)
	again = t
	again.Receipt.Retained = strings.Join(names, ",")
	return again, op.Status == "DELETE_FAILED" && len(names) > len(t.Retained())
}

// repeat deletes the stack without the resources that again retains. A poll that has crashed may have done so: its events say it. CloudFormation
// retains resources only of a stack whose deletion has failed. If CloudFormation refuses the deletion, refused says why.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeleteStack.html (RetainResources)
func (a remove) repeat(ctx context.Context, again Task, failed error) (p Progress, refused, err error) {
	found, err := a.Events(ctx, again)
	if err != nil {
		return Progress{}, nil, err
	}
	if !found.Found {
		_, err = a.Begin(ctx, again)
	}
	why := fmt.Sprintf("%v: the deletion is repeated and retains %s", failed, strings.Join(again.Retained(), ", "))
	switch {
	case fault.Is(err, fault.Throttled, fault.Unavailable, fault.Busy): // the next poll tries again
		return Progress{Why: fmt.Sprintf("%s: %v", why, err)}, nil, nil
	case err != nil: // the answer may be lost although the deletion has started: its status tells
		live, unread := a.Live(ctx, again.Location())
		if unread != nil {
			return Progress{}, nil, unread
		}
		if live.Status == "DELETE_FAILED" {
			return Progress{}, fault.New(fault.Refused, "%w; its deletion cannot be repeated with retain: %w", failed, err), nil
		}
	}
	return Progress{Receipt: again.Receipt, Started: true, Why: why}, nil, nil
}

// forgotten returns p for a stack that does not exist: its record is deleted, unless it says what the stack gets when it is created again.
func (t Task) forgotten(p Progress) Progress {
	if !t.Record.Awaited() || t.Request == DeleteStack && !t.recreates() {
		p.Record, p.Forget = nil, true
		return p
	}
	r := t.Record
	r.StackID, r.Digest, r.Template, r.Outputs, r.Settings, r.Drift, r.Suspended = "", "", "", nil, nil, nil, nil
	r.Adopted, r.Deployed, r.Run, r.Intent, r.LastUpdated = "", "", t.Run, false, time.Time{}
	p.Record, p.Forget = &r, false
	return p
}

// gone returns the result of a deletion after which there is no stack, with the resources that it has left in AWS. Only the events know them.
func (a remove) gone(ctx context.Context, t Task, allowed []string) (Progress, error) {
	p := t.forgotten(Progress{Over: true, Result: plan.ResultOf(plan.Live{})})
	if len(allowed) == 0 {
		return p, nil
	}
	op, err := a.Events(ctx, t)
	if err != nil {
		return Progress{}, err
	}
	var findings []plan.Finding
	var all []string
	for _, l := range op.Left {
		if slices.Contains(allowed, l.ID) {
			findings = append(findings, plan.Finding{Kind: "retained", Resource: l.ID, Property: l.Type, Actual: l.PhysicalID})
			all = append(all, fmt.Sprintf("%s (%s %s)", l.ID, l.Type, l.PhysicalID))
		}
	}
	if len(all) > 0 {
		p.Why = "retained, and managed by no stack from now on: " + strings.Join(all, ", ")
	}
	p.Result = p.Result.Found(findings)
	return p, nil
}

// unretained says why a deletion that has failed is not repeated without the resources that the step retains.
func (t Task) unretained(op Operation, allowed []string) error {
	failed := t.failure(op)
	var others []string
	for _, l := range op.Left {
		if !l.Retained && !slices.Contains(allowed, l.ID) {
			others = append(others, l.ID)
		}
	}
	if len(allowed) == 0 || len(others) == 0 || op.Status != "DELETE_FAILED" {
		return failed
	}
	return fault.New(fault.Refused, "%w (the deletion was not repeated: retain does not name %s: add it there, write obsolete: true for the stack, and prune)", failed, strings.Join(others, ", "))
}
