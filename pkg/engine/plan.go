package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/revision"
	"github.com/stackwright/stackwright/pkg/run"
)

// Plan makes the plan of a new run, or continues a run that has one. If something is
// wrong with the request, the run ends as refused.
func (e *Engine) Plan(ctx context.Context, d ExecutionInput) (LoopState, error) {
	r, err := e.Store.Run(ctx, d.Run)
	switch {
	case err != nil:
		return LoopState{}, fmt.Errorf("plan run %s: %w", d.Run, err)
	case r.Epoch != d.Epoch || r.State != run.StatePending:
		return e.continueRun(ctx, r, d)
	case r.Command.Stops():
		return e.finish(ctx, r, r.Stopped())
	case r.Soaks(e.Now()):
		return soaking(r, e.Now()), nil
	}
	_, err = e.makePlan(ctx, &r)
	switch {
	case errors.Is(err, errOutdated):
		r.Messages = []string{"a newer upload of " + r.Source.Key + " was requested before this one"}
		return e.finish(ctx, r, run.StateSuperseded)
	case errors.Is(err, errDuplicate), errors.Is(err, errUnscheduled), errors.Is(err, revision.ErrOvertaken):
		r.Messages = []string{err.Error()}
		return e.finish(ctx, r, run.StateSuperseded)
	case errors.Is(err, errQueued):
		r.State = run.StateQueued
		e.Notifier.Notify(ctx, r)
		return loopState(r, run.StateQueued, 0), nil
	case fault.Is(err, fault.Stale):
		return e.afterStaleCommit(ctx, d)
	case fault.Final(err):
		said := r.Messages
		r.Messages, r.Changes, r.State = fault.Messages(err), "", run.StatePending // as it is stored: there is no plan
		if !r.Expiry.IsZero() {                                                    // which attempt it is, and when the next one is
			r.Messages = append(r.Messages, said...)
		}
		return e.finish(ctx, r, run.StateRefused)
	case err != nil:
		return LoopState{}, fmt.Errorf("plan %s of %s: %w", r.Operation, r.Project, err)
	case e.onlyShown(r) || len(r.Steps) == 0:
		return e.finish(ctx, r, run.StateSucceeded)
	}
	e.Notifier.Notify(ctx, r)
	ready, err := e.ready(ctx, r)
	switch {
	case fault.Is(err, fault.Stale):
		return e.afterStaleCommit(ctx, d)
	case err != nil || len(ready) == 0: // the run was paused or cancelled before its first step, or the budget has no room
		return loopState(r, run.StatePoll, wakeWait), err
	}
	t := loopState(r, run.StateReady, wakeWait)
	t.Ready = ready
	return t, nil
}

// continueRun returns the loop state of a run that already has a plan, or that another
// execution plans.
func (e *Engine) continueRun(ctx context.Context, r run.Run, d ExecutionInput) (LoopState, error) {
	switch {
	case r.Epoch != d.Epoch:
		return e.fencedOff(ctx, d.Run, d.Epoch)
	case r.State.Over(): // the function that ended it may have crashed before it notified
		r, err := e.loadWhole(ctx, r)
		if err != nil {
			return LoopState{}, err
		}
		e.Notifier.Notify(ctx, r)
		return loopState(r, r.State, 0), e.startLockOwner(ctx, r)
	case r.State == run.StateQueued:
		return loopState(r, r.State, 0), nil
	case r.State == run.StateRunning && e.onlyShown(r): // its planner crashed before it ended the run
		return e.finish(ctx, r, run.StateSucceeded)
	}
	err := e.acceptApprovals(ctx, r)
	if err == nil {
		err = e.checkContinued(ctx, r)
	}
	if fault.Is(err, fault.Stale) { // another function has written a step meanwhile, or there is a newer epoch
		return e.afterStaleCommit(ctx, d)
	}
	return loopState(r, run.StatePoll, wakeWait), err
}

// afterStaleCommit returns the loop state for a planner whose write was stale. Another
// function has planned the run meanwhile, or another run has taken the lock.
func (e *Engine) afterStaleCommit(ctx context.Context, d ExecutionInput) (LoopState, error) {
	r, err := e.Store.Run(ctx, d.Run)
	switch {
	case err != nil:
		return LoopState{}, err
	case r.Epoch == d.Epoch && r.State == run.StatePending: // the run has no plan yet: try again
		return LoopState{}, fault.New(fault.Unavailable, "another function is planning run %s", d.Run)
	}
	return e.continueRun(ctx, r, d)
}

// finish ends a run that needs no further execution. A command that arrives meanwhile
// changes nothing.
func (e *Engine) finish(ctx context.Context, r run.Run, s run.State) (LoopState, error) {
	for {
		ended, err := e.end(ctx, r, s)
		if err == nil {
			e.Notifier.Notify(ctx, ended)
			return loopState(ended, s, 0), nil
		}
		now, again := e.Store.Run(ctx, r.ID)
		switch {
		case !fault.Is(err, fault.Stale):
			return LoopState{}, err
		case again != nil:
			return LoopState{}, again
		case now.Epoch != r.Epoch || now.State != r.State: // another function has changed the run
			return e.continueRun(ctx, now, ExecutionInput{Run: r.ID, Epoch: r.Epoch})
		}
		r.Generation = now.Generation
	}
}

