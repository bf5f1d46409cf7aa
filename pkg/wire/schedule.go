package wire

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/scheduler"

	"github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// The variables that name the schedule group, and the function that its schedules
// call. They are optional together.
const (
	envScheduleGroup = "STACKWRIGHT_SCHEDULE_GROUP"
	envScheduleRole  = "STACKWRIGHT_SCHEDULE_ROLE"
	envStart         = "STACKWRIGHT_START"
	envScheduleDead  = "STACKWRIGHT_SCHEDULE_DEAD" // optional by itself
)

// scheduling holds the patterns of those variables.
var scheduling = []variable{
	{envScheduleGroup, pattern.New(`^[0-9A-Za-z_.-]{1,64}$`), "the name of the schedule group", false},
	{envScheduleRole, pattern.New(`^arn:aws[a-z-]*:iam::\d{12}:role/.+$`), "the ARN of the role of the schedules", false},
	{envStart, pattern.New(`^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:.+$`), "the ARN of the function start", false},
	{envScheduleDead, pattern.New(`^arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:.+$`), "the ARN of the dead-letter queue of the schedules", true},
}

// groupFrom reads the schedule group, and lists what is missing or malformed.
func groupFrom(getenv func(string) string) (g scheduler.Group, wrong []string) {
	g = scheduler.Group{Name: getenv(envScheduleGroup), Role: getenv(envScheduleRole), Function: getenv(envStart), Dead: getenv(envScheduleDead)}
	if g == (scheduler.Group{}) {
		return g, nil
	}
	return g, faults(scheduling, ", but other variables of schedules are set", getenv)
}

// A scheduleStore sets and lists schedules.
type scheduleStore interface {
	engine.Schedules
	api.Schedules
}

// schedules returns the schedules of the installation.
func schedules(cfg aws.Config, g scheduler.Group) scheduleStore {
	if g.Name == "" {
		return unscheduled{}
	}
	return scheduler.New(sdk.NewFromConfig(cfg), g)
}

// unscheduled holds the schedules of an installation without a schedule group: none.
type unscheduled struct{}

// SetSchedules implements engine.Schedules. It refuses every schedule.
func (unscheduled) SetSchedules(_ context.Context, id string, wanted map[string]project.Schedule, _ []string, _ time.Time) error {
	if len(wanted) == 0 {
		return nil
	}
	return fault.New(fault.Refused, "this installation has no schedule group: set %s of its function plan, or remove the key schedules from %s",
		strings.Join([]string{envScheduleGroup, envScheduleRole, envStart}, ", "), id)
}

// List implements api.Schedules.
func (unscheduled) List(context.Context, string) ([]project.Scheduled, error) { return nil, nil }
