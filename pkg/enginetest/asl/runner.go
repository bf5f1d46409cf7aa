package asl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// A Host does what a machine cannot do itself. Its methods may be called at once from several goroutines, unless the Runner is Serial.
type Host interface {
	// Task calls a function and returns its result, or, if call.Token is set, the answer to the token.
	// Failures that a machine can handle are *Error; one after call.Timeout has the name States.Timeout.
	// Any other error ends the run as it is.
	Task(ctx context.Context, call Call) (json.RawMessage, error)
	// Sleep returns after d, or with an error when ctx is done. Wait states and pauses between attempts sleep.
	Sleep(ctx context.Context, d time.Duration) error
	// NewToken makes a token for a task that waits for its answer.
	NewToken() string
}

// A Runner runs machines on a Host. Only Host must be set. One Runner is one execution.
type Runner struct {
	Host      Host
	Execution Execution

	// Serial runs the items of a Map one after another, in their order, and starts no goroutine.
	Serial bool
	// Parallel is how many items of a Map run at once at most, even if the Map allows more; 0 means 40, as on AWS.
	Parallel int
	// Observe is called for each event. It returns the event's number, which the next event of the same branch bears as
	// Previous. It may be called at once from several goroutines, unless the Runner is Serial.
	Observe func(Event) int64
	// Checkpoint is called before each state outside of any Map is entered. Resume goes on from there. Its error ends the run.
	Checkpoint func(state string, input any) error
	// Now returns the time for $$.State.EnteredTime; nil means time.Now.
	Now func() time.Time
	// Jitter returns a number from 0 to 1, for retriers with full jitter; nil means random.
	Jitter func() float64
}

// Run runs a machine from its start and returns its output. The error is an *Error if the machine failed, the context's
// cause if that was done, otherwise the error of the Host or Checkpoint.
func (r *Runner) Run(ctx context.Context, m *Machine, input json.RawMessage) (json.RawMessage, error) {
	return r.run(ctx, m, m.StartAt, input, true)
}

// Resume runs a machine from one of its own states, which is entered with input.
func (r *Runner) Resume(ctx context.Context, m *Machine, state string, input json.RawMessage) (json.RawMessage, error) {
	if m.States[state] == nil {
		return nil, fmt.Errorf("asl: resume: the machine has no state %q", state)
	}
	return r.run(ctx, m, state, input, false)
}

func (r *Runner) run(ctx context.Context, m *Machine, state string, input json.RawMessage, fresh bool) (json.RawMessage, error) {
	in, err := Decode(input)
	if err != nil {
		return nil, err
	}
	b := &branch{Runner: r, execution: r.Execution}
	if b.execution.Input == nil {
		b.execution.Input = in
	}
	if fresh {
		b.observe(Event{Kind: ExecutionStarted, Input: in})
	}
	out, err := b.run(ctx, m, state, in)
	var e *Error
	switch {
	case err == nil:
		b.observe(Event{Kind: ExecutionSucceeded, Output: out})
		return Encode(out)
	case errors.As(err, &e):
		b.observe(Event{Kind: ExecutionFailed, Error: e})
	}
	return nil, err
}

// A branch is one sequence of states: the execution's own, or one of an item of a Map.
type branch struct {
	*Runner
	execution Execution
	depth     int
	item      *item
	last      int64     // number of its last event
	entered   time.Time // when the state was that it is in
}

func (b *branch) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

func (b *branch) observe(e Event) {
	if b.Observe == nil {
		return
	}
	e.Previous, e.Depth = b.last, b.depth
	b.last = b.Observe(e)
}

func (b *branch) run(ctx context.Context, m *Machine, at string, in any) (any, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s := m.States[at]
		if b.Checkpoint != nil && b.depth == 0 {
			if err := b.Checkpoint(at, in); err != nil {
				return nil, err
			}
		}
		b.observe(Event{Kind: StateEntered, State: s, Input: in})
		b.entered = b.now()
		out, next, err := b.visit(ctx, s, in)
		if err != nil {
			return nil, err
		}
		b.observe(Event{Kind: StateExited, State: s, Output: out})
		if next == "" {
			return out, nil
		}
		in, at = out, next
	}
}

