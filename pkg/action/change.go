package action

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// change creates or updates a stack, or continues its rollback.
type change struct{ Cloud }

// Start starts the change. A creation, and an update that has something to change, are
// requested at once: CloudFormation refuses them if the stack does not allow them.
// Start describes the stack if that is so, and if there may be nothing to change, or
// the rollback to continue.
func (a change) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	if t.Request == ExecuteChangeSet || t.Request == ExecuteDriftChangeSet {
		return a.startExecution(ctx, t)
	}
	if t.Request == ContinueUpdateRollback || t.Request == UpdateStack && !t.changes() {
		return a.startDescribed(ctx, t, nil)
	}
	receipt, err := a.begin(ctx, t)
	if t.Request == UpdateStack && fault.Is(err, fault.Missing, fault.Refused) {
		return a.startDescribed(ctx, t, err)
	}
	return receipt, remedy(t, err)
}

// changes reports whether t deploys something else to its stack than what was last
// deployed there.
func (t Task) changes() bool { return t.Record.StackID != "" && t.Record.Digest != t.Want.Digest }

// begin sends t's request.
func (a change) begin(ctx context.Context, t Task) (plan.Receipt, error) {
	receipt, err := a.Begin(ctx, t)
	if fault.Is(err, fault.Unchanged) {
		return plan.Receipt{StackID: t.Record.StackID, Unchanged: true}, nil
	}
	return receipt, err
}

// startDescribed starts the change after it has read the stack: a stack that is gone is
// created, and a stack that is already as desired is not updated. refused is the error
// of the same request without a description; nil if none was sent.
func (a change) startDescribed(ctx context.Context, t Task, refused error) (plan.Receipt, error) {
	live, err := a.Live(ctx, t.Location())
	switch s := live.Status; {
	case err != nil:
		return plan.Receipt{}, err
	case s.Gone() && t.Request == UpdateStack && len(t.Node.Import) > 0: // a creation would make again what was imported
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s was deleted after the import of its resources: retry the run, which imports those that still exist", t.Node.Stack)
	case s.Gone() && t.Request == UpdateStack:
		t.Request, t.Record.StackID, refused = CreateStack, "", nil
	case s.Busy(), s.Cleaning():
		return plan.Receipt{}, fault.New(fault.Busy, "stack %s is %s", t.Node.Stack, s)
	case t.Request == ContinueUpdateRollback && s.Stuck():
	case t.Request == ContinueUpdateRollback && (s.Gone() || live.Updatable()): // somebody else has continued the rollback, or it did not fail
		return plan.Receipt{StackID: live.StackID, Unchanged: true}, nil
	case s.Stuck(), live.Dead():
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s is now %s: retry the run; the new run repairs the stack first", t.Node.Stack, s)
	case !live.Updatable():
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s: %w", t.Node.Stack, live.Unrecoverable())
	case t.asDesired(live):
		return plan.Receipt{StackID: live.StackID, Unchanged: true}, nil
	case live.Status.FailedWithoutRollback(): // the request has to say that it knows
		refused = nil
	}
	if refused != nil {
		return plan.Receipt{}, remedy(t, refused)
	}
	t.Seen = &live
	receipt, err := a.begin(ctx, t)
	return receipt, remedy(t, err)
}

// asDesired reports whether t would change nothing in the live stack.
func (t Task) asDesired(live plan.Live) bool {
	return plan.Pinned(t.Node, t.Want) && t.Record.Current(live) && live.Protected == t.Node.Protect && t.Record.Digest == t.Want.Digest
}

// check returns the live stack and the task to carry out: if the stack of an update is
// gone, its creation.
func (a change) check(ctx context.Context, t Task) (plan.Live, Task, error) {
	live, err := t.live(ctx, a)
	if err != nil || t.Request != UpdateStack || t.Receipt.Known() || !live.Status.Gone() {
		return live, t, err
	}
	t.Request, t.Record.StackID = CreateStack, ""
	live, err = a.Live(ctx, t.Location())
	return live, t, err
}

