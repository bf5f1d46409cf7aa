package action

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

// importVerb brings resources that exist into a stack.
func importVerb(c Cloud) Verb {
	return Verb{
		Name: plan.Import, Action: imports{change{c}},
		Request: ImportResources, Configures: true, StartReads: 1, PollReads: 2, Share: 0.25, Leaves: "change set", Past: "imported into",
	}
}

// imports imports resources with a change set, in two requests: the first makes the change set,
// the second executes it. Both have the task's token, so each can be sent again.
type imports struct{ change change }

// importing returns t with what it imports.
func (t Task) importing() (Task, error) {
	err := t.Step.Arguments.Read(plan.ImportationVersion, &t.Import)
	t.Node.Template.Digest, t.Node.Template.Bytes = t.Import.Template, t.Import.Bytes
	return t, err
}

// Start makes the change set. It refuses a stack that has changed since the plan: the
// template of the import is that of the stack as the plan has seen it.
func (a imports) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	t, err := t.importing()
	if err != nil {
		return plan.Receipt{}, err
	}
	live, err := a.change.Live(ctx, t.Location())
	switch s := live.Status; {
	case err != nil:
		return plan.Receipt{}, err
	case s.Gone():
		return plan.Receipt{}, remedy(t, fault.New(fault.Missing, "it is %s", s))
	case s.Busy(), s.Cleaning():
		return plan.Receipt{}, fault.New(fault.Busy, "stack %s is %s", t.Node.Stack, s)
	case t.changedSince(live):
		return plan.Receipt{}, fault.New(fault.Refused, "stack %s was changed after the plan was made: retry the run", t.Node.Stack)
	}
	t.Seen = &live
	receipt, err := a.change.Begin(ctx, t)
	return receipt, remedy(t, err)
}

// Poll executes the change set when it is ready, and then follows the import as any other
// change. A change set that does anything else than to import is deleted.
func (a imports) Poll(ctx context.Context, t Task) (Progress, error) {
	t, err := t.importing()
	switch {
	case err != nil:
		return Progress{}, err
	case t.Receipt.Executed:
		return a.change.Poll(ctx, t)
	case t.MayStartAgain():
		receipt, err := a.Start(ctx, t)
		if err != nil && !fault.Is(err, fault.Busy, fault.Throttled, fault.Unavailable) {
			return a.failed(t, err), nil
		}
		return Progress{Receipt: receipt, Started: err == nil, Soon: true}, err
	case !t.Receipt.Known():
		return Progress{}, nil
	}
	p, ready, err := a.change.Proposal(ctx, t)
	switch late := t.Now.Sub(t.Claimed) > maxProposal; {
	case fault.Is(err, fault.Missing): // somebody has deleted it, or it was executed
		return a.unlessStarted(ctx, t, func() (Progress, error) {
			return a.failed(t, fault.New(fault.Refused, "somebody has deleted the change set of stack %s: retry the run (%w)", t.Location().Stack, err)), nil
		})
	case err != nil:
		return Progress{}, err
	case !ready && late:
		p.Failure = "CloudFormation has not made the change set within " + maxProposal.String()
	case !ready:
		return Progress{Receipt: t.Receipt, Soon: true}, nil
	}
	if why := t.unwanted(p); why != "" {
		return a.withdraw(ctx, t, fault.New(fault.Refused, "%s", why))
	}
	return a.execute(ctx, t)
}

// execute starts the operation, if it has not started yet. A stack that somebody else has
// changed since the plan is left as it is.
func (a imports) execute(ctx context.Context, t Task) (Progress, error) {
	live, err := t.live(ctx, a.change)
	if err != nil {
		return Progress{}, err
	}
	if t.changedSince(live) {
		return a.unlessStarted(ctx, t, func() (Progress, error) {
			return a.withdraw(ctx, t, fault.New(fault.Refused, "stack %s was changed after the plan was made (it is %s): retry the run", t.Node.Stack, live.Status))
		})
	}
	switch err := a.change.Execute(ctx, t); {
	case fault.Is(err, fault.Busy, fault.Throttled, fault.Unavailable) && t.Now.Sub(t.Claimed) < maxProposal:
		return Progress{Receipt: t.Receipt, Soon: true, Why: err.Error()}, nil
	case err != nil:
		return a.withdraw(ctx, t, err)
	}
	return t.executed(), nil
}

// executed returns the progress of an import that has started. Its events may be late.
func (t Task) executed() Progress {
	return Progress{Receipt: plan.Receipt{StackID: t.Receipt.StackID, Executed: true}, Started: true, Soon: true}
}

// unlessStarted does something if the events do not show that an earlier poll has started the
// import.
func (a imports) unlessStarted(ctx context.Context, t Task, do func() (Progress, error)) (Progress, error) {
	switch op, err := a.change.Events(ctx, t); {
	case err != nil:
		return Progress{}, err
	case op.Found:
		return t.executed(), nil
	}
	return do()
}

// changedSince reports whether the stack is no longer as the plan has seen it, or as the step before has created it.
func (t Task) changedSince(live plan.Live) bool {
	before := t.Import.LastUpdated
	if before.IsZero() {
		before = t.Record.LastUpdated
	}
	return !live.LastUpdated.Equal(before)
}

// withdraw deletes the change set, which is not executed, and ends the step.
func (a imports) withdraw(ctx context.Context, t Task, why error) (Progress, error) {
	if err := a.change.Withdraw(ctx, t); err != nil {
		return Progress{}, err
	}
	return a.failed(t, why), nil
}

// unwanted says why a change set is not executed: it has failed, or does not do exactly what
// the plan says.
func (t Task) unwanted(p plan.Proposal) string {
	if p.Failure != "" {
		return "CloudFormation refuses the import: " + p.Failure
	}
	var says []string
	exactly := len(p.Resources) == len(t.Import.Resources)
	for _, r := range p.Resources {
		says = append(says, r.ID+" "+string(r.Action))
		exactly = exactly && r.Imported() && slices.ContainsFunc(t.Import.Resources, func(wanted plan.ImportedResource) bool { return wanted.ID == r.ID })
	}
	if !exactly {
		return "the change set does not do exactly what the plan says (" + cmp.Or(strings.Join(says, ", "), "it has no changes") + "): it was deleted; retry the run"
	}
	return ""
}

// failed returns the progress of an import that has started no operation.
func (imports) failed(t Task, err error) Progress {
	r := t.Record
	r.Intent, r.Run = false, t.Run
	return Progress{Over: true, Err: err, Record: &r, Result: plan.Result{NothingStarted: true}}
}
