package trigger

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Call reports whether an event is that of a project's schedule; Called reads it.
func Call(e events.EventBridgeEvent) bool { return e.Source == project.ScheduleSource }

// scheduleName is the form of the names of schedules, as in configurations.
var scheduleName = regexp.MustCompile(`^[A-Za-z0-9][-_A-Za-z0-9]{0,31}$`)

// Called returns the request of a schedule. Two events about one time of the schedule
// make the same request. The error is Invalid if the event is not that of a schedule.
func Called(e events.EventBridgeEvent) (run.Request, error) {
	var c project.Call
	if e.DetailType != project.ScheduleEvent || !Call(e) {
		return run.Request{}, fault.New(fault.Invalid, "event %q of %q: only %q of %q is a schedule's", e.DetailType, e.Source, project.ScheduleEvent, project.ScheduleSource)
	}
	if err := json.Unmarshal(e.Detail, &c); err != nil {
		return run.Request{}, fault.New(fault.Invalid, "event %s: its detail is no schedule's: %w", e.ID, err)
	}
	name, environment, _ := strings.Cut(c.Project, "@")
	id, known := projectOf(name, environment, true)
	switch {
	case !known:
		return run.Request{}, fault.New(fault.Invalid, "event %s: %q is no project and environment, as in shop@prod", e.ID, short(c.Project))
	case !scheduleName.MatchString(c.Schedule):
		return run.Request{}, fault.New(fault.Invalid, "event %s: %q is no name of a schedule", e.ID, short(c.Schedule))
	case !plan.AllOperations().Of(c.Operation).Schedulable:
		return run.Request{}, fault.New(fault.Invalid, "event %s: schedules cannot request the operation %q: they can request %s", e.ID, short(c.Operation), strings.Join(plan.AllOperations().Schedulable(), ", "))
	case e.Time.IsZero():
		return run.Request{}, fault.New(fault.Invalid, "event %s: it does not say when schedule %s came up", e.ID, c.Schedule)
	}
	return run.Request{
		ID:      engine.RunID("schedule", id, c.Schedule, e.Time.UTC().Format(time.RFC3339)),
		Project: id, Operation: c.Operation, Schedule: c.Schedule, Who: "schedule " + c.Schedule,
	}, nil
}
