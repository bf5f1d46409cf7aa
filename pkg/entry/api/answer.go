package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
)

// An answer is the answer to a valid request.
type answer struct {
	status   int
	location string // of the run that it is about; empty for none
	body     any    // becomes JSON, or is the text of another content type
	media    string // the content type; empty is JSON
	styles   string // which styles a browser may use, as in a content security policy; empty are none
	same     any    // becomes JSON of which the tag is made; nil is the body

	fields string    // the parameter that selects fields of the body and of same
	only   selection // what it selects; nil is all
}

// mostAnswer is how many bytes an answer may have: Lambda passes on 6 MB, in
// which the body is a string.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const mostAnswer = 4 << 20

// response is the answer to a request as API Gateway takes it. If the caller of a GET has the same answer already, it
// says only that. A large answer is compressed if the caller understands that.
func (a answer) response(e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	text, isText := a.body.(string)
	var err error
	if a.media == "" || !isText {
		if text, err = a.written(a.body); err != nil {
			return events.APIGatewayV2HTTPResponse{}, err
		}
	}
	r := responding(a.status, text)
	if a.media != "" {
		r.Headers["content-type"] = a.media
	}
	if a.styles != "" {
		r.Headers["content-security-policy"] = strings.Replace(policy, "default-src 'none'", "default-src 'none'; style-src "+a.styles, 1)
	}
	if a.location != "" {
		r.Headers["location"] = a.location
	}
	if e.RequestContext.HTTP.Method == http.MethodGet {
		tag, err := a.tag(text)
		if err != nil {
			return events.APIGatewayV2HTTPResponse{}, err
		}
		r.Headers["etag"] = tag
		if e.Headers["if-none-match"] == tag {
			r.StatusCode, r.Body = http.StatusNotModified, ""
		}
	}
	if len(r.Body) > leastCompressed && strings.Contains(e.Headers["accept-encoding"], "gzip") {
		if r.Body, err = compressed(r.Body); err != nil {
			return events.APIGatewayV2HTTPResponse{}, err
		}
		r.IsBase64Encoded, r.Headers["content-encoding"], r.Headers["vary"] = true, "gzip", "accept-encoding"
	}
	if len(r.Body) > mostAnswer {
		return events.APIGatewayV2HTTPResponse{}, refusal{
			status: http.StatusNotAcceptable,
			error:  fault.New(fault.Refused, "the answer would have %d bytes, of at most %d: send Accept-Encoding: gzip, list fewer with limit, or ask for format=json, which has pages", len(r.Body), mostAnswer),
		}
	}
	return r, nil
}

// written is v as JSON, with the selected fields.
func (a answer) written(v any) (string, error) {
	text, err := written(v)
	if err != nil || a.only == nil {
		return text, err
	}
	return a.only.from(text)
}

// tag identifies the answer. It is weak: answers with one tag may differ in forecasts. Answers with other fields have other tags.
// https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3
func (a answer) tag(text string) (string, error) {
	if a.same != nil {
		var err error
		if text, err = a.written(a.same); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256([]byte(a.fields + text))
	return fmt.Sprintf(`W/"%x"`, sum[:16]), nil
}

// leastCompressed is how many bytes an answer has at least that is compressed.
const leastCompressed = 64 << 10

// compressed is a text in gzip and base64.
func compressed(text string) (string, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", fault.New(fault.Broken, "compress the answer: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// policy is the content security policy of answers.
const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// responding is a response. It must not be stored without asking again, because runs change. A browser that shows it loads and
// executes nothing.
func responding(status int, text string) events.APIGatewayV2HTTPResponse {
	return events.APIGatewayV2HTTPResponse{StatusCode: status, Body: text, Headers: map[string]string{
		"content-type": "application/json", "cache-control": "private, no-cache", "x-content-type-options": "nosniff",
		"content-security-policy": policy,
	}}
}

// A refusal is an error for which HTTP has a status of its own.
type refusal struct {
	status int
	allow  string // the methods that are allowed instead; "" with other statuses
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

// problemType is the content type of a report.Problem.
const problemType = "application/problem+json"

// failed is the answer to a request that failed. An error without a kind may contain
// anything, so it goes to the log only, where the request's ID finds it.
func failed(err error, request string) events.APIGatewayV2HTTPResponse {
	p := report.Problem{Kind: fault.KindOf(err), Messages: fault.Messages(err), Status: status(err)}
	if p.Kind == "" || p.Kind == fault.Broken {
		p.Kind = fault.Broken
		p.Messages = []string{fmt.Sprintf("something is wrong here, and not with the request: see the log of the function api for request %.100q", request)}
	}
	p.Type, p.Title, p.Detail = "urn:stackwright:problem:"+strings.ToLower(string(p.Kind)), http.StatusText(p.Status), strings.Join(p.Messages, "; ")
	text, unwritten := written(p)
	if unwritten != nil {
		text = `{"type":"urn:stackwright:problem:broken","title":"","status":500,"detail":"","kind":"Broken","messages":[]}` // it cannot fail: these are texts
	}
	r := responding(p.Status, text)
	r.Headers["content-type"] = problemType
	if refused, ok := errors.AsType[refusal](err); ok && refused.allow != "" {
		r.Headers["allow"] = refused.allow
	}
	if seconds := pauses()[p.Kind]; seconds > 0 {
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
