package scheduler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/stackwright/stackwright/pkg/project"
)

// A want is a schedule of a project, as it is to be.
type want struct {
	call project.Call
	project.Schedule
}

// How often, and how long, Scheduler tries to call the function.
const (
	mostAttempts = 20
	longest      = time.Hour
)

// name returns the name of the schedule in the group.
func (w want) name() string { return called(w.call.Project, w.call.Schedule) }

// A name has 64 characters at most, of which a schedule's own has up to 32.
const longestPrefix = 32

// prefix returns how the names of a project's schedules begin, and those of no
// other project: names of projects and environments have neither dots nor
// underscores. A prefix that would be too long is cut, and ends with a part of the
// SHA-256 of the project's ID.
func prefix(id string) string {
	whole := strings.Replace(id, "@", ".", 1) + "."
	if len(whole) <= longestPrefix {
		return whole
	}
	sum := sha256.Sum256([]byte(id))
	return whole[:longestPrefix-18] + "_" + hex.EncodeToString(sum[:8]) + "."
}

func called(id, name string) string { return prefix(id) + name }

// creation returns the request that creates a schedule. A rate starts one interval
// from now. Without a start, EventBridge Scheduler would run it at once: a project
// that is to be destroyed hours after its deploy would be destroyed at once.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#rate-based
func (s *Schedules) creation(w want, now time.Time) *scheduler.CreateScheduleInput {
	in := scheduler.CreateScheduleInput(*s.change(w, &scheduler.GetScheduleOutput{}, now))
	return &in
}

// change returns the request that updates a schedule. Update replaces all fields.
func (s *Schedules) change(w want, there *scheduler.GetScheduleOutput, now time.Time) *scheduler.UpdateScheduleInput {
	name, input := w.name(), w.input()
	in := &scheduler.UpdateScheduleInput{
		Name: &name, GroupName: &s.group.Name, State: types.ScheduleStateEnabled,
		Description:           aws.String("Stackwright: " + w.call.Operation + " of " + w.call.Project),
		ScheduleExpression:    &w.Expression,
		ActionAfterCompletion: types.ActionAfterCompletionNone,
		FlexibleTimeWindow:    &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
		Target: &types.Target{
			Arn: &s.group.Function, RoleArn: &s.group.Role, Input: &input,
			RetryPolicy: &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(mostAttempts), MaximumEventAgeInSeconds: aws.Int32(int32(longest / time.Second))},
		},
	}
	in.ScheduleExpressionTimezone = &w.Zone
	if !w.Once.IsZero() {
		in.ActionAfterCompletion = types.ActionAfterCompletionDelete
	}
	if s.group.Dead != "" {
		in.Target.DeadLetterConfig = &types.DeadLetterConfig{Arn: &s.group.Dead}
	}
	if w.Every > 0 {
		in.StartDate = aws.Time(w.starts(there, now))
	}
	return in
}

// starts returns when a rate runs next. A rate that is unchanged keeps its times.
func (w want) starts(there *scheduler.GetScheduleOutput, now time.Time) time.Time {
	from := aws.ToTime(there.StartDate)
	if from.IsZero() || aws.ToString(there.ScheduleExpression) != w.Expression {
		return now.Add(w.Every).Truncate(time.Second)
	}
	if from.After(now) {
		return from
	}
	return from.Add((now.Sub(from)/w.Every + 1) * w.Every)
}

// input returns the event that the function is called with. EventBridge Scheduler
// replaces the attributes in angle brackets.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
func (w want) input() string {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	// Encoding strings cannot fail.
	_ = out.Encode(struct {
		Version    string       `json:"version"`
		ID         string       `json:"id"`
		DetailType string       `json:"detail-type"`
		Source     string       `json:"source"`
		Time       string       `json:"time"`
		Detail     project.Call `json:"detail"`
	}{"0", "<aws.scheduler.execution-id>", project.ScheduleEvent, project.ScheduleSource, "<aws.scheduler.scheduled-time>", w.call})
	return strings.TrimSpace(b.String())
}

// alike reports whether a schedule makes the same call at the same time.
func alike(in *scheduler.UpdateScheduleInput, is *scheduler.GetScheduleOutput) bool {
	return is.Target != nil && aws.ToString(in.Target.Input) == aws.ToString(is.Target.Input) &&
		aws.ToString(in.ScheduleExpression) == aws.ToString(is.ScheduleExpression) &&
		aws.ToString(in.ScheduleExpressionTimezone) == aws.ToString(is.ScheduleExpressionTimezone)
}

// same reports whether a schedule is up to date. Its start does not count.
func same(in *scheduler.UpdateScheduleInput, is *scheduler.GetScheduleOutput) bool {
	t, u := in.Target, is.Target
	if u == nil || u.RetryPolicy == nil || is.FlexibleTimeWindow == nil {
		return false
	}
	dead := func(t *types.Target) string {
		if t.DeadLetterConfig == nil {
			return ""
		}
		return aws.ToString(t.DeadLetterConfig.Arn)
	}
	for _, pair := range [][2]string{
		{aws.ToString(in.ScheduleExpression), aws.ToString(is.ScheduleExpression)},
		{aws.ToString(in.ScheduleExpressionTimezone), aws.ToString(is.ScheduleExpressionTimezone)},
		{aws.ToString(in.Description), aws.ToString(is.Description)},
		{string(in.State), string(is.State)},
		{string(in.ActionAfterCompletion), string(is.ActionAfterCompletion)},
		{string(in.FlexibleTimeWindow.Mode), string(is.FlexibleTimeWindow.Mode)},
		{aws.ToString(t.Arn), aws.ToString(u.Arn)},
		{aws.ToString(t.RoleArn), aws.ToString(u.RoleArn)},
		{aws.ToString(t.Input), aws.ToString(u.Input)},
		{dead(t), dead(u)},
	} {
		if pair[0] != pair[1] {
			return false
		}
	}
	return aws.ToInt32(t.RetryPolicy.MaximumRetryAttempts) == aws.ToInt32(u.RetryPolicy.MaximumRetryAttempts) &&
		aws.ToInt32(t.RetryPolicy.MaximumEventAgeInSeconds) == aws.ToInt32(u.RetryPolicy.MaximumEventAgeInSeconds)
}
