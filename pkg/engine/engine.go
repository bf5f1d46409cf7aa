// Package engine does what the functions do: start, plan, execute, poll, steer.
package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// An Engine executes runs. All its fields are needed.
type Engine struct {
	Store          Store
	Configurations Configurations
	Schedules      Schedules
	Specs          Specs
	Clouds         Clouds
	Budgets        Budgets
	Operations     plan.Operations
	Verbs          action.Verbs
	Machine        Machine
	Notifier       Notifier
	Meter          Meter
	Now            func() time.Time
	Nonce          func() string // never the same twice
	Parallel       int           // how many stacks are read together; 1 is one after another
}

// A Execution asks for a run to be executed.
type ExecutionInput struct {
	Run   string `json:"run"`
	Epoch int    `json:"epoch"`
}

// A Loop state is all that passes through the state machine.
type LoopState struct {
	Run   string    `json:"run"`
	Epoch int       `json:"epoch"`
	State run.State `json:"state"`
	Ready []int     `json:"ready"` // numbers of the steps to execute now
	Wait  int       `json:"wait"`  // seconds until the next poll, 5 to 300
}

// A Start asks for one step to be executed.
type StepInput struct {
	Run   string `json:"run"`
	Epoch int    `json:"epoch"`
	Step  int    `json:"step"`
}

// A Watch asks for a poll of a run, on behalf of an execution that waits for it.
type PollInput struct {
	Loop    LoopState `json:"loop"`
	Token   string    `json:"token"`   // that the poll, or anyone who wakes the execution, answers
	Entered time.Time `json:"entered"` // since when it waits
}

// How often and how long.
const (
	maxReady    = 40                // steps in one Loop state
	minWait     = 5 * time.Second   // between polls
	maxWait     = 300 * time.Second // between polls
	wakeWait    = 60 * time.Second  // at most, when something has happened
	handover    = 15_000            // events in an execution's history, of 25,000
	perPoll     = 10                // of these
	perStart    = 8                 // of these
	leastPause  = 2 * time.Second   // before a step that was busy or throttled is started again
	mostPause   = 30 * time.Second  // before it is
	spread      = 200 * time.Millisecond
	tolerated   = time.Hour        // that what is under way may not be read
	stopsBefore = 2 * time.Second  // the end of the wait it polls in
	grace       = 10 * time.Second // for what was requested last to be found in the events
)

// execution names an execution: the first writer of a epoch wins.
func execution(id string, epoch int) string { return fmt.Sprintf("%s-%d", id, epoch) }

// execution raises a run's epoch and starts the execution that bears its number. If
// the epoch was raised meanwhile, by another or by us without our being reported,
// that one's execution is started.
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

// launch starts the execution for a epoch that has been raised.
func (e *Engine) launch(ctx context.Context, id string, epoch int) error {
	name := execution(id, epoch)
	if err := e.Machine.Start(ctx, name, ExecutionInput{Run: id, Epoch: epoch}); err != nil {
		return fmt.Errorf("start execution %s: %w", name, err)
	}
	return nil
}

// fenced off says that a newer execution executes the run, and sees to it that there is
// one: anyone who raised the epoch may have died before it started it.
func (e *Engine) fencedOff(ctx context.Context, id string, epoch int) (LoopState, error) {
	t := loopState(run.Run{Request: run.Request{ID: id}, Epoch: epoch}, run.StateFencedOff, 0)
	r, err := e.Store.Run(ctx, id)
	if err != nil || r.State.Over() || r.Epoch <= epoch {
		return t, err
	}
	return t, e.launch(ctx, id, r.Epoch)
}

// each does something for 0 to n-1, as many together as the engine may, or one
// after another in this very goroutine. It returns the first error.
func (e *Engine) each(n int, do func(i int) error) error {
	if e.Parallel <= 1 {
		for i := range n {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
	var group errgroup.Group
	group.SetLimit(e.Parallel)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

// end writes that r is over or waiting, and returns it as it then is. It is
// Stale if there is generation that r does not know of, its state is another, or the
// lock has changed. If the lock goes to another run, that one is executed.
func (e *Engine) end(ctx context.Context, r run.Run, s run.State) (run.Run, error) {
	from := r.State
	r.State = s
	if s == run.StateWaiting {
		if err := e.Store.MarkWaiting(ctx, r); err != nil {
			return r, fmt.Errorf("park run %s: %w", r.ID, err)
		}
		return r, nil
	}
	r.Ended = e.Now()
	r.Messages = say(r.Messages)
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return r, fmt.Errorf("end run %s as %s: %w", r.ID, s, err)
	}
	x := l.Leave(r, e.operation(r), RollbackOf(r.ID))
	x.From = from
	if x.Message != "" {
		r.Messages = append(slices.Clone(r.Messages), x.Message)
	}
	if err := e.Store.End(ctx, r, x); err != nil {
		return r, fmt.Errorf("end run %s as %s: %w", r.ID, s, err)
	}
	e.Meter.Ended(ctx, r)
	return r, e.next(ctx, x.NextOwner)
}

// passOn executes the run that owns the lock of r's project, if r is over and
// that one waits: anyone who ended r may not have come so far.
func (e *Engine) passOn(ctx context.Context, r run.Run) error {
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return fmt.Errorf("pass on the lock of run %s: %w", r.ID, err)
	}
	return e.next(ctx, l.Owner.Run)
}

// next executes the run that a lock has gone to. If we die before, the sweep does.
func (e *Engine) next(ctx context.Context, id string) error {
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

// seconds rounds a wait up, so that what is awaited is due when it is over, and
// keeps it within bounds.
func seconds(wait time.Duration) int {
	wait = min(max(wait, minWait), maxWait)
	return int((wait + time.Second - 1) / time.Second)
}

// loop state says where r stands to the state machine, which is to poll again after
// wait.
func loopState(r run.Run, s run.State, wait time.Duration) LoopState {
	switch s {
	case run.StateFailed:
		if len(r.LeftBroken()) > 0 {
			s = run.StateFailedDirty
		}
	case run.StateSuperseded:
		s = run.StateCancelled
	case run.StateQueued:
		s = run.StateWaiting
	}
	return LoopState{Run: r.ID, Epoch: r.Epoch, State: s, Ready: []int{}, Wait: seconds(wait)}
}
