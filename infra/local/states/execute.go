package states

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// Why an execution no longer runs.
var (
	errEnded    = errors.New("states: the execution is over")
	errTimedOut = errors.New("states: the execution has timed out")
)

// start executes an execution in a goroutine of its own, unless it is being executed or has ended. The lock must be
// held.
func (s *Service) start(e *execution) {
	if s.closed || e.stop != nil || e.ended() {
		return
	}
	var ctx context.Context
	ctx, e.stop = context.WithCancelCause(s.ctx)
	s.running.Go(func() { s.execute(ctx, e) })
}

// execute runs an execution to its end, from the state that it last entered.
func (s *Service) execute(ctx context.Context, e *execution) {
	s.mu.Lock()
	rev, stop := s.revisions[e.Revision], e.stop
	state, input := rev.parsed.StartAt, e.Input
	if e.current != nil {
		state, input = e.current.Details.Name, *e.current.Details.Input
	}
	s.mu.Unlock()
	defer stop(nil)
	if rev.parsed.Timeout > 0 {
		end := time.Time(e.Started).Add(rev.parsed.Timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, end, errTimedOut)
		defer cancel()
	}
	r := &asl.Runner{Host: taskRunner{s}, Observe: s.observer(ctx, e), Execution: asl.Execution{
		ID: e.ARN, Name: e.Name, Machine: e.Machine, MachineName: rev.machine.Name}}
	var err error
	if r.Execution.Input, err = asl.Decode([]byte(e.Input)); err == nil {
		_, err = r.Resume(ctx, rev.parsed, state, json.RawMessage(input))
	}
	s.finish(e, err)
}

// observer writes the events into the history, and ends the execution if that fails.
func (s *Service) observer(ctx context.Context, e *execution) func(asl.Event) int64 {
	return func(a asl.Event) int64 {
		if a.Kind == asl.StateEntered {
			_ = taskRunner{s}.Sleep(ctx, s.options.Transition) // an execution that was stopped is noticed below
		}
		ev, err := s.historyEvent(a)
		s.mu.Lock()
		defer s.mu.Unlock()
		id := a.Previous
		if err == nil && ctx.Err() == nil {
			id, err = s.append(e, ev, a.Kind == asl.StateEntered && a.Depth == 0)
		}
		if err != nil && s.journalError == nil {
			s.journalError = err
		}
		if err != nil || e.ended() {
			e.stop(errEnded)
		}
		return id
	}
}

// finish ends an execution that the runner could not end itself, and sends the event of the end.
func (s *Service) finish(e *execution, err error) {
	var known *asl.Error
	s.mu.Lock()
	aborted := e.ended() && e.status() == aborted // StopExecution has sent the event
	switch {
	case e.ended() || errors.Is(err, errClosed) || s.journalError != nil:
	case errors.Is(err, errTimedOut):
		s.appendLast(e, &event{Type: "ExecutionTimedOut", Key: "executionTimedOut"})
	case err != nil && !errors.As(err, &known):
		s.appendLast(e, &event{Type: string(asl.ExecutionFailed), Key: "executionFailed", Details: details{Error: asl.Runtime, Cause: err.Error()}})
	}
	over, n := e.ended(), e.description()
	s.mu.Unlock()
	if over && !aborted {
		s.emit(n)
	}
}

// appendLast adds the event that ends an execution. The lock must be held.
func (s *Service) appendLast(e *execution, ev *event) {
	ev.Time = now()
	if _, err := s.append(e, ev, false); err != nil && s.journalError == nil {
		s.journalError = err
	}
}
