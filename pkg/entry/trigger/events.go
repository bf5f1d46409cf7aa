package trigger

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// IsScheduleCall reports whether an event is that of a project's schedule.
func IsScheduleCall(e events.EventBridgeEvent) bool { return e.Source == project.ScheduleSource }

// scheduleName is the form of the names of schedules, as in configurations.
var scheduleName = pattern.New(`^[A-Za-z0-9][-_A-Za-z0-9]{0,31}$`)

// ErrSkipped means that a schedule requests nothing, because its exception has the day.
var ErrSkipped = errors.New("the schedule does not run on this day")

// ScheduleRequest returns the request of a schedule. Two events about one time of the schedule
// make the same request. The error is Invalid if the event is not that of a schedule, and ErrSkipped if it requests nothing.
func ScheduleRequest(e events.EventBridgeEvent) (run.Request, error) {
	var c project.Call
	if err := readDetail(e, project.ScheduleSource, project.ScheduleEvent, "calls a schedule", "schedule call", &c); err != nil {
		return run.Request{}, err
	}
	name, environment, _ := strings.Cut(c.Project, "@")
	id, known := projectOf(name, environment)
	switch {
	case !known:
		return run.Request{}, fault.New(fault.Invalid, "event %s: %q is not a project and environment such as shop@prod", e.ID, short(c.Project))
	case !scheduleName.MatchString(c.Schedule):
		return run.Request{}, fault.New(fault.Invalid, "event %s: %q is not the name of a schedule", e.ID, short(c.Schedule))
	case !plan.AllOperations().Of(c.Operation).Schedulable:
		return run.Request{}, fault.New(fault.Invalid, "event %s: schedules cannot request the operation %q: they can request %s", e.ID, short(c.Operation), strings.Join(plan.AllOperations().Schedulable(), ", "))
	case e.Time.IsZero():
		return run.Request{}, fault.New(fault.Invalid, "event %s: it does not have the time of schedule %s", e.ID, c.Schedule)
	}
	skipped, err := c.Except.On(e.Time)
	if err == nil && skipped != "" {
		err = fmt.Errorf("schedule %s of %s, %s: %w", c.Schedule, id, skipped, ErrSkipped)
	}
	if err != nil {
		return run.Request{}, err
	}
	authors := c.Authors
	if !c.KnownAuthors() {
		authors = []string{""}
	}
	return run.Request{
		ID:      engine.RunID("schedule", id, c.Schedule, e.Time.UTC().Format(time.RFC3339)),
		Project: id, Operation: c.Operation, Schedule: c.Schedule, Who: "schedule " + c.Schedule, Subject: "schedule " + c.Schedule,
		Authors: authors,
	}, nil
}

// IsSweep reports whether an event is that of the rule that starts a sweep.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-rule-schedule.html
func IsSweep(e events.EventBridgeEvent) bool {
	return e.Source == "aws.events" && e.DetailType == "Scheduled Event"
}

// IsExecutionEvent reports whether an event is about the status of an execution of a
// state machine.
func IsExecutionEvent(e events.EventBridgeEvent) bool {
	return e.Source == "aws.states" && e.DetailType == "Step Functions Execution Status Change"
}

// execution is the detail of that event.
// https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
type execution struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Input  string `json:"input"` // "" if it was too long for the event
}

// failedStatuses are the statuses of an execution that ended without a final state of its run,
// or whose run failed.
var failedStatuses = []string{"FAILED", "TIMED_OUT", "ABORTED"}

// FailedExecution returns the run and epoch of an execution that failed. The error is
// Invalid if it did not fail, or if Stackwright did not start it. Stackwright names its
// executions <run>-<epoch>, and their input is these two.
func FailedExecution(e events.EventBridgeEvent) (engine.ExecutionInput, error) {
	none := engine.ExecutionInput{}
	var x execution
	if err := readDetail(e, "aws.states", "Step Functions Execution Status Change", "recovers a run", "Step Functions event", &x); err != nil {
		return none, err
	}
	if !slices.Contains(failedStatuses, x.Status) {
		return none, fault.New(fault.Invalid, "execution %q is %q: there is nothing to recover", x.Name, x.Status)
	}
	named, ok := isExecution(x.Name)
	if !ok {
		return none, fault.New(fault.Invalid, "execution %q was not started by Stackwright: its executions are named <run>-<epoch>", x.Name)
	}
	given := named
	if x.Input != "" {
		if err := json.Unmarshal([]byte(x.Input), &given); err != nil {
			return none, fault.New(fault.Invalid, "execution %q was not started by Stackwright: its input has no run and epoch", x.Name)
		}
	}
	if given != named {
		return none, fault.New(fault.Invalid, "execution %q was not started by Stackwright: its input has run %q and epoch %d", x.Name, given.Run, given.Epoch)
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
