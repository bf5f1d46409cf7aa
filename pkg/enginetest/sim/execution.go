package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/asl"
	"github.com/stackwright/stackwright/pkg/fault"
)

// An Execution is one execution of the state machine.
type Execution struct {
	Name    string
	Path    []string // the states that it has entered
	History int      // how many events its history has
	Over    bool
	Err     error // why it failed; an *asl.Error named Failed, FailedDirty or Refused is how its run ended

	in engine.ExecutionInput
}

// execute starts an execution of the state machine.
func (b *Backend) execute(name string, in engine.ExecutionInput) error {
	input, err := json.Marshal(in)
	if err != nil {
		return err
	}
	x := &Execution{Name: name, in: in}
	b.executions[name] = x
	b.Go(func(r *Routine) {
		runner := asl.Runner{
			Host: &host{b, r, x}, Execution: asl.Execution{Name: name}, Serial: true, Jitter: b.Rand.Float64, Now: b.Now,
			Observe: func(e asl.Event) int64 {
				x.History++
				if e.Kind == asl.StateEntered {
					x.Path = append(x.Path, e.State.Name)
				}
				return int64(x.History)
			},
		}
		_, err := runner.Run(context.Background(), b.machine, input)
		b.endExecution(x, err)
	})
	return nil
}

// A host runs the tasks and waits of one execution.
type host struct {
	*Backend
	routine   *Routine
	execution *Execution
}

// A waiter is a task that waits for its function or for the answer to its token.
type waiter struct {
	answer json.RawMessage
	err    error
	wake   func()
}

// errEnd ends an execution that was stopped, or whose simulation was.
var errEnd = errors.New("the execution was stopped")

// NewToken implements asl.Host.
func (h *host) NewToken() string { return h.unique() }

// Sleep implements asl.Host.
func (h *host) Sleep(_ context.Context, d time.Duration) error {
	if !h.routine.Sleep(d) || h.execution.Over {
		return errEnd
	}
	return nil
}

// Task implements asl.Host.
func (h *host) Task(_ context.Context, call asl.Call) (json.RawMessage, error) {
	if h.execution.Over {
		return nil, errEnd
	}
	function := call.Function[strings.LastIndex(call.Function, ":")+1:]
	wait := &waiter{}
	if call.Token != "" {
		h.waiting[call.Token] = wait
		defer delete(h.waiting, call.Token)
	}
	h.invoke(function, call.Payload, func(out json.RawMessage, err error) {
		if call.Token != "" {
			out = nil // the answer to the token is the result
		}
		wait.end(out, err)
	})
	for end := h.Now().Add(call.Timeout); wait.answer == nil && wait.err == nil; {
		wait.wake = h.routine.Waker()
		if call.Token != "" {
			left := end.Sub(h.Now())
			if left <= 0 {
				return nil, &asl.Error{Name: "States.Timeout"}
			}
			h.routine.wakeIn(left)
		}
		if !h.routine.Wait() {
			return nil, errEnd
		}
	}
	if wait.answer != nil {
		return wait.answer, nil
	}
	return nil, wait.err
}

// end ends the wait with an answer or an error. Only the first of them counts.
func (w *waiter) end(answer json.RawMessage, err error) {
	if w.answer != nil || w.err != nil || answer == nil && err == nil {
		return
	}
	if w.answer, w.err = answer, err; w.wake != nil {
		w.wake()
	}
}

// invoke calls a function, and then passes its answer, or the error that Step
// Functions would make of its failure. A function that lingers is reported as crashed
// while it still runs.
func (h *host) invoke(name string, payload json.RawMessage, then func(json.RawMessage, error)) {
	h.Go(func(r *Routine) {
		crashed := &asl.Error{Name: "Runtime.ExitError", Cause: name + " crashed"}
		by := &invocation{function: &function{name: name, reportCrash: func() { then(nil, crashed) }}, routine: r}
		r.skew = h.skew()
		ended := h.use(name)
		out, err := h.handle(context.WithValue(context.Background(), callKey{}, by), payload)
		ended()
		switch {
		case by.function.crashed:
			then(nil, crashed)
		case err != nil:
			then(nil, &asl.Error{Name: string(fault.KindOf(err)), Cause: err.Error()})
		default:
			answer, err := json.Marshal(out)
			then(answer, err)
		}
	})
}

// handle is the code of the functions that the state machine calls.
func (h *host) handle(ctx context.Context, payload json.RawMessage) (any, error) {
	switch name := ctx.Value(callKey{}).(*invocation).function.name; name {
	case "plan":
		in, err := decode[engine.ExecutionInput](payload)
		if err != nil {
			return nil, err
		}
		return h.Engine.Plan(ctx, in)
	case "execute-step":
		in, err := decode[engine.StartInput](payload)
		if err != nil {
			return nil, err
		}
		return h.Engine.Execute(ctx, in)
	case "wait-status":
		in, err := decode[engine.PollInput](payload)
		if err != nil {
			return nil, err
		}
		return struct{}{}, h.Engine.Poll(ctx, in)
	default:
		return nil, fmt.Errorf("there is no function %q", name)
	}
}

func decode[T any](payload json.RawMessage) (in T, err error) {
	return in, json.Unmarshal(payload, &in)
}
