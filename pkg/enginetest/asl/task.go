package asl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// task calls the state's function once and returns the result.
func (b *branch) task(ctx context.Context, s *State, sc *scope) (any, error) {
	if s.Resource.Waits() {
		sc.token = b.Host.NewToken()
	}
	call, err := newCall(s, sc)
	if err != nil {
		return nil, err
	}
	call.Submitted = func(response json.RawMessage) {
		if v, err := Decode(response); err == nil {
			b.observe(Event{Kind: TaskSubmitted, State: s, Call: call, Output: invoked(v)})
		}
	}
	b.observe(Event{Kind: TaskScheduled, State: s, Call: call})
	b.observe(Event{Kind: TaskStarted, State: s, Call: call})
	response, err := b.Host.Task(ctx, *call)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var out any
	if err == nil {
		out, err = s.taken(response)
	}
	return b.ended(s, call, out, err)
}

// ended observes how a task ended, and returns its output or error.
func (b *branch) ended(s *State, call *Call, out any, err error) (any, error) {
	var e *Error
	switch {
	case err == nil:
		b.observe(Event{Kind: TaskSucceeded, State: s, Call: call, Output: out})
	case errors.As(err, &e) && e.Name == Timeout:
		b.observe(Event{Kind: TaskTimedOut, State: s, Call: call, Error: e})
	case errors.As(err, &e):
		b.observe(Event{Kind: TaskEnded, State: s, Call: call, Error: e})
	default:
		return nil, fmt.Errorf("asl: %s: %w", s.Name, err)
	}
	return out, err
}

func newCall(s *State, sc *scope) (*Call, error) {
	in := sc.input
	if s.parameters != nil {
		var err error
		if in, err = s.parameters.make(sc); err != nil {
			return nil, err
		}
	}
	call := &Call{State: s.Name, Resource: s.Resource, Function: string(s.Resource), Token: sc.token}
	seconds, _, err := sc.seconds(s.timeout, 1)
	if err != nil {
		return nil, err
	}
	call.Timeout = time.Duration(seconds) * time.Second
	if n := size(in); n > MaxPayload {
		return nil, tooLarge(s.Name, n)
	}
	if call.Input, err = Encode(in); err != nil {
		return nil, err
	}
	call.Payload = call.Input
	if s.Resource.Direct() {
		return call, nil
	}
	return call, call.arguments(s, in)
}

// arguments reads what lambda:invoke is given.
func (c *Call) arguments(s *State, in any) error {
	given, _ := in.(map[string]any)
	function, ok := given["FunctionName"].(string)
	if !ok {
		return runtimef(s.Name, "The FunctionName must be a string")
	}
	payload, ok := given["Payload"]
	if !ok {
		payload = map[string]any{}
	}
	c.Function = function
	var err error
	c.Payload, err = Encode(payload)
	return err
}

// taken reads what a task was answered with.
func (s *State) taken(response json.RawMessage) (any, error) {
	if len(response) > MaxPayload {
		return nil, tooLarge(s.Name, len(response))
	}
	if len(response) == 0 {
		response = json.RawMessage("null")
	}
	v, err := Decode(response)
	if err != nil {
		return nil, runtimef(s.Name, "The result is no JSON: %v", err)
	}
	if s.Resource.Direct() || s.Resource.Waits() {
		return v, nil
	}
	return invoked(v), nil
}

// invoked is the result of lambda:invoke for a function that returned v.
// https://docs.aws.amazon.com/step-functions/latest/dg/connect-lambda.html
func invoked(v any) any {
	return map[string]any{"StatusCode": json.Number("200"), "ExecutedVersion": "$LATEST", "Payload": v}
}
