package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/policy"
	"github.com/stackwright/stackwright/pkg/wire"
)

// A denier is an AWS without an access file that denies every other request. It counts those.
type denier struct{ calls atomic.Int32 }

// Do is aws.HTTPClient.
func (d *denier) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, access.Key) {
		return noAccessFile(r), nil
	}
	d.calls.Add(1)
	w := newAnswer(r)
	return w, nil
}

// noAccessFile answers that the object does not exist, as S3 does.
func noAccessFile(r *http.Request) *http.Response {
	body := `<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>`
	return &http.Response{
		StatusCode: http.StatusNotFound, Request: r, Header: http.Header{"Content-Type": {"application/xml"}},
		Body: readCloser{strings.NewReader(body)}, ContentLength: int64(len(body)),
	}
}

// newAnswer denies a request as DynamoDB does.
func newAnswer(r *http.Request) *http.Response {
	body := `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"}`
	return &http.Response{
		StatusCode: http.StatusBadRequest, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: readCloser{strings.NewReader(body)}, ContentLength: int64(len(body)),
	}
}

// A readCloser needs no closing.
type readCloser struct{ *strings.Reader }

// Close is io.Closer.
func (readCloser) Close() error { return nil }

// newTestApp returns an App on an AWS that denies every request.
func newTestApp(t *testing.T) (h *wire.App, calls *atomic.Int32, log *bytes.Buffer) {
	t.Helper()
	env, err := wire.FromEnv(func(k string) string { return complete()[k] })
	if err != nil {
		t.Fatal(err)
	}
	d, log := &denier{}, &bytes.Buffer{}
	cfg := aws.Config{Region: env.Region, HTTPClient: d, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	return wire.New(cfg, env, log), &d.calls, log
}

// invoke calls a function as Lambda does.
func invoke(t *testing.T, h *wire.App, name, payload string) (string, error) {
	t.Helper()
	function, ok := h.Functions(policy.Checker{})[name]
	if !ok {
		t.Fatalf("there is no function %s", name)
	}
	answer, err := lambda.NewHandler(function).Invoke(t.Context(), []byte(payload))
	return string(answer), err
}

func TestNewSendsNoRequest(t *testing.T) {
	h, calls, _ := newTestApp(t)
	if d := cmp.Diff(wire.Names(), slices.Sorted(maps.Keys(h.Functions(policy.Checker{})))); d != "" {
		t.Errorf("the functions are not those that are named: %s", d)
	}
	if calls.Load() > 0 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestErrorTypeIsTheKindOfTheFault(t *testing.T) {
	h, _, log := newTestApp(t)
	for name, payload := range map[string]string{
		"plan":         `{"run": "abc", "epoch": 1}`,
		"execute-step": `{"loop": {"run": "abc", "epoch": 1, "state": "ready", "ready": [0], "wait": 5}, "retries": 0}`,
		"wait-status":  `{"loop": {"run": "abc", "epoch": 1, "state": "watch", "ready": [], "wait": 5}, "token": "t"}`,
		"start": `{"source": "aws.s3", "detail-type": "Object Created", "detail":
			{"bucket": {"name": "stackwright"}, "object": {"key": "projects/shop/prod.zip", "version-id": "1"}, "requester": "111122223333"}}`,
		"stack-event": `{"source": "aws.cloudformation", "detail-type": "CloudFormation Stack Status Change", "detail":
			{"client-request-token": "sw-abc-0-1-00112233445566778899aabbccddeeff", "status-details": {"status": "CREATE_COMPLETE"}}}`,
	} {
		log.Reset()
		_, err := invoke(t, h, name, payload)
		got, ok := errors.AsType[messages.InvokeResponse_Error](err)
		if !ok || got.Type != "Denied" {
			t.Errorf("%s: %#v", name, err)
		}
		var line struct{ Level, Kind, Error, Run, Token string }
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatalf("%s logs %q: %v", name, log, err)
		}
		if line.Level != "ERROR" || line.Kind != "Denied" || line.Error == "" || line.Run+line.Token == "" {
			t.Errorf("%s logs %s", name, log)
		}
	}
}

// The start function also handles failed executions and the timer of the sweep.
func TestStartRecoversAndSweeps(t *testing.T) {
	h, calls, log := newTestApp(t)
	for what, payload := range map[string]string{
		"recover": `{"source": "aws.states", "detail-type": "Step Functions Execution Status Change", "detail":
			{"name": "abcdefghijklmnopqrs2-3", "status": "ABORTED", "input": "{\"run\":\"abcdefghijklmnopqrs2\",\"epoch\":3}"}}`,
		"sweep": `{"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}`,
	} {
		log.Reset()
		before := calls.Load()
		if _, err := invoke(t, h, "start", payload); err == nil {
			t.Errorf("%s: no error, though AWS denies every request", what)
		}
		if calls.Load() == before || !strings.Contains(log.String(), `"msg":"`+what+`"`) || !strings.Contains(log.String(), `"kind":"Denied"`) {
			t.Errorf("%s: %d calls, and it logs %s", what, calls.Load()-before, log)
		}
	}
	before := calls.Load()
	theirs := `{"source": "aws.states", "detail-type": "Step Functions Execution Status Change", "detail": {"name": "by-hand", "status": "FAILED", "input": "{}"}}`
	if _, err := invoke(t, h, "start", theirs); kind(err) != "Invalid" || calls.Load() > before {
		t.Errorf("a foreign execution: %v, %d calls", err, calls.Load()-before)
	}
}

// kind is the error type that Lambda reports.
func kind(err error) string {
	reported, _ := errors.AsType[messages.InvokeResponse_Error](err)
	return reported.Type
}

// An event that makes no sense fails before any request is sent, so that it ends in
// the dead-letter queue.
func TestMalformedEventsFailWithoutRequests(t *testing.T) {
	h, calls, log := newTestApp(t)
	for name, payload := range map[string]string{
		"start": `{"source": "aws.s3", "detail-type": "Object Created", "detail":
			{"bucket": {"name": "stackwright"}, "object": {"key": "templates/shop.zip", "version-id": "1"}}}`,
		"stack-event": `{"source": "aws.cloudformation", "detail-type": "CloudFormation Stack Status Change", "detail": {}}`,
		"notify":      `{"source": "stackwright", "detail-type": "Stackwright Run State Change", "id": "e", "detail": {}}`,
	} {
		log.Reset()
		if _, err := invoke(t, h, name, payload); kind(err) != "Invalid" {
			t.Errorf("%s says %v", name, err)
		}
		if !strings.Contains(log.String(), `"kind":"Invalid"`) {
			t.Errorf("%s logs %s", name, log)
		}
	}
	// An event of a foreign stack is no error.
	answer, err := invoke(t, h, "stack-event", `{"source": "aws.cloudformation", "detail-type": "CloudFormation Stack Status Change", "detail":
		{"client-request-token": "theirs", "status-details": {"status": "CREATE_COMPLETE"}}}`)
	if err != nil || answer != "{}" {
		t.Errorf("answers %s, %v", answer, err)
	}
	if calls.Load() > 0 {
		t.Errorf("%d calls", calls.Load())
	}
}
