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

// A wire answers every request with the same answer, and keeps the request.
type wire struct {
	status int // negative for no answer
	body   string
	target string
	asked  string
}

// RoundTrip carries out one request.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.target, w.asked = r.Header.Get("X-Amz-Target"), string(asked)
	if w.status < 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: w.status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(w.body)), Request: r}, nil
}

// arn is the machine under test.
const arn = "arn:aws:states:us-east-1:000000000000:stateMachine:stackwright"

func open(w *wire) *Machine {
	return New(sfn.NewFromConfig(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient: &http.Client{Transport: w}, RetryMaxAttempts: 1,
	}), arn)
}

// No more than IDs pass through the machine.
func TestWhatIsSaid(t *testing.T) {
	w := &wire{status: 200, body: `{"executionArn":"x","startDate":1}`}
	m := open(w)
	if err := m.Start(t.Context(), "one-1", engine.ExecutionInput{Run: "one", Epoch: 1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"one-1"`, `"input":"{\"run\":\"one\",\"epoch\":1}"`, `"stateMachineArn":"` + arn + `"`} {
		if !strings.Contains(w.asked, want) {
			t.Errorf("start: no %s in %s", want, w.asked)
		}
	}
	w.body = "{}"
	if err := m.Answer(t.Context(), "token", engine.LoopState{Run: "one", Epoch: 1, State: run.StateReady, Ready: []int{0, 3}, Wait: 60}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"taskToken":"token"`, `"output":"{\"run\":\"one\",\"epoch\":1,\"state\":\"ready\",\"ready\":[0,3],\"wait\":60}"`} {
		if !strings.Contains(w.asked, want) {
			t.Errorf("answer: no %s in %s", want, w.asked)
		}
	}
	if !strings.HasSuffix(w.target, ".SendTaskSuccess") {
		t.Errorf("asked for %s", w.target)
	}
}

// To start what was started, and to answer what was answered, is no error;
// everything else is of a kind.
func TestAnswers(t *testing.T) {
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
		m := open(&wire{status: c.status, body: `{"__type":"` + c.code + `","message":"m"}`})
		if err := m.Start(t.Context(), "one-1", engine.ExecutionInput{}); fault.KindOf(err) != c.start || (err == nil) != (c.start == "") {
			t.Errorf("start: %d %s is %q: %v", c.status, c.code, fault.KindOf(err), err)
		}
		if err := m.Answer(t.Context(), "token", engine.LoopState{}); fault.KindOf(err) != c.answer || (err == nil) != (c.answer == "") {
			t.Errorf("answer: %d %s is %q: %v", c.status, c.code, fault.KindOf(err), err)
		}
	}
}
