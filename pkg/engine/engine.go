// Package engine starts, plans, executes, polls and restarts runs, and gives them
// commands. Each method of Engine does what one of the Lambda functions does.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fact"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/revision"
	"github.com/stackwright/stackwright/pkg/run"
)

// An Engine executes runs. All its fields are needed.
type Engine struct {
	Store          Store
	Configurations Configurations
	Schedules      Schedules
	Specs          Specs
	Changes        Changes
	Policies       Policies
	Permits        Permits
	Facts          fact.Facts      // that plans are made from
	Alarms         revision.Alarms // that stop promotions
	Clouds         Clouds
	Budgets        Budgets
	Operations     plan.Operations
	Verbs          action.Verbs
	Machine        Machine
	Notifier       Notifier
	Meter          Meter
	Now            func() time.Time
	Nonce          func() string // never the same twice

	// Parallel calls do for 0 to n-1, several at the same time, and returns after the
	// last of them, with the first error. AtMost makes one.
	Parallel func(ctx context.Context, n int, do func(ctx context.Context, i int) error) error
}

// An ExecutionInput is the input of an execution: the run and its epoch.
type ExecutionInput struct {
	Run   string `json:"run"`
	Epoch int    `json:"epoch"`
}

// A LoopState is all that passes between the states of the state machine.
type LoopState struct {
	Run   string    `json:"run"`
	Epoch int       `json:"epoch"`
	State run.State `json:"state"`
	Ready []int     `json:"ready"` // numbers of the steps to start now; their shares of the budgets are taken
	Past  int       `json:"past"`  // events of the execution's history since its last wait
	Wait  int       `json:"wait"`  // seconds until the next poll, 2 to 300
}

// A StartInput requests the start of the ready steps.
type StartInput struct {
	Loop    LoopState `json:"loop"`
	Entered time.Time `json:"entered"` // when the state that calls it was entered
	Retries int       `json:"retries"` // how many calls for these steps have failed
}

// A PollInput requests a poll of a run, for an execution that waits for it.
type PollInput struct {
	Loop    LoopState `json:"loop"`
	Token   string    `json:"token"`   // the task token: the poll, or a function that wakes the execution, answers it
	Entered time.Time `json:"entered"` // when the wait started
	Retries int       `json:"retries"` // how many polls of this wait have failed
}

// How often and how long.
const (
	minWait     = 5 * time.Second        // between polls, unless a step is due or may start sooner
	leastWait   = 2 * time.Second        // between polls
	maxWait     = 300 * time.Second      // between polls
	wakeWait    = 60 * time.Second       // until the next poll, if nobody knows when a step is due
	handover    = 15_000                 // events in an execution's history, of 25,000
	perPoll     = 8                      // of these events for a wait with its poll
	perStart    = 5                      // of these events for a start of ready steps
	perRetry    = 4                      // of these events, at most, for a call that failed
	atOnce      = 40                     // steps in one account and region that are polled, or started, before the others
	pollStarts  = 8                      // steps that a poll starts itself: more are started by execute-step
	leastPause  = 2 * time.Second        // before a step that was busy or throttled is started again
	mostPause   = 30 * time.Second       // the longest such pause
	spread      = 200 * time.Millisecond // between steps that were refused together
	tolerated   = time.Hour              // how long a running step may stay unreadable for lack of permission
	stopsBefore = 2 * time.Second        // how long before the end of the wait a poll ends
	leastWork   = 2 * time.Second        // how long a poll may take, even if its wait is shorter
	mostWork    = 30 * time.Second       // how long a poll or the start of steps may take; then the next one continues
	oneByOne    = 3                      // up to so many stacks are described one by one
	grace       = 10 * time.Second       // for the events of the last request to arrive
)

// ExecutionName returns the name of the execution for an epoch. Step Functions starts only
// one execution of a name.
func ExecutionName(id string, epoch int) string { return fmt.Sprintf("%s-%d", id, epoch) }

// startExecution raises a run's epoch and starts the execution with that number. If
// the epoch was raised meanwhile, by another function or by an attempt whose answer
// was lost, it starts the execution of that epoch.
func (e *Engine) startExecution(ctx context.Context, r run.Run) error {
	err := e.Store.RaiseEpoch(ctx, r)
	if fault.Is(err, fault.Stale) {
		_, err = e.fencedOff(ctx, r.ID, r.Epoch)
		return err
	}
	if err != nil {
		return fmt.Errorf("raise the epoch of run %s: %w", r.ID, err)
	}
	return e.launch(ctx, r.ID, r.Epoch+1)
}

