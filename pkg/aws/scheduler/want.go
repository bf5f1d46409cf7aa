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

// A want is a schedule that is to be.
type want struct {
	call project.Call
	project.Schedule
}

// How often, and how long, Scheduler tries to call the function.
const (
	mostAttempts = 20
	longest      = time.Hour
)

// name is what the schedule is called in the group.
func (w want) name() string { return called(w.call.Project, w.call.Schedule) }

// A name has 64 characters at most, of which a schedule's own has up to 32.
const longestPrefix = 32

// prefix begins the names of a project's schedules, and of no other's: names of
// projects and environments have neither dots nor underscores. One that would be
// too long is cut, and tells itself apart by its SHA-256.
func prefix(id string) string {
	whole := strings.Replace(id, "@", ".", 1) + "."
	if len(whole) <= longestPrefix {
		return whole
	}
	sum := sha256.Sum256([]byte(id))
	return whole[:longestPrefix-18] + "_" + hex.EncodeToString(sum[:8]) + "."
}

func called(id, name string) string { return prefix(id) + name }

// creation asks for a schedule that is not there. A rate begins one interval from
// now; if it were not told, it would begin at once, and what is to be destroyed
// some hours after a deploy would be so at once.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#rate-based
func (s *Schedules) creation(w want, now time.Time) *scheduler.CreateScheduleInput {
	in := s.change(w, &scheduler.GetScheduleOutput{}, now)
	return &scheduler.CreateScheduleInput{
		Name: in.Name, GroupName: in.GroupName, Description: in.Description, State: in.State,
		ScheduleExpression: in.ScheduleExpression, ScheduleExpressionTimezone: in.ScheduleExpressionTimezone, StartDate: in.StartDate,
		ActionAfterCompletion: in.ActionAfterCompletion, FlexibleTimeWindow: in.FlexibleTimeWindow, Target: in.Target,
	}
}

// change asks for a schedule to be what is wanted: all that is not said goes.
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
		in.StartDate = aws.Time(w.begins(there, now))
	}
	return in
}

// begins is when a rate comes up next: when it would anyway, if it was the same.
func (w want) begins(there *scheduler.GetScheduleOutput, now time.Time) time.Time {
	from := aws.ToTime(there.StartDate)
	if from.IsZero() || aws.ToString(there.ScheduleExpression) != w.Expression {
		return now.Add(w.Every).Truncate(time.Second)
	}
	if from.After(now) {
		return from
	}
	return from.Add((now.Sub(from)/w.Every + 1) * w.Every)
}

// input is what the function is called with: an event, in which Scheduler puts
// its own words for those in angle brackets.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
func (w want) input() string {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	// Texts can always be written.
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

// alike reports whether a schedule asks for what it is to ask for, and when.
func alike(in *scheduler.UpdateScheduleInput, is *scheduler.GetScheduleOutput) bool {
	return is.Target != nil && aws.ToString(in.Target.Input) == aws.ToString(is.Target.Input) &&
		aws.ToString(in.ScheduleExpression) == aws.ToString(is.ScheduleExpression) &&
		aws.ToString(in.ScheduleExpressionTimezone) == aws.ToString(is.ScheduleExpressionTimezone)
}

// same reports whether a schedule is as it is to be. When it began is its own.
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
