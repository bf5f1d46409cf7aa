package trigger

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
)

// Scheduled reports whether an event is that of a schedule: it is time to sweep.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-rule-schedule.html
func Scheduled(e events.EventBridgeEvent) bool {
	return e.Source == "aws.events" && e.DetailType == "Scheduled Event"
}

// Execution reports whether an event is about the status of an execution of a state
// machine; Failed reads it.
func Execution(e events.EventBridgeEvent) bool {
	return e.Source == "aws.states" && e.DetailType == "Step Functions Execution Status Change"
}

// execution is the detail of that event.
// https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
type execution struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Input  string `json:"input"` // "" where it would not fit into the event
}

// dead are the statuses of an execution that ended without a final state of its run,
// or whose run failed.
var dead = []string{"FAILED", "TIMED_OUT", "ABORTED"}

// Failed returns the epoch whose execution has failed. The error is Invalid if none
// has, or if it is not one of ours: those are named <run>-<epoch>, and have just
// these two as input.
func Failed(e events.EventBridgeEvent) (engine.ExecutionInput, error) {
	none := engine.ExecutionInput{}
	if !Execution(e) {
		return none, fault.New(fault.Invalid, "event %q of %q: only \"Step Functions Execution Status Change\" of \"aws.states\" recovers a run", e.DetailType, e.Source)
	}
	var x execution
	if err := json.Unmarshal(e.Detail, &x); err != nil {
		return none, fault.New(fault.Invalid, "event %s: its detail is no Step Functions event: %w", e.ID, err)
	}
	if !slices.Contains(dead, x.Status) {
		return none, fault.New(fault.Invalid, "execution %q is %q: nothing is to be recovered", x.Name, x.Status)
	}
	named, ok := isExecution(x.Name)
	if !ok {
		return none, fault.New(fault.Invalid, "execution %q is none of ours: those are named <run>-<epoch>", x.Name)
	}
	given := named
	if x.Input != "" {
		if err := json.Unmarshal([]byte(x.Input), &given); err != nil {
			return none, fault.New(fault.Invalid, "execution %q is none of ours: its input says no run and epoch", x.Name)
		}
	}
	if given != named {
		return none, fault.New(fault.Invalid, "execution %q is none of ours: it was given run %q and epoch %d", x.Name, given.Run, given.Epoch)
	}
	return named, nil
}

// isExecution reads the name of an execution.
func isExecution(name string) (engine.ExecutionInput, bool) {
	id, number, ok := strings.Cut(name, "-")
	epoch, err := strconv.Atoi(number)
	if !ok || err != nil || epoch < 1 || strconv.Itoa(epoch) != number || !runID.MatchString(id) {
		return engine.ExecutionInput{}, false
	}
	return engine.ExecutionInput{Run: id, Epoch: epoch}, true
}
