package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Answer records what a user answers to a step that waits for a person, and
// continues the run. The same request, repeated, answers once.
func (e *Engine) Answer(ctx context.Context, id, step string, a run.Answer) error {
	r, err := e.Store.Load(ctx, id)
	if err == nil && r.Step(step) == nil {
		err = fault.New(fault.Missing, "run %s has no step %s", id, step)
	}
	if err == nil {
		r, err = e.Store.RecordAnswer(ctx, id, r.Step(step).Number, a)
	}
	if err == nil && !r.State.Over() {
		err = e.ensureRunning(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("answer %s of run %s: %w", step, id, err)
	}
	return nil
}

// answer records the answer of q to a question of a run whether its plan, or what it does with a stack, is approved. unreadable is why the run cannot be read.
func (e *Engine) answer(ctx context.Context, c run.Control, q run.Request, unreadable error) error {
	r, err := run.Run{}, unreadable
	if err == nil {
		r, err = e.Store.Load(ctx, q.Of)
	}
	var s run.Step
	if err == nil {
		s, err = r.Question(q.ID, q.Step)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q.Operation, err)
	}
	return e.Answer(ctx, r.ID, s.ID, run.Answer{
		ID: q.ID, Yes: c.Yes, Who: q.Who, Subject: q.Subject, Claim: q.Claim, From: q.From, Why: q.Reason, Digest: q.PlanDigest, At: e.Now(),
	})
}

// resume makes the waiting steps that were answered running again, and due: their
// actions are polled with the answer. A step that was approved is left to function plan.
func (e *Engine) resume(ctx context.Context, r *run.Run) error {
	return e.resumeSteps(ctx, r, func(s run.Step) bool { return !s.Approved() })
}

func (e *Engine) resumeSteps(ctx context.Context, r *run.Run, which func(run.Step) bool) error {
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status != run.Waiting || !s.Answer.Known() || !which(*s) {
			continue
		}
		s.Status, s.Why, s.Due = run.Running, "", e.Now()
		c := Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Waiting, Attempt: s.Attempt, Step: *s}
		if err := e.Store.Move(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// acceptApprovals makes the steps of r whose approvals were given running again. If the last one was
// given, it checks the policies first: they and the time may be others than when r was planned. If
// they deny the plan now, the steps fail. Only function plan can check policies, so a poll that finds such
// a step starts an execution.
func (e *Engine) acceptApprovals(ctx context.Context, r run.Run) error {
	if r.Changes == "" { // no step waits for approval: what the plan changes would have been shown
		return nil
	}
	r, err := e.loadWhole(ctx, r)
	if err != nil || !r.NewlyApproved() {
		return err
	}
	var denied error
	completes, whole := r.Completes()
	if completes {
		denied = e.checkAgain(ctx, r)
	}
	if denied == nil && (whole || r.AllApproved()) {
		denied = e.takeEffect(ctx, r)
	}
	switch {
	case denied == nil:
		return e.resumeSteps(ctx, &r, run.Step.Approved)
	case !fault.Final(denied):
		return fmt.Errorf("accept the approval: %w", denied)
	}
	for _, s := range r.Steps {
		if s.Status != run.Waiting || !s.Approved() {
			continue
		}
		s.Status, s.Ended, s.Result.NothingStarted = run.Failed, e.Now(), true
		s.Why = "it was approved, but the plan is refused now: " + strings.Join(limitMessages(fault.Messages(denied)), "; ")
		c := Change{Run: r.ID, Epoch: r.Epoch, Project: r.Project, From: run.Waiting, Attempt: s.Attempt, Step: s}
		if err := e.Store.Move(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// checkContinued checks the plan of r by the policies again, if a user has continued it. If they allow it, the
// run continues; else it is paused again, so that it can be continued when they allow it, or cancelled.
func (e *Engine) checkContinued(ctx context.Context, r run.Run) error {
	if !r.Unchecked() {
		return nil
	}
	r, err := e.loadWhole(ctx, r)
	if err != nil || !r.Unchecked() {
		return err
	}
	denied := e.checkAgain(ctx, r)
	if denied != nil && !fault.Final(denied) {
		return fmt.Errorf("check the policies again: %w", denied)
	}
	c := run.GivenCommand{ID: "checked:" + r.Given().ID, Command: run.Continue, Checked: true, Who: "stackwright", Why: "no policy denies the plan", At: e.Now()}
	if denied != nil {
		c.Command, c.Checked = run.Pause, false
		c.Why = "its plan is refused now: " + strings.Join(limitMessages(fault.Messages(denied)), "; ")
	}
	if _, err = e.Store.RecordCommand(ctx, r.ID, c); fault.Is(err, fault.Refused) {
		return nil // a user has given another command meanwhile
	}
	return err
}

// declined is why a step fails whose question a user answered with no.
func declined(a run.Answer) error {
	if a.Why == "" {
		return fault.New(fault.Refused, "rejected by %s", a.By())
	}
	return fault.New(fault.Refused, "rejected by %s: %s", a.By(), a.Why)
}
