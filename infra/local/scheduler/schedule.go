package scheduler

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/cron"
)

// A schedule is the last version of a schedule, and its next time.
type schedule struct {
	form
	Created, Changed time.Time
	Due              time.Time // zero if there is no next time

	when  cron.Expression
	zone  *time.Location
	timer *time.Timer
}

// A form is a schedule as a request describes it.
// https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
type form struct {
	Name                       string
	GroupName                  string
	Description                string `json:",omitempty"`
	State                      string
	ScheduleExpression         string
	ScheduleExpressionTimezone string
	StartDate                  *seconds `json:",omitempty"`
	EndDate                    *seconds `json:",omitempty"`
	ActionAfterCompletion      string
	FlexibleTimeWindow         struct {
		Mode                   string
		MaximumWindowInMinutes *int `json:",omitempty"`
	}
	Target      target
	ClientToken string `json:",omitempty"`
}

// A target is a function, and how it is called.
type target struct {
	Arn, RoleArn     string
	Input            string `json:",omitempty"`
	DeadLetterConfig *struct {
		Arn string
	} `json:",omitempty"`
	RetryPolicy *policy `json:",omitempty"`
}

// A policy is a retry policy.
type policy struct {
	MaximumEventAgeInSeconds *int `json:",omitempty"`
	MaximumRetryAttempts     *int `json:",omitempty"`
}

// seconds is a time as the protocol has it: seconds since 1970.
type seconds float64

func (s *seconds) time() time.Time {
	if s == nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(float64(*s) * 1000)).UTC()
}

func stamp(t time.Time) seconds { return seconds(float64(t.UnixMilli()) / 1000) }

// A refusal is an error of Scheduler.
type refusal struct {
	status        int
	code, message string
}

func (r *refusal) Error() string { return r.message }

func invalid(format string, args ...any) error {
	return &refusal{400, "ValidationException", fmt.Sprintf(format, args...)}
}

var (
	nameForm = regexp.MustCompile(`^[0-9a-zA-Z-_.]{1,64}$`)
	function = regexp.MustCompile(`^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:.+$`)
	role     = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$`)
	queue    = regexp.MustCompile(`^arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:[a-zA-Z0-9_-]+$`)
)

// complete sets the defaults.
func (f *form) complete() {
	for _, d := range []struct {
		to    *string
		value string
	}{{&f.GroupName, defaultGroup}, {&f.State, "ENABLED"}, {&f.ScheduleExpressionTimezone, "UTC"}, {&f.ActionAfterCompletion, "NONE"}} {
		if *d.to == "" {
			*d.to = d.value
		}
	}
	if f.Target.RetryPolicy == nil {
		f.Target.RetryPolicy = &policy{}
	}
	if p := f.Target.RetryPolicy; p.MaximumEventAgeInSeconds == nil {
		p.MaximumEventAgeInSeconds = new(86400)
	}
	if p := f.Target.RetryPolicy; p.MaximumRetryAttempts == nil {
		p.MaximumRetryAttempts = new(185)
	}
}

// check refuses what Scheduler would refuse. The only targets here are functions.
func (f *form) check(now time.Time) error {
	p, d := f.Target.RetryPolicy, f.Target.DeadLetterConfig
	start, end := f.StartDate.time(), f.EndDate.time()
	switch {
	case !nameForm.MatchString(f.Name):
		return invalid("Value '%s' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: ^[0-9a-zA-Z-_.]+$", f.Name)
	case f.FlexibleTimeWindow.Mode != "OFF":
		return invalid("FlexibleTimeWindow %q: nothing but OFF is stood in for here.", f.FlexibleTimeWindow.Mode)
	case f.State != "ENABLED" && f.State != "DISABLED":
		return invalid("Value '%s' at 'state' failed to satisfy constraint: Member must satisfy enum value set: [ENABLED, DISABLED]", f.State)
	case f.ActionAfterCompletion != "NONE" && f.ActionAfterCompletion != "DELETE":
		return invalid("Value '%s' at 'actionAfterCompletion' failed to satisfy constraint: Member must satisfy enum value set: [NONE, DELETE]", f.ActionAfterCompletion)
	case !function.MatchString(f.Target.Arn):
		return invalid("Provided Arn is not in correct format: %q; of targets, only functions are stood in for here.", f.Target.Arn)
	case !role.MatchString(f.Target.RoleArn):
		return invalid("Value '%s' at 'target.roleArn' failed to satisfy constraint: Member must satisfy regular expression pattern: ^arn:aws.*:iam::\\d{12}:role/.*$", f.Target.RoleArn)
	case d != nil && !queue.MatchString(d.Arn):
		return invalid("Value '%s' at 'target.deadLetterConfig.arn' failed to satisfy constraint: Member must be the ARN of a queue", d.Arn)
	case *p.MaximumRetryAttempts < 0 || *p.MaximumRetryAttempts > 185:
		return invalid("Value '%d' at 'target.retryPolicy.maximumRetryAttempts' failed to satisfy constraint: Member must be between 0 and 185", *p.MaximumRetryAttempts)
	case *p.MaximumEventAgeInSeconds < 60 || *p.MaximumEventAgeInSeconds > 86400:
		return invalid("Value '%d' at 'target.retryPolicy.maximumEventAgeInSeconds' failed to satisfy constraint: Member must be between 60 and 86400", *p.MaximumEventAgeInSeconds)
	case !start.IsZero() && start.Before(now.Add(-5*time.Minute)):
		return invalid("The StartDate you specify cannot be earlier than 5 minutes ago.")
	case !end.IsZero() && end.Before(start):
		return invalid("The EndDate you specify must come after the StartDate.")
	case f.Target.Input != "" && !json.Valid([]byte(f.Target.Input)):
		return invalid("Provided Input is not valid JSON.")
	}
	return nil
}

// read parses the expression and the time zone.
func (s *schedule) read() error {
	var err error
	if s.zone, err = cron.Zone(s.ScheduleExpressionTimezone); err != nil {
		return invalid("Invalid Schedule Expression Timezone %s.", s.ScheduleExpressionTimezone)
	}
	if s.when, err = cron.Parse(s.ScheduleExpression); err != nil {
		return invalid("Invalid Schedule Expression %s.", s.ScheduleExpression)
	}
	return nil
}

func (s *schedule) key() key { return key{s.GroupName, s.Name} }

// after is the first time of the schedule after the given one. A rate without a start date begins at once when it is
// created.
func (s *schedule) after(t time.Time) time.Time {
	start := s.StartDate.time()
	if start.IsZero() && s.when.Every() > 0 {
		start = s.Changed
	}
	next := s.when.Next(t, start, s.zone)
	if end := s.EndDate.time(); !end.IsZero() && next.After(end) {
		return time.Time{}
	}
	return next
}