// visit runs one state with its retries and catchers. It returns the state's output and where it leads.
func (b *branch) visit(ctx context.Context, s *State, in any) (any, string, error) {
	tried := make([]int, len(s.retry))
	for retries := 0; ; retries++ {
		sc := &scope{state: s, entered: b.entered, input: in, execution: &b.execution, item: b.item, retries: retries}
		out, next, err := b.attempt(ctx, s, sc)
		if err == nil {
			return out, next, nil
		}
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		var e *Error
		if !errors.As(err, &e) {
			return nil, "", err
		}
		if pause, again := s.again(e, tried, b.Jitter); again {
			if err := b.Host.Sleep(ctx, pause); err != nil {
				return nil, "", err
			}
			continue
		}
		return s.caught(e, in)
	}
}

// again says whether to try once more, and after which pause. Only the first retrier that matches counts.
func (s *State) again(e *Error, tried []int, jitter func() float64) (time.Duration, bool) {
	for i, r := range s.retry {
		if !matches(r.errors, e) {
			continue
		}
		if tried[i] >= r.attempts {
			return 0, false
		}
		pause := float64(r.interval)
		for range tried[i] {
			if pause *= r.rate; pause > float64(maxSeconds*time.Second) {
				pause = float64(maxSeconds * time.Second)
				break
			}
		}
		if r.ceiling > 0 {
			pause = min(pause, float64(r.ceiling))
		}
		if r.jitter && jitter == nil {
			jitter = rand.Float64
		}
		if r.jitter {
			pause *= jitter()
		}
		tried[i]++
		return time.Duration(pause), true
	}
	return 0, false
}

func (s *State) caught(e *Error, in any) (any, string, error) {
	for _, c := range s.catch {
		if !matches(c.errors, e) {
			continue
		}
		out, err := c.resultPath.put(in, map[string]any{"Error": e.Name, "Cause": e.Cause})
		if err != nil {
			return nil, "", err
		}
		return out, c.next, nil
	}
	return nil, "", e
}

// attempt executes the state once.
func (b *branch) attempt(ctx context.Context, s *State, sc *scope) (any, string, error) {
	raw := sc.input
	in, err := sc.pick(s.inputPath, "InputPath")
	if err != nil {
		return nil, "", err
	}
	sc.input = in
	out, next := in, s.Next
	switch s.Type {
	case Task:
		out, err = b.task(ctx, s, sc)
	case Map:
		out, err = b.mapItems(ctx, s, sc)
	case Pass:
		out, err = sc.pass(s)
	case Wait:
		err = b.wait(ctx, s, sc)
	case Choice:
		next, err = s.choose(sc)
	case Fail:
		err = &Error{Name: s.Error, Cause: s.Cause}
	}
	if err != nil {
		return nil, "", err
	}
	out, err = sc.finish(s, raw, out)
	return out, next, err
}

// finish puts a result where it belongs and keeps the output within its limit.
func (sc *scope) finish(s *State, raw, out any) (any, error) {
	var err error
	switch s.Type {
	case Task, Map, Pass:
		if s.resultSelector != nil {
			sc.input = out
			if out, err = s.resultSelector.make(sc); err != nil {
				return nil, err
			}
		}
		if out, err = s.resultPath.put(raw, out); err != nil {
			return nil, err
		}
	}
	sc.input = out
	if out, err = sc.pick(s.outputPath, "OutputPath"); err != nil {
		return nil, err
	}
	if n := size(out); n > MaxPayload {
		return nil, tooLarge(s.Name, n)
	}
	return out, nil
}

func tooLarge(state string, n int) *Error {
	return &Error{Name: DataLimitExceeded, Cause: fmt.Sprintf(
		"The state/task '%s' returned a result with a size exceeding the maximum number of bytes service limit: %d of %d", state, n, MaxPayload)}
}

func (sc *scope) pass(s *State) (any, error) {
	if s.result != nil {
		return *s.result, nil
	}
	if s.parameters != nil {
		return s.parameters.make(sc)
	}
	return sc.input, nil
}

func (b *branch) wait(ctx context.Context, s *State, sc *scope) error {
	n, _, err := sc.seconds(s.wait, 0)
	if err != nil {
		return err
	}
	return b.Host.Sleep(ctx, time.Duration(n)*time.Second)
}
