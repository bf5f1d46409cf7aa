package trigger_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/fault"
)

// stood is the event of an execution's status.
func stood(t testing.TB, name, status, input string) events.EventBridgeEvent {
	t.Helper()
	detail, err := json.Marshal(map[string]any{
		"executionArn":    "arn:aws:states:us-east-1:111122223333:execution:stackwright:" + name,
		"stateMachineArn": "arn:aws:states:us-east-1:111122223333:stateMachine:stackwright",
		"name":            name, "status": status, "startDate": 1772366400000, "stopDate": 1772366460000,
		"input": input, "inputDetails": map[string]any{"included": input != ""}, "output": nil, "error": "States.Runtime", "cause": "",
	})
	if err != nil {
		t.Fatal(err)
	}
	return events.EventBridgeEvent{ID: "e1", Source: "aws.states", DetailType: "Step Functions Execution Status Change", Detail: detail}
}

// An execution of ours that went down names the run that it executed, also where its input was too long for the event.
func TestFailed(t *testing.T) {
	const id = "abcdefghijklmnopqrs2"
	for _, status := range []string{"FAILED", "TIMED_OUT", "ABORTED"} {
		for _, input := range []string{`{"run":"` + id + `","epoch":12}`, ""} {
			got, err := trigger.FailedExecution(stood(t, id+"-12", status, input))
			if want := (engine.ExecutionInput{Run: id, Epoch: 12}); err != nil || got != want {
				t.Errorf("%s %q: %+v %v", status, input, got, err)
			}
		}
	}
	detail := func(text string) events.EventBridgeEvent {
		e := stood(t, id+"-1", "FAILED", "")
		e.Detail = json.RawMessage(text)
		return e
	}
	for _, c := range []struct {
		event events.EventBridgeEvent
		want  string
	}{
		{stood(t, id+"-1", "SUCCEEDED", ""), "there is nothing to recover"},
		{stood(t, id+"-1", "RUNNING", ""), "there is nothing to recover"},
		{stood(t, id, "FAILED", ""), "was not started by Stackwright"},
		{stood(t, id+"-0", "FAILED", ""), "was not started by Stackwright"},
		{stood(t, id+"-01", "FAILED", ""), "was not started by Stackwright"},
		{stood(t, id+"-1-1", "FAILED", ""), "was not started by Stackwright"},
		{stood(t, "by-hand", "FAILED", `{"run":"`+id+`","epoch":1}`), "was not started by Stackwright"},
		{stood(t, id+"-1", "FAILED", `{"run":"`+id+`","epoch":2}`), "its input has run"},
		{stood(t, id+"-1", "FAILED", `[]`), "was not started by Stackwright"},
		{detail(`[]`), "detail of this Step Functions event"},
		{put(t, "projects/shop/prod.zip"), "recovers a run"},
	} {
		if _, err := trigger.FailedExecution(c.event); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.event.Detail, err, c.want)
		}
	}
}

// A schedule is known by who sent it and what it is called.
func TestScheduled(t *testing.T) {
	loop := events.EventBridgeEvent{Source: "aws.events", DetailType: "Scheduled Event", Detail: json.RawMessage("{}")}
	if !trigger.IsSweep(loop) || trigger.IsExecutionEvent(loop) {
		t.Error("a schedule is not known")
	}
	for _, e := range []events.EventBridgeEvent{put(t, "projects/shop/prod.zip"), stood(t, "x", "FAILED", ""), {Source: "me", DetailType: "Scheduled Event"}} {
		if trigger.IsSweep(e) {
			t.Errorf("%s of %s is taken for a schedule", e.DetailType, e.Source)
		}
	}
}
