// Package lambda runs functions as AWS Lambda does: in this process, or as the bootstraps that would be deployed.
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

// Host says where functions believe they run.
type Host struct {
	Account, Region string
	// Timeout of a function by its name; 0, or a nil func, means five minutes.
	Timeout func(function string) time.Duration
	// Environ is what is in the environment of one function beside what all have; nil means nothing. Only processes of
	// their own have one.
	Environ func(function string) []string
	// Log gets what functions print, and the errors that they return; nil drops it.
	Log io.Writer
}

const (
	defaultTimeout = 5 * time.Minute
	// maxPayload is the most that a function may be asked or may answer, in bytes:
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

// shared is the host with a log that many may write to at once.
func (h Host) shared() Host {
	if h.Log == nil {
		h.Log = io.Discard
	}
	h.Log = &lockedWriter{to: h.Log}
	return h
}

// inTurn lets one write at a time.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

// ARN is the function's name in full.
func (h Host) ARN(function string) string {
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", h.Region, h.Account, function)
}

// Name takes a function's name out of an ARN, and a version or alias off it. A plain name stays as it is.
func Name(function string) string {
	if rest, ok := strings.CutPrefix(function, "arn:"); ok {
		if _, after, found := strings.Cut(rest, ":function:"); found {
			function = after
		}
	}
	name, _, _ := strings.Cut(function, ":")
	return name
}

// FunctionError is what went wrong in a function, as Lambda reports it.
type FunctionError struct {
	Type, Message string
	Payload       []byte // the whole report, JSON
}

// Error is the function's own message.
func (e *FunctionError) Error() string { return e.Message }

// ErrorType is Lambda's errorType, which Step Functions takes for the name of the error.
func (e *FunctionError) ErrorType() string { return e.Type }

// failure reads a report, {"errorType", "errorMessage"}.
func failure(report []byte) *FunctionError {
	var said struct{ ErrorType, ErrorMessage string }
	if err := json.Unmarshal(report, &said); err != nil {
		said.ErrorType, said.ErrorMessage = "Unhandled", string(report)
	}
	return &FunctionError{said.ErrorType, said.ErrorMessage, report}
}

// ended is the report that Lambda itself makes of a function that could not report anything.
func reportOf(kind, requestID, format string, args ...any) *FunctionError {
	message := fmt.Sprintf("RequestId: %s Error: %s", requestID, fmt.Sprintf(format, args...))
	report, _ := json.Marshal(map[string]string{"errorType": kind, "errorMessage": message}) // strings always marshal
	return &FunctionError{kind, message, report}
}

func timedOut(requestID string, after time.Duration) *FunctionError {
	return reportOf("Sandbox.Timedout", requestID, "Task timed out after %.2f seconds", after.Seconds())
}

// tooLong refuses an answer that Lambda would refuse; nil for any other.
func tooLong(requestID string, answer []byte) error {
	if len(answer) <= maxPayload {
		return nil
	}
	return reportOf("Function.ResponseSizeTooLarge", requestID, "Response payload size exceeded maximum allowed payload size (%d bytes).", maxPayload)
}

// NotFound is the error of a function that is not there.
type NotFound struct{ Function string }

func (e *NotFound) Error() string { return "Function not found: " + e.Function }

// numbers makes request IDs, which only have to differ.
type numbers struct{ last atomic.Uint64 }

func (n *numbers) next() string { return fmt.Sprintf("00000000-0000-4000-9000-%012x", n.last.Add(1)) }