// launch starts the execution for an epoch that has been raised.
func (e *Engine) launch(ctx context.Context, id string, epoch int) error {
	name := ExecutionName(id, epoch)
	if err := e.Machine.Start(ctx, name, ExecutionInput{Run: id, Epoch: epoch}); err != nil {
		return fmt.Errorf("start execution %s: %w", name, err)
	}
	return nil
}

// fencedOff returns the loop state of an execution whose run has a newer epoch. It
// starts the newer execution, because the function that raised the epoch may have
// crashed before it started that execution.
func (e *Engine) fencedOff(ctx context.Context, id string, epoch int) (LoopState, error) {
	t := loopState(run.Run{Request: run.Request{ID: id}, Epoch: epoch}, run.StateFencedOff, 0)
	r, err := e.Store.Run(ctx, id)
	if err != nil || r.State.Over() || r.Epoch <= epoch {
		return t, err
	}
	return t, e.launch(ctx, id, r.Epoch)
}

// AtMost returns an Engine.Parallel that makes at most limit calls at the same time, each
// in a goroutine of its own.
func AtMost(limit int) func(context.Context, int, func(context.Context, int) error) error {
	return func(ctx context.Context, n int, do func(context.Context, int) error) error {
		var group errgroup.Group
		group.SetLimit(limit)
		for i := range n {
			group.Go(func() error { return do(ctx, i) })
		}
		return group.Wait()
	}
}

// end writes that r is over or waits for a person, and returns it as it then is. It
// is Stale if the generation, the state or the lock has changed. If the lock goes to
// another run, end starts an execution for that run.
func (e *Engine) end(ctx context.Context, r run.Run, s run.State) (run.Run, error) {
	from := r.State
	r.State = s
	if s == run.StateWaiting {
		if err := e.Store.MarkWaiting(ctx, r); err != nil {
			return r, fmt.Errorf("mark run %s as waiting: %w", r.ID, err)
		}
		return r, nil
	}
	r.Ended = e.Now()
	r.Messages = limitMessages(r.Messages)
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return r, fmt.Errorf("end run %s as %s: %w", r.ID, s, err)
	}
	r.Same = l.SameAs(r, e.operation(r))
	x := l.Leave(r, e.operation(r), RollbackOf(r.ID))
	x.From = from
	if x.Rollback != nil {
		x.Rollback.TokenKey = e.Nonce()
	}
	if x.Promotion != nil {
		x.Promotion.ID, x.Promotion.TokenKey = PromotionOf(r.ID), e.Nonce()
	}
	if x.Lifetime, err = e.lifetimeAfter(ctx, r, l); err != nil {
		return r, fmt.Errorf("end run %s as %s: %w", r.ID, s, err)
	}
	if x.Message != "" {
		r.Messages = append(slices.Clone(r.Messages), x.Message)
	}
	if err := e.Store.End(ctx, r, x); err != nil {
		return r, fmt.Errorf("end run %s as %s: %w", r.ID, s, err)
	}
	e.Meter.Ended(ctx, r)
	return r, errors.Join(e.startNextOwner(ctx, x.NextOwner), e.startPromotion(ctx, x.Promotion))
}

// startLockOwner starts an execution for the run that owns the lock of r's project, if that
// run is still queued: the function that ended r may have crashed before it did so.
func (e *Engine) startLockOwner(ctx context.Context, r run.Run) error {
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return fmt.Errorf("pass on the lock of run %s: %w", r.ID, err)
	}
	return e.startNextOwner(ctx, l.Owner.Run)
}

// startNextOwner starts an execution for the run that now owns a lock. If the function
// crashes before, the sweep does so.
func (e *Engine) startNextOwner(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	r, err := e.Store.Run(ctx, id)
	if err == nil && r.State == run.StateQueued {
		err = e.startExecution(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("pass the lock on to run %s: %w", id, err)
	}
	return nil
}

// seconds rounds a wait up to whole seconds, so that the step is due when the wait ends,
// and keeps it between leastWait and maxWait. If a step is due already and the budget has
// no room for it, the next poll is after minWait.
func seconds(wait time.Duration) int {
	if wait <= 0 {
		wait = minWait
	}
	wait = min(max(wait, leastWait), maxWait)
	return int((wait + time.Second - 1) / time.Second)
}

// loopState returns the loop state of r in state s; the state machine polls again
// after wait.
func loopState(r run.Run, s run.State, wait time.Duration) LoopState {
	switch s {
	case run.StateFailed:
		if nodes, known := r.LeftBroken(); len(nodes) > 0 || !known {
			s = run.StateFailedDirty
		}
	case run.StateSuperseded:
		s = run.StateCancelled
	case run.StateQueued:
		s = run.StateWaiting
	}
	return LoopState{Run: r.ID, Epoch: r.Epoch, State: s, Ready: []int{}, Wait: seconds(wait)}
}