// makePlan plans what r requests and commits the plan.
func (e *Engine) makePlan(ctx context.Context, r *run.Run) (plan.Plan, error) {
	if len(r.Messages) > 0 {
		return plan.Plan{}, problems(r.Messages)
	}
	if e.operation(*r).Repeats {
		if err := e.retry(ctx, r); err != nil {
			return plan.Plan{}, err
		}
	}
	o, ok := e.Operations.Named(r.Operation)
	if !ok {
		return plan.Plan{}, fault.New(fault.Invalid, "there is no operation %q: request one of %s", r.Operation, strings.Join(e.Operations.Requestable(), ", "))
	}
	if o.Lifetime != nil {
		return plan.Plan{}, e.ofLifetime(ctx, r, o)
	}
	if err := e.checkExpired(ctx, r); err != nil {
		return plan.Plan{}, err
	}
	if err := e.scheduledSource(ctx, r); err != nil {
		return plan.Plan{}, err
	}
	if err := e.findFiles(ctx, r); err != nil {
		return plan.Plan{}, err
	}
	desired, err := e.desired(ctx, r)
	if err != nil {
		return plan.Plan{}, revision.NotAgain(*r, err)
	}
	if err := e.permitDesired(ctx, r.Project, desired); err != nil {
		return plan.Plan{}, revision.NotAgain(*r, err)
	}
	r.Rollback = r.Rollback || desired.Rollback && o.Reversible
	if err := e.lock(ctx, *r); err != nil {
		return plan.Plan{}, err
	}
	if err := e.refuseOutdated(ctx, *r); err != nil {
		return plan.Plan{}, err
	}
	if desired, err = e.readSources(ctx, r, desired); err != nil {
		return plan.Plan{}, err
	}
	view, moved, err := e.view(ctx, *r, desired)
	if err != nil {
		return plan.Plan{}, err
	}
	if err := e.refuseLostFile(ctx, *r, view); err != nil {
		return plan.Plan{}, err
	}
	if err := e.refuseEmpty(ctx, *r, view); err != nil {
		return plan.Plan{}, err
	}
	p, err := o.Make(view)
	if err == nil {
		err = e.refuseFull(ctx, *r, view, &p)
	}
	if err != nil {
		return p, err
	}
	for i, s := range p.Steps {
		p.Steps[i].Expected = e.Verbs.Expected(s, view.Desired.Nodes[s.Node], view.Recorded[s.Node])
	}
	approval, err := e.approvalOf(ctx, *r, view, p)
	if err != nil {
		return p, err
	}
	shown, shows := p, o.Preview
	if !o.Preview {
		if p, err = approval.before(p, view, *r); err != nil {
			return p, err
		}
		if err := action.CheckWaits(p, e.Now()); err != nil {
			return p, err
		}
		shows = len(p.Steps) > len(shown.Steps)
	}
	changes, err := e.checkPolicies(ctx, r, view, shown, shows)
	if err != nil {
		return p, err
	}
	p = view.Estimated(p, changes)
	if o.Preview {
		if err := e.previewMessages(ctx, r, view, p); err != nil {
			return p, err
		}
	}
	basis, err := view.Basis(shown)
	if err != nil {
		return p, err
	}
	if err := e.refuseOtherPlan(ctx, *r, shown, basis); err != nil {
		return p, err
	}
	r.Messages = limitMessages(slices.Concat(r.Messages, p.Messages, approval.messages(shown, changes, view, o.Preview)))
	var specs map[string]string
	if !o.Preview { // nobody starts the steps of a preview
		if specs, err = e.specs(ctx, p, desired); err != nil {
			return p, err
		}
	}
	switch {
	case !slices.ContainsFunc(p.Steps, plan.Step.Asks):
		err = e.replace(ctx, *r, desired, moved)
	case !p.Steps[0].Asks() || !p.Steps[0].Approval.Plan: // schedules deploy only files that were approved; the stacks that need no approval go on, by their new names
		err = e.rename(ctx, *r, moved)
	}
	if err != nil {
		return p, err
	}
	p.Steps = view.Counted(p.Steps)
	r.Start(p, specs)
	r.Digest = shown.Digest(basis)
	if err := r.Obey(desired); err != nil {
		return p, err
	}
	if shows {
		changes.Basis = plan.Short(basis)
		if err := e.showPlan(ctx, r, view, shown, changes); err != nil {
			return p, err
		}
	}
	if !o.Preview { // a preview shows it with its changes
		e.sayLosses(ctx, r, view, shown, changes)
		r.Messages = limitMessages(slices.Concat(view.SayingSelection(), r.Messages))
	}
	if r.Started = e.Now(); desired.Timeout > 0 {
		r.Deadline = r.Started.Add(time.Duration(desired.Timeout))
	}
	return p, e.Store.Commit(ctx, *r)
}

// previewMessages adds to r, a preview, what a user should know of its plan p.
func (e *Engine) previewMessages(ctx context.Context, r *run.Run, v plan.View, p plan.Plan) error {
	r.Messages = append(r.Messages, accessErrors(v.Live)...)
	for _, t := range p.Twins {
		r.Messages = append(r.Messages, t.String())
	}
	if !v.Desired.Rollback {
		return nil
	}
	l, err := e.Store.Lock(ctx, r.Project)
	r.Messages = append(r.Messages, l.OnFailure())
	return err
}

// onlyShown reports whether no step of r is executed.
func (e *Engine) onlyShown(r run.Run) bool { return e.operation(r).Preview && !r.Proposes() }

// operation returns the row of r's operation; the zero row if there is none.
func (e *Engine) operation(r run.Run) plan.Operation {
	return e.Operations.Of(r.Operation)
}

// problems is what is wrong with a request, as an error.
func problems(messages []string) error {
	var all []error
	for _, m := range messages {
		all = append(all, fault.New(fault.Invalid, "%s", m))
	}
	return errors.Join(all...)
}
