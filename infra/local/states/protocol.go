package states

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// A fault is an error of Step Functions.
type fault struct{ code, message string }

func (f *fault) Error() string { return f.code + ": " + f.message }

func faultf(code, format string, args ...any) error {
	return &fault{code: code, message: fmt.Sprintf(format, args...)}
}

const maxRequest = 4 << 20 // bytes: a definition of 1 MB, escaped

// ServeHTTP answers one request of the JSON 1.0 protocol.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		refuse(w, faultf("ValidationException", "the request cannot be read: %v", err))
		return
	}
	name, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "AWSStepFunctions.")
	serve := operations[name]
	if !ok || serve == nil {
		refuse(w, faultf("UnknownOperationException", "the local emulator of Step Functions has no %s", r.Header.Get("X-Amz-Target")))
		return
	}
	answer, err := serve(s, body)
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, http.StatusOK, answer)
}

var operations = map[string]func(*Service, []byte) (any, error){
	"CreateStateMachine":  operation((*Service).createStateMachine),
	"UpdateStateMachine":  operation((*Service).updateStateMachine),
	"ListStateMachines":   operation((*Service).listStateMachines),
	"StartExecution":      operation((*Service).startExecution),
	"StopExecution":       operation((*Service).stopExecution),
	"DescribeExecution":   operation((*Service).describeExecution),
	"ListExecutions":      operation((*Service).listExecutions),
	"GetExecutionHistory": operation((*Service).executionHistory),
	"SendTaskSuccess":     operation((*Service).sendTaskSuccess),
}

// operation reads a request of type Q before it calls f.
func operation[Q, A any](f func(*Service, Q) (A, error)) func(*Service, []byte) (any, error) {
	return func(s *Service, body []byte) (any, error) {
		var q Q
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, faultf("SerializationException", "%v", err)
		}
		return f(s, q)
	}
}

func refuse(w http.ResponseWriter, err error) {
	var f *fault
	status := http.StatusBadRequest
	if !errors.As(err, &f) {
		f, status = &fault{code: "InternalFailure", message: err.Error()}, http.StatusInternalServerError
	}
	w.Header().Set("X-Amzn-Errortype", f.code)
	reply(w, status, map[string]string{"__type": "com.amazonaws.swf.service.v2.model#" + f.code, "message": f.message})
}

func reply(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(answer) // if this fails the caller is gone
}

// emptyAnswer is an answer without fields.
type emptyAnswer struct{}

// A stamp is a time in seconds since 1970, as the protocol writes it.
type stamp time.Time

func now() stamp { return stamp(time.Now().Round(time.Millisecond)) }

// MarshalJSON writes seconds with milliseconds.
func (t stamp) MarshalJSON() ([]byte, error) {
	ms := time.Time(t).UnixMilli()
	return fmt.Appendf(nil, "%d.%03d", ms/1000, ms%1000), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *stamp) UnmarshalJSON(b []byte) error {
	var seconds float64
	if err := json.Unmarshal(b, &seconds); err != nil {
		return err
	}
	*t = stamp(time.UnixMilli(int64(seconds*1000 + 0.5)))
	return nil
}
