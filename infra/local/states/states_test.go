package states_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/states"
)

// A fixture is the emulator of Step Functions with a client and functions.
type fixture struct {
	*sfn.Client
	t       *testing.T
	service *states.Service

	mu     sync.Mutex
	events []map[string]any
}

type function func(ctx context.Context, name string, payload []byte) ([]byte, error)

// open opens a fixture whose functions are f. It is closed with the test, or before. Running executions wait for Resume, because
// functions use the client.
func open(t *testing.T, dir string, f function) *fixture {
	t.Helper()
	h := &fixture{t: t}
	s, err := states.Open(dir, states.Options{Invoke: f, Emit: h.record, Hold: true})
	if err != nil {
		t.Fatal(err)
	}
	h.service = s
	t.Cleanup(h.close)
	h.Client = sfn.New(sfn.Options{Region: "us-east-1", BaseEndpoint: aws.String("http://states"),
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		HTTPClient:  &http.Client{Transport: gateway.Transport{Handler: s}}})
	return h
}

func (h *fixture) close() {
	if err := h.service.Close(); err != nil {
		h.t.Error(err)
	}
}

func (h *fixture) record(source, detailType string, resources []string, detail any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d, _ := detail.(map[string]any)
	h.events = append(h.events, d)
	if source != "aws.states" || detailType != "Step Functions Execution Status Change" || len(resources) != 1 {
		h.t.Errorf("event of %s: %s about %v", source, detailType, resources)
	}
}

// statuses lists the statuses of the events that were sent. An event is sent after its change can be read, so statuses waits until
// the service has nothing left to do at this moment.
func (h *fixture) statuses() string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, e := range h.events {
		out = append(out, fmt.Sprint(e["status"]))
	}
	return strings.Join(out, " ")
}

// machine makes a machine and returns its ARN.
func (h *fixture) machine(name, definition string) string {
	h.t.Helper()
	out, err := h.CreateStateMachine(h.t.Context(), &sfn.CreateStateMachineInput{Name: &name, Definition: &definition, RoleArn: aws.String("arn:aws:iam::000000000000:role/r")})
	if err != nil {
		h.t.Fatal(err)
	}
	return *out.StateMachineArn
}

func (h *fixture) start(machine, name, input string) string {
	h.t.Helper()
	out, err := h.StartExecution(h.t.Context(), &sfn.StartExecutionInput{StateMachineArn: &machine, Name: &name, Input: &input})
	if err != nil {
		h.t.Fatal(err)
	}
	return *out.ExecutionArn
}

func (h *fixture) describe(execution string) *sfn.DescribeExecutionOutput {
	h.t.Helper()
	out, err := h.DescribeExecution(h.t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &execution})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// ends waits until the execution has the status, at most a day of virtual time.
func (h *fixture) waitFor(execution string, status types.ExecutionStatus) *sfn.DescribeExecutionOutput {
	h.t.Helper()
	for range 24 * 360 {
		if out := h.describe(execution); out.Status != types.ExecutionStatusRunning {
			if out.Status != status {
				h.t.Fatalf("%s %s: %s, not %s", out.Status, aws.ToString(out.Error), aws.ToString(out.Cause), status)
			}
			return out
		}
		time.Sleep(10 * time.Second)
	}
	h.t.Fatal("it does not end")
	return nil
}

// history lists the events as "id<previous type", through pages of 3.
func (h *fixture) history(execution string) []types.HistoryEvent {
	h.t.Helper()
	var out []types.HistoryEvent
	pages := sfn.NewGetExecutionHistoryPaginator(h.Client, &sfn.GetExecutionHistoryInput{ExecutionArn: &execution, MaxResults: 3})
	for pages.HasMorePages() {
		p, err := pages.NextPage(h.t.Context())
		if err != nil {
			h.t.Fatal(err)
		}
		out = append(out, p.Events...)
	}
	return out
}

func code(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return fmt.Sprint(err)
}

// own is an error that a function itself returned.
type functionError struct{ kind, text string }

func (e functionError) Error() string     { return e.text }
func (e functionError) ErrorType() string { return e.kind }

