package states_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

const (
	waits = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}`
	calls = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"f","End":true}}}`
	role  = "arn:aws:iam::000000000000:role/r"
)

// The emulator refuses requests with the error codes of AWS.
// https://docs.aws.amazon.com/step-functions/latest/apireference/API_Operations.html
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, "", nil)
		m := h.machine("m", waits)
		e := h.start(m, "e", `{"a":1}`)
		ctx := t.Context()
		create := func(name, definition string) error {
			_, err := h.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: &name, Definition: &definition, RoleArn: aws.String(role)})
			return err
		}
		start := func(machine, name, input string) error {
			_, err := h.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &machine, Name: &name, Input: &input})
			return err
		}
		token := func(token, output string) error {
			_, err := h.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: &output})
			return err
		}
		history := func(arn, next string) error {
			_, err := h.GetExecutionHistory(ctx, &sfn.GetExecutionHistoryInput{ExecutionArn: &arn, NextToken: &next})
			return err
		}
		describe := func(arn string) error {
			_, err := h.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{StateMachineArn: &arn, Definition: aws.String(waits)})
			return err
		}
		_, update := h.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{StateMachineArn: &m})
		_, express := h.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("x"), Definition: aws.String(waits), RoleArn: aws.String(role), Type: types.StateMachineTypeExpress})
		_, noRole := h.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("x"), Definition: aws.String(waits), RoleArn: aws.String("r")})
		_, stop := h.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: aws.String(e + "x")})
		_, list := h.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: aws.String(m + "x")})
		_, unknown := h.ListActivities(ctx, &sfn.ListActivitiesInput{})
		for _, c := range []struct {
			what string
			err  error
			want string
		}{
			{"the same machine again", create("m", waits), "<nil>"},
			{"another machine of that name", create("m", calls), "StateMachineAlreadyExists"},
			{"a machine that is none", create("x", `{}`), "InvalidDefinition"},
			{"a machine whose name has a blank", create("a b", waits), "InvalidName"},
			{"a machine whose name is too long", create(strings.Repeat("n", 81), waits), "InvalidName"},
			{"an express machine", express, "StateMachineTypeNotSupported"},
			{"a role that is none", noRole, "InvalidArn"},
			{"an update of nothing", update, "MissingRequiredParameter"},
			{"a machine that is not there", describe(m + "x"), "StateMachineDoesNotExist"},
			{"a machine's ARN that is none", describe("m"), "InvalidArn"},
			{"the same start again, while it runs", start(m, "e", `{"a":1}`), "<nil>"},
			{"a start of that name with another input", start(m, "e", `{"a":2}`), "ExecutionAlreadyExists"},
			{"a start whose name has a slash", start(m, "a/b", `{}`), "InvalidName"},
			{"a start whose name is too long", start(m, strings.Repeat("n", 81), `{}`), "InvalidName"},
			{"an input that is no JSON", start(m, "x", `{`), "InvalidExecutionInput"},
			{"an input that is too large", start(m, "x", `"`+strings.Repeat("x", 262144)+`"`), "InvalidExecutionInput"},
			{"a start of a machine that is not there", start(m+"x", "x", `{}`), "StateMachineDoesNotExist"},
			{"a history that is not there", history(e+"x", ""), "ExecutionDoesNotExist"},
			{"a history of what is no execution", history(m, ""), "InvalidArn"},
			{"a page that was never given", history(e, "zzz"), "InvalidToken"},
			{"a stop of what is not there", stop, "ExecutionDoesNotExist"},
			{"a list of a machine that is not there", list, "StateMachineDoesNotExist"},
			{"a token that was never given", token("AAAA", `{}`), "InvalidToken"},
			{"an output that is no JSON", token("AAAA", `{`), "InvalidOutput"},
			{"an operation that there is not", unknown, "UnknownOperationException"},
		} {
			if got := code(c.err); got != c.want {
				t.Errorf("%s: %s, not %s", c.what, got, c.want)
			}
		}
		h.waitFor(e, types.ExecutionStatusSucceeded)
		if got := code(start(m, "e", `{"a":1}`)); got != "ExecutionAlreadyExists" {
			t.Errorf("the same start again, when it is over: %s", got)
		}
	})
}

