package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// deleteVerb deletes a stack.
func deleteVerb(c Cloud) Verb {
	a := remove{c}
	return Verb{
		Name: plan.Delete, Action: a, Before: a.record,
		Request: DeleteStack, WokenByEvents: true, PollReads: 1, Share: 0.5, Past: "deleted",
	}
}

// remove deletes a stack.
type remove struct{ Cloud }

// Start requests the deletion. A desired stack that is not dead is deleted only by a replace, and only if it is the one that its plan has seen.
func (a remove) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	t, leftover, err := t.atLeftover()
	if err != nil {
		return plan.Receipt{}, err
	}
	if t.recreates() {
		if receipt, err := a.checkReplaced(ctx, t); err != nil || receipt.Known() {
			return receipt, err
		}
	}
	receipt, err := a.Begin(ctx, t)
	if fault.Is(err, fault.Missing) {
		return plan.Receipt{StackID: t.Record.StackID, Unchanged: true}, nil
	}
	if leftover && fault.Is(err, fault.Denied) {
		return receipt, fault.New(fault.Denied, "stack %s was never created, and it is not Stackwright's: delete it with "+
			"aws cloudformation delete-stack --stack-name %s --region %s, and retry (%w)", t.Node.Stack, t.Node.Stack, t.Node.Target.Region, err)
	}
	return receipt, err
}

// atLeftover returns t with the ID of the leftover that it deletes, and reports whether it deletes one. Its record never
// has that ID: nobody but t's step takes that stack for one of Stackwright.
func (t Task) atLeftover() (Task, bool, error) {
	id, err := t.Step.OfLeftover()
	if id != "" {
		t.Record.StackID = id
	}
	return t, id != "", err
}

// recreates reports whether the stack that t deletes is created again afterwards.
func (t Task) recreates() bool { return t.Node.Name != "" }

// checkReplaced decides whether a desired stack is deleted, to be created again. It
// returns the zero receipt for the stack that a replace deletes, and for a dead stack, which has to be deleted and loses its
// protection if the project no longer protects it. For any other stack it returns the receipt of an unchanged stack, or an error.
func (a remove) checkReplaced(ctx context.Context, t Task) (plan.Receipt, error) {
	retention, err := t.Step.Retention()
	if err != nil {
		return plan.Receipt{}, err
	}
	live, err := a.Live(ctx, t.Location())
	switch s := live.Status; {
	case err != nil:
		return plan.Receipt{}, err
	case s.Busy():
		return plan.Receipt{}, fault.New(fault.Busy, "stack %s is %s", t.Node.Stack, s)
	case retention.Replaces != "" && !s.Gone() && live.StackID == retention.Replaces:
		return plan.Receipt{}, t.refuseReplace(live, retention)
	case s.Gone() || !live.Dead() || retention.Leftover != "" && !live.Leftover():
		return plan.Receipt{StackID: live.StackID, Unchanged: true}, nil
	case live.Protected && t.Node.Protect:
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s is %s and must be created again, but is protected: set protect: false first", t.Node.Stack, s)
	case live.Protected:
		return plan.Receipt{}, a.Protect(ctx, t)
	}
	return plan.Receipt{}, nil
}

// refuseReplace refuses to delete a stack that is not as the plan of a replace has seen it: what it has now may not be retained, and was not approved.
func (t Task) refuseReplace(live plan.Live, seen plan.Retention) error {
	switch {
	case live.Protected:
		return fault.New(fault.Refused, "stack %s is protected: deploy it with protect: false first", t.Node.Stack)
	case !live.LastUpdated.Equal(seen.LastUpdated):
		return fault.New(fault.Refused, "stack %s was changed after the plan was made: retry the run", t.Node.Stack)
	}
	return nil
}

// record returns the record with what the deletion of a replace leaves in AWS, and with what the resources of a stack that is created again were
// restored from. It is written before the deletion starts, so that the stack imports that, and is restored from that, when it is created again,
// whatever becomes of the run.
func (remove) record(_ context.Context, t Task) (plan.Record, error) {
	retention, err := t.Step.Retention()
	r := t.Record
	if len(retention.Reimport) > 0 {
		r.Reimport = retention.Reimport
	}
	if t.recreates() {
		r.Restored = t.Node.Restored
	}
	return r, err
}

// Poll reports that the deletion is over when the stack is gone or the deletion failed. A deletion that has failed only because of resources
// that the step retains is repeated without them.
func (a remove) Poll(ctx context.Context, t Task) (Progress, error) {
	allowed, err := t.Step.Retains()
	if err != nil {
		return Progress{}, err
	}
	t, leftover, err := t.atLeftover()
	if err != nil {
		return Progress{}, err
	}
	live, err := t.live(ctx, a)
	switch {
	case err != nil:
		return Progress{}, err
	case live.Status.Gone():
		return a.gone(ctx, t, allowed)
	case t.Receipt.Unchanged && t.recreates():
		return Progress{Over: true, Why: foundMessage(live), Result: plan.ResultOf(live)}, nil
	case t.Receipt.Known() && live.Status.Busy() && !t.Notified:
		return Progress{Why: t.lateMessage(live)}, nil
	}
	op, err := follow(ctx, a, t, live)
	if err != nil || !op.Over {
		return Progress{Receipt: op.Receipt, Started: op.Started, Why: t.lateMessage(live)}, err
	}
	live, agrees, err := describe(ctx, a, t, op, live)
	switch {
	case err != nil:
		return Progress{}, err
	case !agrees:
		return t.waitForDescription(op, live), nil
	case live.Status.Gone():
		return a.gone(ctx, t, allowed)
	}
	failed := t.unretained(op, allowed)
	if again, ok := t.retaining(op, allowed); ok {
		p, refused, err := a.repeat(ctx, again, t.failure(op))
		if err != nil || refused == nil {
			return p, err
		}
		failed = refused
	}
	r := newRecord(t, live)
	r.LastUpdated = t.Record.LastUpdated // a change outside Stackwright is still one
	if !live.Status.Good() {
		r.Digest = ""
	}
	result := plan.ResultOf(live)
	result.NothingStarted = !op.Receipt.Known() && !t.Receipt.Known()
	if leftover {
		return t.forgotten(Progress{Over: true, Receipt: op.Receipt, Err: failed, Result: result}), nil
	}
	return Progress{Over: true, Receipt: op.Receipt, Err: failed, Record: &r, Result: result}, nil
}
