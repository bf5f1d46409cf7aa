package states

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/asl"
)

// taskRunner gives machines what they use: functions, task tokens and time.
type taskRunner struct{ *Service }

// An answer is the result of a function, or the answer to a task token.
type answer struct {
	output json.RawMessage
	err    error
}

// Task calls the function. The invocation continues even if the task times out.
func (w taskRunner) Task(ctx context.Context, call asl.Call) (json.RawMessage, error) {
	returned := make(chan answer, 1)
	answered := w.openToken(call.Token)
	defer w.closeToken(call.Token)
	w.running.Go(func() { returned <- w.invoke(call.Function, call.Payload) })
	late, stop := after(call.Timeout)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case a := <-answered:
			return a.output, a.err
		case a := <-returned:
			if a.err != nil || call.Token == "" {
				return a.output, a.err
			}
			call.Submitted(a.output)
			returned = nil
		case <-late:
			if w.closeToken(call.Token) || call.Token == "" {
				return nil, &asl.Error{Name: asl.Timeout, Cause: fmt.Sprintf("the task took longer than %v", call.Timeout)}
			}
			late = nil // the token was answered at the same moment, and its sender was reported so
		}
	}
}

// Sleep waits for d.
func (w taskRunner) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	over, stop := after(d)
	defer stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-over:
		return nil
	}
}

// after is like time.After; for a duration that is not positive the channel never fires.
func after(d time.Duration) (<-chan time.Time, func() bool) {
	if d <= 0 {
		return nil, func() bool { return false }
	}
	t := time.NewTimer(d)
	return t.C, t.Stop
}

const (
	unknown  = "Lambda.Unknown"
	maxName  = 256   // characters of an error's name
	maxCause = 32768 // and of its cause
)

// invoke calls a function. Its failure becomes an error of the States Language.
func (w taskRunner) invoke(function string, payload []byte) answer {
	if w.options.Invoke == nil {
		return answer{err: &asl.Error{Name: unknown, Cause: "the local emulator of Step Functions has no functions"}}
	}
	out, err := w.options.Invoke(w.ctx, function, payload)
	if err == nil {
		return answer{output: out}
	}
	var own interface {
		error
		ErrorType() string
	}
	if !errors.As(err, &own) || own.ErrorType() == "" {
		return answer{err: &asl.Error{Name: unknown, Cause: clip(err.Error(), maxCause)}}
	}
	cause, bad := asl.Encode(map[string]any{"errorMessage": own.Error(), "errorType": own.ErrorType()})
	if bad != nil {
		return answer{err: bad}
	}
	return answer{err: &asl.Error{Name: clip(own.ErrorType(), maxName), Cause: clip(string(cause), maxCause)}}
}

func clip(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most])
}
