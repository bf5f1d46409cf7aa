package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/fault"
)

// An answer is the answer to a valid request.
type answer struct {
	status   int
	location string // of the run that it is about; empty for none
	body     any    // becomes JSON
}

// mostAnswer is how many bytes an answer may have: Lambda passes on 6 MB, in
// which the body is a string.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const mostAnswer = 4 << 20

// response is the answer as API Gateway takes it.
func (a answer) response() (events.APIGatewayV2HTTPResponse, error) {
	text, err := written(a.body)
	if err != nil {
		return events.APIGatewayV2HTTPResponse{}, err
	}
	if len(text) > mostAnswer {
		return events.APIGatewayV2HTTPResponse{}, refusal{http.StatusInternalServerError,
			fault.New(fault.Refused, "the answer would have %d bytes, of at most %d: list fewer runs with limit, and read a large run with stackwright status", len(text), mostAnswer)}
	}
	r := responding(a.status, text)
	if a.location != "" {
		r.Headers["location"] = a.location
	}
	return r, nil
}

// responding is a response. It must not be cached, because runs change.
func responding(status int, text string) events.APIGatewayV2HTTPResponse {
	return events.APIGatewayV2HTTPResponse{StatusCode: status, Body: text, Headers: map[string]string{
		"content-type": "application/json", "cache-control": "no-store",
	}}
}

// A refusal is an error for which HTTP has a status of its own.
type refusal struct {
	status int
	error
}

// Unwrap returns the cause.
func (r refusal) Unwrap() error { return r.error }

// pauses are the seconds after which a request may be repeated, by the kind of its
// error.
func pauses() map[fault.Kind]int {
	return map[fault.Kind]int{fault.Throttled: 5, fault.Unavailable: 10, fault.Stale: 1}
}

// status is that of an error.
func status(err error) int {
	if r, ok := errors.AsType[refusal](err); ok {
		return r.status
	}
	switch fault.KindOf(err) {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.Missing:
		return http.StatusNotFound
	case fault.Refused, fault.Busy, fault.Taken:
		return http.StatusConflict
	case fault.Throttled:
		return http.StatusTooManyRequests
	case fault.Unavailable, fault.Stale:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// A failure is an error in an answer.
type failure struct {
	Kind     fault.Kind `json:"kind"`
	Message  string     `json:"message"`  // all of them in one
	Messages []string   `json:"messages"` // one for each error: what happened, why, what to do
}

// failed is the answer to a request that failed. An error without a kind may contain
// anything, so it goes to the log only, where the request's ID finds it.
func failed(err error, request string) events.APIGatewayV2HTTPResponse {
	f := failure{Kind: fault.KindOf(err), Messages: fault.Messages(err)}
	if f.Kind == "" || f.Kind == fault.Broken {
		f.Kind = fault.Broken
		f.Messages = []string{fmt.Sprintf("something is wrong here, and not with the request: see the log of the function api for request %.100q", request)}
	}
	f.Message = strings.Join(f.Messages, "; ")
	text, unwritten := written(map[string]failure{"error": f})
	if unwritten != nil {
		text = `{"error":{"kind":"Broken","message":"","messages":[]}}` // it cannot fail: these are texts
	}
	r := responding(status(err), text)
	if seconds := pauses()[f.Kind]; seconds > 0 {
		r.Headers["retry-after"] = strconv.Itoa(seconds)
	}
	return r
}

// written is v as JSON.
func written(v any) (string, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", fault.New(fault.Broken, "write the answer: %w", err)
	}
	return text.String(), nil
}
