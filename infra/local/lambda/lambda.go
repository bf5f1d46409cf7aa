// Package lambda emulates AWS Lambda on this machine: functions run in this process, or as the bootstraps that would be
// deployed.
package lambda

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Host is the account and region of the functions, and what they share.
type Host struct {
	Account, Region string
	// Timeout is that of a function, by its name; 0, or a nil func, means five minutes.
	Timeout func(function string) time.Duration
	// Environ is the environment of one function in addition to what all have; nil means nothing. Only functions that
	// run as processes have one.
	Environ func(function string) []string
	// Log gets the output of functions, and the errors that they return; nil drops it.
	Log io.Writer
}

const (
	defaultTimeout = 5 * time.Minute
	// maxPayload limits the input and the answer of a function, in bytes:
	// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
	maxPayload = 6 << 20
)

func (h Host) timeout(function string) time.Duration {
	if h.Timeout != nil {
		if d := h.Timeout(function); d > 0 {
			return d
		}
	}
	return defaultTimeout
}

// shared is the host with a log for concurrent writes.
func (h Host) shared() Host {
	if h.Log == nil {
		h.Log = io.Discard
	}
	h.Log = &lockedWriter{to: h.Log}
	return h
}

// lockedWriter makes one write at a time.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

// ARN is the ARN of a function.
func (h Host) ARN(function string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", h.Region, h.Account, function)
}

// Name is the name in a function's ARN, without version or alias. A plain name is returned unchanged.
func Name(function string) string {
	if rest, ok := strings.CutPrefix(function, "arn:"); ok {
		if _, after, found := strings.Cut(rest, ":function:"); found {
			function = after
		}
	}
	name, _, _ := strings.Cut(function, ":")
	return name
}

// FunctionError is an error of a function, as Lambda reports it.
type FunctionError struct {
	Type, Message string
	Payload       []byte // the whole report, JSON
}

// Error is the function's own message.
func (e *FunctionError) Error() string { return e.Message }

// ErrorType is Lambda's errorType, which Step Functions uses as the name of the error.
func (e *FunctionError) ErrorType() string { return e.Type }

// failure reads a report, {"errorType", "errorMessage"}.
func failure(report []byte) *FunctionError {
	var said struct{ ErrorType, ErrorMessage string }
	if err := json.Unmarshal(report, &said); err != nil {
		said.ErrorType, said.ErrorMessage = "Unhandled", string(report)
	}
	return &FunctionError{said.ErrorType, said.ErrorMessage, report}
}

// reportOf is the report that Lambda makes of a function that could not report an error itself.
func reportOf(kind, requestID, format string, args ...any) *FunctionError {
	message := fmt.Sprintf("RequestId: %s Error: %s", requestID, fmt.Sprintf(format, args...))
	report, _ := json.Marshal(map[string]string{"errorType": kind, "errorMessage": message}) // strings can always be marshalled
	return &FunctionError{kind, message, report}
}

func timedOut(requestID string, after time.Duration) *FunctionError {
	return reportOf("Sandbox.Timedout", requestID, "Task timed out after %.2f seconds", after.Seconds())
}

// tooLong is the error of an answer that Lambda would refuse; nil for any other.
func tooLong(requestID string, answer []byte) error {
	if len(answer) <= maxPayload {
		return nil
	}
	return reportOf("Function.ResponseSizeTooLarge", requestID, "Response payload size exceeded maximum allowed payload size (%d bytes).", maxPayload)
}

// NotFound is the error of a function that does not exist.
type NotFound struct{ Function string }

func (e *NotFound) Error() string { return "Function not found: " + e.Function }

// numbers makes request IDs, which only have to be unique.
type numbers struct{ last atomic.Uint64 }

func (n *numbers) next() string { return fmt.Sprintf("00000000-0000-4000-9000-%012x", n.last.Add(1)) }
