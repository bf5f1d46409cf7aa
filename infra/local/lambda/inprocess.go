package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	aws "github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// errClosed is the error after Close.
var errClosed = errors.New("no function runs any more: the host is closed")

// Functions runs functions in this process. Use InProcess.
type Functions struct {
	host     Host
	handlers map[string]any
	ids      numbers
	ctx      context.Context
	cancel   context.CancelFunc

	mu     sync.Mutex
	closed bool
	tasks  sync.WaitGroup
}

// InProcess runs the arguments of lambda.Start, by the functions' names: a Go function, or a lambda.Handler that may be
// called concurrently. The result of lambda.NewHandler may not: it releases its buffer before the answer is read. Pass
// the function itself.
func InProcess(handlers map[string]any, host Host) (*Functions, error) {
	made := reflect.TypeOf(aws.NewHandler(func() {}))
	for name, h := range handlers {
		if reflect.TypeOf(h) == made {
			return nil, fmt.Errorf("function %s: hand over the function, not what lambda.NewHandler makes of it", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Functions{host: host.shared(), handlers: handlers, ctx: ctx, cancel: cancel}, nil
}

// Names lists the functions.
func (f *Functions) Names() []string {
	names := []string{}
	for name := range f.handlers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

type result struct {
	answer []byte
	err    error
}

// Invoke calls a function, by its name or ARN, and waits for its answer. An error of the function is a *FunctionError.
// If ctx ends, Invoke returns and the function continues, as in Lambda.
func (f *Functions) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	name := Name(function)
	handler, ok := f.handlers[name]
	if !ok {
		return nil, &NotFound{f.host.ARN(name)}
	}
	id, timeout := f.ids.next(), f.host.timeout(name)
	inner, cancel := context.WithTimeout(f.ctx, timeout)
	inner = lambdacontext.NewContext(inner, &lambdacontext.LambdaContext{AwsRequestID: id, InvokedFunctionArn: f.host.ARN(name)})
	done := make(chan result, 1)
	started := f.launch(func() {
		defer cancel()
		answer, err := f.call(inner, name, handler, payload)
		done <- result{answer, err}
	})
	if !started {
		cancel()
		return nil, errClosed
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-inner.Done():
	}
	if errors.Is(inner.Err(), context.DeadlineExceeded) {
		return nil, timedOut(id, timeout)
	}
	select {
	case r := <-done:
		if r.err == nil {
			r.err = tooLong(id, r.answer)
		}
		return r.answer, r.err
	default:
		return nil, errClosed
	}
}

func (f *Functions) launch(task func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.tasks.Go(task)
	return true
}

func (f *Functions) call(ctx context.Context, name string, handler any, payload []byte) (answer []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, f.report(name, panicked(p))
		}
	}()
	// Each call has a handler of its own, because the handler owns the buffer of the answer.
	answer, failed := aws.NewHandler(handler).Invoke(ctx, payload)
	if failed != nil {
		return nil, f.report(name, returned(failed))
	}
	return answer, nil
}

func (f *Functions) report(name string, e messages.InvokeResponse_Error) error {
	report, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("report the error of function %s: %w", name, err)
	}
	_, _ = fmt.Fprintf(f.host.Log, "%s: %s\n", name, report) // an error of the log cannot be logged
	return failure(report)
}

// returned is the report that aws-lambda-go makes of an error: its Go type is the errorType, unless the error is a
// report itself.
func returned(err error) messages.InvokeResponse_Error {
	if e, ok := err.(messages.InvokeResponse_Error); ok { // not errors.As: the real runtime does not unwrap
		return e
	}
	return messages.InvokeResponse_Error{Message: err.Error(), Type: typeName(err)}
}

func panicked(p any) messages.InvokeResponse_Error {
	if e, ok := p.(messages.InvokeResponse_Error); ok {
		return e
	}
	return messages.InvokeResponse_Error{Message: fmt.Sprint(p), Type: typeName(p), StackTrace: stackTrace()}
}

func typeName(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

func stackTrace() []*messages.InvokeResponse_Error_StackFrame {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)]) // without stack, panicked, the deferred func and Callers
	var trace []*messages.InvokeResponse_Error_StackFrame
	for {
		frame, more := frames.Next()
		label := frame.Function[strings.LastIndex(frame.Function, "/")+1:]
		trace = append(trace, &messages.InvokeResponse_Error_StackFrame{Path: frame.File, Line: int32(frame.Line), Label: label})
		if !more {
			return trace
		}
	}
}

// Close cancels running invocations and waits for them.
func (f *Functions) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.tasks.Wait()
	return nil
}