// A task fails with an error name that a machine can catch.
// https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html
func TestFailures(t *testing.T) {
	const token = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken","Parameters":{"FunctionName":"f","Payload":{"token.$":"$$.Task.Token"}},"TimeoutSeconds":60,"End":true}}}`
	for _, c := range []struct {
		what, machine string
		f             function
		status        types.ExecutionStatus
		name, cause   string
		last          types.HistoryEventType // before the end
	}{
		{"the function's own error", calls, func(context.Context, string, []byte) ([]byte, error) { return nil, functionError{"Boom", "oh <no>"} },
			types.ExecutionStatusFailed, "Boom", `{"errorMessage":"oh <no>","errorType":"Boom"}`, types.HistoryEventTypeLambdaFunctionFailed},
		{"the service's error", calls, func(context.Context, string, []byte) ([]byte, error) { return nil, errors.New("broken") },
			types.ExecutionStatusFailed, "Lambda.Unknown", "broken", types.HistoryEventTypeLambdaFunctionFailed},
		{"no functions at all", calls, nil,
			types.ExecutionStatusFailed, "Lambda.Unknown", "the local emulator of Step Functions has no functions", types.HistoryEventTypeLambdaFunctionFailed},
		{"a function that waits too long for its token", token, func(context.Context, string, []byte) ([]byte, error) { return nil, nil },
			types.ExecutionStatusFailed, "States.Timeout", "the task took longer than 1m0s", types.HistoryEventTypeTaskTimedOut},
		{"a function that takes too long itself", strings.Replace(calls, `"f"`, `"f","TimeoutSeconds":60`, 1), func(context.Context, string, []byte) ([]byte, error) { time.Sleep(time.Hour); return nil, nil },
			types.ExecutionStatusFailed, "States.Timeout", "the task took longer than 1m0s", types.HistoryEventTypeLambdaFunctionTimedOut},
		{"a machine that takes too long", strings.Replace(waits, `{`, `{"TimeoutSeconds":60,`, 1), nil,
			types.ExecutionStatusTimedOut, "", "", types.HistoryEventTypeWaitStateEntered},
		{"a Fail", `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"Failed","Cause":"A step failed."}}}`, nil,
			types.ExecutionStatusFailed, "Failed", "A step failed.", types.HistoryEventTypeFailStateEntered},
		{"a loop without end", `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"C"},"C":{"Type":"Choice","Choices":[{"Variable":"$.x","IsPresent":true,"Next":"E"}],"Default":"A"},"E":{"Type":"Succeed"}}}`, nil,
			types.ExecutionStatusFailed, "States.Runtime", "The execution reached the maximum number of history events (25000).", types.HistoryEventTypePassStateExited},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, "", c.f)
				arn := h.start(h.machine("m", c.machine), "e", `{}`)
				out := h.waitFor(arn, c.status)
				if aws.ToString(out.Error) != c.name || aws.ToString(out.Cause) != c.cause {
					t.Errorf("%s: %s", aws.ToString(out.Error), aws.ToString(out.Cause))
				}
				last, err := h.GetExecutionHistory(t.Context(), &sfn.GetExecutionHistoryInput{ExecutionArn: &arn, ReverseOrder: true, MaxResults: 2})
				if err != nil {
					t.Fatal(err)
				}
				if got := last.Events[1].Type; got != c.last {
					t.Errorf("before the end came %s", got)
				}
				if n := last.Events[0].Id; c.name == "States.Runtime" && n != 25000 {
					t.Errorf("the last event is number %d", n)
				}
				if got, want := h.statuses(), "RUNNING "+string(c.status); got != want {
					t.Errorf("events: %s, not %s", got, want)
				}
			})
		})
	}
}

// The token of a task that has timed out cannot be answered.
// https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html
func TestTokenOfTaskThatTimedOut(t *testing.T) {
	const machine = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken","Parameters":{"FunctionName":"f","Payload.$":"$$.Task.Token"},"TimeoutSeconds":60,"End":true}}}`
	synctest.Test(t, func(t *testing.T) {
		tokens := make(chan string, 1)
		h := open(t, "", func(_ context.Context, _ string, payload []byte) ([]byte, error) {
			tokens <- strings.Trim(string(payload), `"`)
			return []byte(`{}`), nil
		})
		execution := h.start(h.machine("m", machine), "e", `{}`)
		token := <-tokens
		h.waitFor(execution, types.ExecutionStatusFailed)
		if _, err := h.SendTaskSuccess(t.Context(), &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String(`{}`)}); code(err) != "TaskTimedOut" {
			t.Error(err)
		}
	})
}