const epoch = `{"StartAt":"Plan","States":{
 "Plan":{"Type":"Task","Resource":"plan","Next":"Execute"},
 "Execute":{"Type":"Map","ItemsPath":"$.ready","ItemSelector":{"step.$":"$$.Map.Item.Value"},"MaxConcurrency":1,"ResultPath":null,"Next":"Watch",
  "ItemProcessor":{"StartAt":"Step","States":{"Step":{"Type":"Task","Resource":"step","Catch":[{"ErrorEquals":["States.ALL"],"ResultPath":null,"Next":"Later"}],"End":true},"Later":{"Type":"Pass","End":true}}}},
 "Watch":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken","Parameters":{"FunctionName":"watch","Payload":{"state.$":"$","token.$":"$$.Task.Token"}},
  "TimeoutSecondsPath":"$.wait","Catch":[{"ErrorEquals":["States.Timeout"],"ResultPath":null,"Next":"Again"}],"Next":"Done"},
 "Again":{"Type":"Pass","Next":"Watch"},
 "Done":{"Type":"Succeed"}}}`

// An execution waits for a task token that is answered at the second poll, and its
// history has the events that AWS would record.
func TestExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h *fixture
		polls := 0
		h = open(t, "", func(ctx context.Context, name string, payload []byte) ([]byte, error) {
			switch name {
			case "plan":
				return []byte(`{"ready":["a","b"],"wait":300}`), nil
			case "step":
				if strings.Contains(string(payload), `"b"`) {
					return nil, functionError{"Boom", "it failed"}
				}
				return []byte(`{}`), nil
			}
			var in struct{ Token string }
			if err := json.Unmarshal(payload, &in); err != nil {
				return nil, err
			}
			if polls++; polls == 2 {
				time.Sleep(7 * time.Second)
				if _, err := h.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &in.Token, Output: aws.String(`{"state":"over"}`)}); err != nil {
					return nil, err
				}
				_, err := h.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &in.Token, Output: aws.String(`{}`)})
				if code(err) != "TaskTimedOut" {
					t.Errorf("a used token: %v", err)
				}
			}
			return []byte(`null`), nil
		})
		begin := time.Now()
		arn := h.start(h.machine("m", epoch), "run-1", `{"run":"r"}`)
		out := h.waitFor(arn, types.ExecutionStatusSucceeded)
		if *out.Output != `{"state":"over"}` || *out.Input != `{"run":"r"}` {
			t.Errorf("output %s of %s", *out.Output, *out.Input)
		}
		if took := out.StopDate.Sub(begin).Round(time.Second); took != 307*time.Second {
			t.Errorf("took %v", took)
		}
		var history []string
		for i, e := range h.history(arn) {
			if e.Id != int64(i+1) {
				t.Errorf("event %d has ID %d", i+1, e.Id)
			}
			history = append(history, fmt.Sprintf("%d<%d %s", e.Id, e.PreviousEventId, e.Type))
		}
		if want := strings.Split(strings.TrimSpace(wantHistory), "\n"); !slices.Equal(history, want) {
			t.Errorf("history\n%s", strings.Join(history, "\n"))
		}
		if got := h.statuses(); got != "RUNNING SUCCEEDED" {
			t.Errorf("events: %s", got)
		}
	})
}

const wantHistory = `
1<0 ExecutionStarted
2<0 TaskStateEntered
3<2 LambdaFunctionScheduled
4<3 LambdaFunctionStarted
5<4 LambdaFunctionSucceeded
6<5 TaskStateExited
7<6 MapStateEntered
8<7 MapStateStarted
9<8 MapIterationStarted
10<9 TaskStateEntered
11<10 LambdaFunctionScheduled
12<11 LambdaFunctionStarted
13<12 LambdaFunctionSucceeded
14<13 TaskStateExited
15<14 MapIterationSucceeded
16<8 MapIterationStarted
17<16 TaskStateEntered
18<17 LambdaFunctionScheduled
19<18 LambdaFunctionStarted
20<19 LambdaFunctionFailed
21<20 TaskStateExited
22<21 PassStateEntered
23<22 PassStateExited
24<23 MapIterationSucceeded
25<24 MapStateSucceeded
26<25 MapStateExited
27<26 TaskStateEntered
28<27 TaskScheduled
29<28 TaskStarted
30<29 TaskSubmitted
31<30 TaskTimedOut
32<31 TaskStateExited
33<32 PassStateEntered
34<33 PassStateExited
35<34 TaskStateEntered
36<35 TaskScheduled
37<36 TaskStarted
38<37 TaskSucceeded
39<38 TaskStateExited
40<39 SucceedStateEntered
41<40 SucceedStateExited
42<41 ExecutionSucceeded`
