package stepfunctions

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// A transport gives every request the same answer, and holds the last request.
type transport struct {
	status int // negative for no answer
	body   string
	target string
	input  string
}

// RoundTrip carries out one request.
func (w *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	input, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.target, w.input = r.Header.Get("X-Amz-Target"), string(input)
	if w.status < 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: w.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(w.body)), Request: r}, nil
}

// arn names the machine under test.
const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright"

func open(w *transport) *Machine {
	return New(sfn.NewFromConfig(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient: &http.Client{Transport: w}, RetryMaxAttempts: 1,
	}), arn)
}

// Only IDs pass through the machine.
func TestInputsAndAnswers(t *testing.T) {
	w := &transport{status: 200, body: `{"executionArn":"x","startDate":1}`}
	m := open(w)
	if err := m.Start(t.Context(), "one-1", engine.ExecutionInput{Run: "one", Epoch: 1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"one-1"`, `"input":"{\"run\":\"one\",\"epoch\":1}"`, `"stateMachineArn":"` + arn + `"`} {
		if !strings.Contains(w.input, want) {
			t.Errorf("start: no %s in %s", want, w.input)
		}
	}
	w.body = "{}"
	if err := m.Answer(t.Context(), "token", engine.LoopState{Run: "one", Epoch: 1, State: run.StateWatch, Ready: []int{}, Wait: 60}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"taskToken":"token"`, `"output":"{\"run\":\"one\",\"epoch\":1,\"state\":\"watch\",\"ready\":[],\"past\":0,\"wait\":60}"`} {
		if !strings.Contains(w.input, want) {
			t.Errorf("answer: no %s in %s", want, w.input)
		}
	}
	if !strings.HasSuffix(w.target, ".SendTaskSuccess") {
		t.Errorf("the request is %s", w.target)
	}
}

// Starting an execution twice and answering a token twice are no errors. All other
// answers have their kind.
func TestKindsOfAnswers(t *testing.T) {
	for _, c := range []struct {
		status        int
		code          string
		start, answer fault.Kind
	}{
		{400, "ExecutionAlreadyExists", "", fault.Broken},
		{400, "TaskTimedOut", fault.Broken, ""},
		{400, "TaskDoesNotExist", fault.Broken, ""},
		{400, "InvalidToken", fault.Broken, ""},
		{400, "ThrottlingException", fault.Throttled, fault.Throttled},
		{400, "ExecutionLimitExceeded", fault.Throttled, fault.Throttled},
		{429, "Else", fault.Throttled, fault.Throttled},
		{400, "AccessDeniedException", fault.Denied, fault.Denied},
		{400, "StateMachineDoesNotExist", fault.Broken, fault.Broken},
		{500, "InternalFailure", fault.Unavailable, fault.Unavailable},
		{503, "ServiceUnavailable", fault.Unavailable, fault.Unavailable},
		{-1, "", fault.Unavailable, fault.Unavailable},
	} {
		m := open(&transport{status: c.status, body: `{"__type":"` + c.code + `","message":"m"}`})
		if err := m.Start(t.Context(), "one-1", engine.ExecutionInput{}); fault.KindOf(err) != c.start || (err == nil) != (c.start == "") {
			t.Errorf("start: %d %s is %q: %v", c.status, c.code, fault.KindOf(err), err)
		}
		if err := m.Answer(t.Context(), "token", engine.LoopState{}); fault.KindOf(err) != c.answer || (err == nil) != (c.answer == "") {
			t.Errorf("answer: %d %s is %q: %v", c.status, c.code, fault.KindOf(err), err)
		}
	}
}
