package wire

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	schedule "github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// The variables that say where schedules are, and whom they call. They may be
// left out together.
const (
	envScheduleGroup = "STACKWRIGHT_SCHEDULE_GROUP"
	envScheduleRole  = "STACKWRIGHT_SCHEDULE_ROLE"
	envStart         = "STACKWRIGHT_START"
	envScheduleDead  = "STACKWRIGHT_SCHEDULE_DEAD" // may be left out alone
)

// scheduling is what those have to look like.
var scheduling = []struct {
	name string
	form *regexp.Regexp
	what string
}{
	{envScheduleGroup, regexp.MustCompile(`^[0-9A-Za-z_.-]{1,64}$`), "the name of the schedule group"},
	{envScheduleRole, regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/.+$`), "the ARN of the role that schedules have"},
	{envStart, regexp.MustCompile(`^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:.+$`), "the ARN of the function start"},
	{envScheduleDead, regexp.MustCompile(`^arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:.+$`), "the ARN of the queue for calls that were not taken"},
}

// groupFrom reads where schedules are, and lists what is missing or malformed.
func groupFrom(getenv func(string) string) (g schedule.Group, wrong []string) {
	g = schedule.Group{Name: getenv(envScheduleGroup), Role: getenv(envScheduleRole), Function: getenv(envStart), Dead: getenv(envScheduleDead)}
	if g == (schedule.Group{}) {
		return g, nil
	}
	for _, f := range scheduling {
		switch v := getenv(f.name); {
		case v == "" && f.name != envScheduleDead:
			wrong = append(wrong, f.name+" is missing, and others of schedules are not: set it to "+f.what)
		case v != "" && !f.form.MatchString(v):
			wrong = append(wrong, f.name+" is not "+f.what+": "+v)
		}
	}
	return g, wrong
}

// schedules are those of the installation, if it has a group for them.
func schedules(cfg aws.Config, g schedule.Group) engine.Schedules {
	if g.Name == "" {
		return unscheduled{}
	}
	return schedule.New(scheduler.NewFromConfig(cfg), g)
}

// unscheduled is an installation without a schedule group.
type unscheduled struct{}

// Arrange is engine.Schedules.
func (unscheduled) SetSchedules(_ context.Context, id string, wanted map[string]project.Schedule, _ time.Time) error {
	if len(wanted) == 0 {
		return nil
	}
	return fault.New(fault.Refused, "this installation has no schedule group: set %s of its function plan, or remove schedules: from %s",
		strings.Join([]string{envScheduleGroup, envScheduleRole, envStart}, ", "), id)
}