// Executions are listed by status, the newest first. New executions do not shift the pages.
func TestLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, "", nil)
		m := h.machine("m", waits)
		h.start(h.machine("other", waits), "o", `{}`)
		var want []string
		for i := range 7 {
			name := fmt.Sprintf("e%d", i)
			arn := h.start(m, name, `{}`)
			if i%2 == 0 {
				if _, err := h.StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: &arn, Error: aws.String("Enough"), Cause: aws.String("of it")}); err != nil {
					t.Fatal(err)
				}
				want = append([]string{name}, want...)
			}
			time.Sleep(time.Second)
		}
		var got []string
		pages := sfn.NewListExecutionsPaginator(h.Client, &sfn.ListExecutionsInput{StateMachineArn: &m, StatusFilter: types.ExecutionStatusAborted, MaxResults: 2})
		for pages.HasMorePages() {
			p, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range p.Executions {
				got = append(got, *e.Name)
			}
			h.start(m, fmt.Sprintf("late%d", len(got)), `{}`)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, not %v", got, want)
		}
		out := h.describe(strings.Replace(m, "stateMachine", "execution", 1) + ":e0")
		if out.Status != types.ExecutionStatusAborted || *out.Error != "Enough" || *out.Cause != "of it" || out.StopDate == nil {
			t.Errorf("stopped: %+v", out)
		}
		machines, err := h.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{MaxResults: 1})
		if err != nil || len(machines.StateMachines) != 1 || machines.NextToken == nil {
			t.Errorf("%+v %v", machines, err)
		}
	})
}

// An execution keeps the definition that it was started with.
// https://docs.aws.amazon.com/step-functions/latest/apireference/API_UpdateStateMachine.html
func TestUpdateKeepsRunningExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, "", func(context.Context, string, []byte) ([]byte, error) { return []byte(`"new"`), nil })
		m := h.machine("m", waits)
		old := h.start(m, "old", `"old"`)
		if _, err := h.UpdateStateMachine(t.Context(), &sfn.UpdateStateMachineInput{StateMachineArn: &m, Definition: aws.String(calls)}); err != nil {
			t.Fatal(err)
		}
		if out := h.waitFor(h.start(m, "new", `{}`), types.ExecutionStatusSucceeded); *out.Output != `"new"` {
			t.Error(*out.Output)
		}
		h.waitFor(old, types.ExecutionStatusSucceeded)
		if got := h.statuses(); got != "RUNNING RUNNING SUCCEEDED SUCCEEDED" {
			t.Error(got)
		}
	})
}

// An event has the fields that EventBridge's rules match.
// https://docs.aws.amazon.com/step-functions/latest/dg/cw-events.html
func TestEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, "", nil)
		m := h.machine("m", `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"Failed","Cause":"so"}}}`)
		began := time.Now().UnixMilli()
		e := h.start(m, "run-1", `{"run":"r"}`)
		h.waitFor(e, types.ExecutionStatusFailed)
		synctest.Wait()
		d := h.events[1]
		for field, want := range map[string]any{"executionArn": e, "stateMachineArn": m, "name": "run-1", "status": "FAILED", "input": `{"run":"r"}`,
			"output": nil, "error": "Failed", "cause": "so", "startDate": began, "stopDate": began} {
			if d[field] != want {
				t.Errorf("%s: %v, not %v", field, d[field], want)
			}
		}
	})
}

// Without execution data, a history has the types of events but no inputs and outputs.
func TestHistoryWithoutData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, "", func(context.Context, string, []byte) ([]byte, error) { return []byte(`"s3cret"`), nil })
		e := h.start(h.machine("m", calls), "e", `"s3cret"`)
		h.waitFor(e, types.ExecutionStatusSucceeded)
		for _, data := range []bool{true, false} {
			out, err := h.GetExecutionHistory(t.Context(), &sfn.GetExecutionHistoryInput{ExecutionArn: &e, IncludeExecutionData: &data})
			if err != nil {
				t.Fatal(err)
			}
			entered := out.Events[1].StateEnteredEventDetails
			if *entered.Name != "T" || (entered.Input != nil) != data {
				t.Errorf("data=%v: %+v", data, entered)
			}
		}
	})
}