// Poll reports that the change is over when the description of the stack shows its
// success, or CloudFormation's events report its end.
func (a change) Poll(ctx context.Context, t Task) (Progress, error) {
	live, t, err := a.check(ctx, t)
	switch {
	case err != nil:
		return Progress{}, err
	case t.Receipt.Unchanged:
		return a.end(ctx, t, Operation{}, live)
	case t.succeededBy(live):
		return a.end(ctx, t, Operation{Status: live.Status}, live)
	}
	if t.mustCancel(live) {
		if p, err := a.cancelUpdate(ctx, t); err != nil || p.Why != "" {
			return p, err
		}
	}
	if t.Receipt.Known() && live.Status.Busy() && !t.Notified {
		return Progress{Why: t.lateMessage(live)}, nil
	}
	op, err := follow(ctx, a, t, live)
	if op.Receipt.Known() {
		t.Receipt = op.Receipt
	}
	switch {
	case err != nil || !op.Over && !t.Receipt.Unchanged:
		return Progress{Receipt: op.Receipt, Started: op.Started, Why: t.lateMessage(live)}, err
	case !t.Receipt.Known(): // it never started: another stack may have the name now
		p := Progress{Over: true, Err: t.failure(op), Result: plan.Result{NothingStarted: true}}
		if t.Record.StackID == "" {
			p = t.forgotten(p)
		}
		return p, nil
	}
	live, agrees, err := describe(ctx, a, t, op, live)
	switch {
	case err != nil:
		return Progress{}, err
	case !agrees:
		return t.waitForDescription(op, live), nil
	}
	return a.end(ctx, t, op, live)
}

// end returns the result of an operation that is over and has left the given stack. A
// stack that was changed successfully has the termination protection and the stack policy of its node
// before its step is over. The policy that it had counts during the update.
func (a change) end(ctx context.Context, t Task, op Operation, live plan.Live) (Progress, error) {
	p := t.ended(op, live)
	if p.Err != nil || !t.configures() || live.Status.Gone() {
		return p, nil
	}
	for _, one := range []struct {
		differs bool
		set     func(context.Context, Task) error
	}{
		{live.Protected != t.Node.Protect, a.Protect},
		{t.policyOf(live) != t.Node.StackPolicy.Digest, a.SetStackPolicy},
	} {
		if !one.differs {
			continue
		}
		if err := one.set(ctx, t); fault.Is(err, fault.Busy) {
			return Progress{Receipt: t.Receipt, Why: err.Error()}, nil
		} else if err != nil {
			return Progress{}, err
		}
	}
	live.Protected, live.Tags, live.Project = t.Node.Protect, t.Want.Tags, t.Project
	p.Record.Policy, p.Record.Settings = t.Node.StackPolicy.Digest, plan.NewSettings(live, t.Node.IgnoreChanges).Given(t.Want.Parameters)
	p.Record.Settings.Whole = !op.Superseded // else the description is that of another operation
	return p, nil
}

// policyOf is the digest of the stack policy that the project has given to a stack: a new stack has none.
func (t Task) policyOf(live plan.Live) string {
	if t.Record.StackID != live.StackID {
		return ""
	}
	return t.Record.Policy
}

// configures reports whether t's operation deploys its node.
func (t Task) configures() bool {
	return t.Request == CreateStack || t.updates() && t.Request != ExecuteDriftChangeSet
}

// updates reports whether t's operation updates the stack of its node.
func (t Task) updates() bool {
	return t.Request == UpdateStack || t.Request == ExecuteChangeSet || t.Request == ExecuteDriftChangeSet
}

// ended returns the result of an operation that is over and has left the given stack.
func (t Task) ended(op Operation, live plan.Live) Progress {
	r := newRecord(t, live)
	if t.configures() { // it was approved by the level before
		r.Approve, r.Hooks, r.Retain, r.Group = t.Node.Approve, project.HooksOfDeletion(t.Node.Hooks), t.Node.Retain, t.Node.Group
	}
	if t.Want.Digest != "" && (t.Receipt.Unchanged || op.Status.Good()) && t.Request != ContinueUpdateRollback && t.Request != ImportResources {
		r.Reimport = nil // the stack has all that it was to import
		if t.configures() {
			r.Restored = t.Node.Restored
		}
	}
	r.Unrestored = t.unrestored(op)
	p := Progress{Over: true, Receipt: t.Receipt, Record: &r, Result: plan.ResultOf(live)}
	switch {
	case t.Request == ContinueUpdateRollback && t.Receipt.Unchanged:
		r.Digest, p.Why = "", foundMessage(live) // nobody knows what is deployed now
		if live.Status.Gone() {
			p = t.forgotten(p)
		}
	case t.Request == ContinueUpdateRollback:
		r.Digest = "" // nobody knows to what CloudFormation rolled it back
		if !op.Status.Restored() {
			p.Err = t.failure(op)
		}
	case t.Request == ExecuteDriftChangeSet && (t.Receipt.Unchanged || op.Status.Good()):
		p = t.reverted(p, r)
	case t.Receipt.Unchanged:
		p.Why = "unchanged"
		r.Digest, r.Template, r.Needs, r.Moved = t.Want.Digest, t.Node.Template.Digest, t.Node.Needs, nil
	case op.Status.Good() && t.Request == ImportResources: // an update does the rest
		r.Digest, r.Template = "", t.Import.Template
	case op.Status.Good():
		r.Digest, r.Template, r.Needs, r.Moved = t.Want.Digest, t.Node.Template.Digest, t.Node.Needs, nil
		r.Pending = t.pendingHooks()
		if op.Superseded {
			r.LastUpdated = time.Time{} // another operation has changed the stack since
		}
	default:
		p.Err = t.failure(op)
		if !op.Status.Restored() || !t.restores(op) {
			r.Digest = ""
		}
		if t.Record.StackID == "" && live.StackID == "" {
			p = t.forgotten(p) // it was never created
		}
	}
	return p
}

// restores reports whether a rollback of t's operation restores what is recorded: no
// other operation has come between the recorded one and this one.
func (t Task) restores(op Operation) bool {
	return t.Record.Deployed != "" && strings.TrimSuffix(op.Before, cancels) == t.Record.Deployed
}

// newRecord returns t's record, updated from the live stack.
func newRecord(t Task, live plan.Live) plan.Record {
	r := t.Record
	if !t.Receipt.Unchanged {
		r.Deployed = t.Token()
	}
	r.Node, r.Run, r.Token, r.Intent = t.Step.Node, t.Run, t.Token(), false
	if t.Node.Name != "" {
		r.Stack, r.Target = t.Node.Stack, t.Node.Target
	}
	if r.Policy = t.policyOf(live); r.StackID != live.StackID { // a new stack
		r.Settings = nil
	}
	r.StackID, r.Outputs, r.LastUpdated = live.StackID, live.Outputs, live.LastUpdated
	if r.Adopted != r.StackID { // the adopted stack is gone, and this is another one
		r.Adopted = ""
	}
	if t.Record.StackID != r.StackID {
		r.Drift = nil
		r.Suspended = nil // what was stopped is gone with the other stack
	}
	r.Needs = slices.Clone(r.Needs)
	return r
}

// unrestored returns what is recorded if the rollback of an operation has failed; nil if it has not.
func (t Task) unrestored(op Operation) *plan.Unrestored {
	if !op.Status.Stuck() {
		return nil
	}
	return t.Record.Unrestored.Again(op.Unrestored, t.Request == ContinueUpdateRollback, t.Now)
}

// stuck says since when the rollback of an operation fails, and what to do about it; "" if it does not.
func (t Task) stuck(op Operation) string {
	r := plan.Record{Node: t.Step.Node, Unrestored: t.unrestored(op)}
	_, environment, _ := strings.Cut(t.Project, "@")
	switch {
	case r.Unrestored == nil, r.Unrestored.Times == 1 && len(r.Unrestored.Resources) == 0:
		return ""
	case r.Unrestored.Times > 1:
		return fmt.Sprintf(": %s: %s", r.Unrestored, r.Remedy(environment))
	}
	return ": " + r.Remedy(environment)
}

// failure returns why the operation failed.
func (t Task) failure(op Operation) error {
	if why := t.stuck(op); why != "" && op.Why != "" {
		op.Why += why
	} else if why != "" {
		op.Why = strings.TrimPrefix(why, ": ")
	}
	if !op.Stopped.IsZero() {
		op.Why = strings.TrimSuffix(t.cancelReason(op.Stopped)+": "+op.Why, ": ")
	}
	switch {
	case op.Why != "" && op.Status != "":
		return fault.New(fault.Refused, "%s: %s", op.Status, op.Why)
	case op.Why != "":
		return fault.New(fault.Refused, "%s", op.Why)
	}
	return fault.New(fault.Refused, "stack is %s", op.Status)
}

// remedy adds to an error what the user can do about it.
func remedy(t Task, err error) error {
	switch {
	case fault.Is(err, fault.Busy):
		return fault.New(fault.Busy, "stack %s is busy (%w)", t.Node.Stack, err)
	case fault.Is(err, fault.Taken):
		return fault.New(fault.Taken, "stack %s exists and "+plan.NotManaged+" (%w)", t.Node.Stack, err)
	case fault.Is(err, fault.Missing):
		return fault.New(fault.Missing, "stack %s is gone: retry the run to create it again (%w)", t.Node.Stack, err)
	}
	return err
}
