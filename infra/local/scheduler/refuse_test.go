package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/smithy-go"
)

// The emulator refuses what Scheduler refuses, with the same messages, and everything
// that it does not emulate.
func TestRefusals(t *testing.T) {
	b := open(t, "")
	b.make(input("there", "rate(1 day)", "UTC"))
	for want, change := range map[string]func(*sdk.CreateScheduleInput){
		"ConflictException: Schedule there already exists":                     func(in *sdk.CreateScheduleInput) { in.Name = aws.String("there") },
		"ValidationException: Value 'a b'":                                     func(in *sdk.CreateScheduleInput) { in.Name = aws.String("a b") },
		"ValidationException: Invalid Schedule Expression cron(0 3 * * * *)":   func(in *sdk.CreateScheduleInput) { in.ScheduleExpression = aws.String("cron(0 3 * * * *)") },
		"ValidationException: Invalid Schedule Expression Timezone Mars/North": func(in *sdk.CreateScheduleInput) { in.ScheduleExpressionTimezone = aws.String("Mars/North") },
		"ResourceNotFoundException: Schedule group theirs does not exist":      func(in *sdk.CreateScheduleInput) { in.GroupName = aws.String("theirs") },
		"ValidationException: Provided Arn is not in correct format":           func(in *sdk.CreateScheduleInput) { in.Target.Arn = aws.String("arn:aws:sqs:us-east-1:000000000000:q") },
		"ValidationException: Value 'me' at 'target.roleArn'":                  func(in *sdk.CreateScheduleInput) { in.Target.RoleArn = aws.String("me") },
		"ValidationException: The StartDate you specify cannot be earlier":     func(in *sdk.CreateScheduleInput) { in.StartDate = aws.Time(time.Now().Add(-time.Hour)) },
		"ValidationException: Provided Input is not valid JSON":                func(in *sdk.CreateScheduleInput) { in.Target.Input = aws.String("{") },
		"ValidationException: unknown field \"SqsParameters\"": func(in *sdk.CreateScheduleInput) {
			in.Target.SqsParameters = &types.SqsParameters{MessageGroupId: aws.String("a")}
		},
		"ValidationException: FlexibleTimeWindow": func(in *sdk.CreateScheduleInput) { in.FlexibleTimeWindow.Mode = types.FlexibleTimeWindowModeFlexible },
	} {
		in := input("new", "rate(1 day)", "UTC")
		change(in)
		_, err := b.client().CreateSchedule(t.Context(), in)
		api, ok := errors.AsType[smithy.APIError](err)
		if !ok || !strings.HasPrefix(api.ErrorCode()+": "+api.ErrorMessage(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for what, err := range map[string]error{
		"update": second(b.client().UpdateSchedule(t.Context(), &sdk.UpdateScheduleInput{
			Name: aws.String("none"), GroupName: &group.Name, ScheduleExpression: aws.String("rate(1 day)"), Target: input("", "", "").Target, FlexibleTimeWindow: input("", "", "").FlexibleTimeWindow,
		})),
		"get":    second(b.client().GetSchedule(t.Context(), &sdk.GetScheduleInput{Name: aws.String("none")})),
		"delete": second(b.client().DeleteSchedule(t.Context(), &sdk.DeleteScheduleInput{Name: aws.String("none")})),
		"list":   second(b.client().ListSchedules(t.Context(), &sdk.ListSchedulesInput{GroupName: aws.String("none")})),
	} {
		if gone := (*types.ResourceNotFoundException)(nil); !errors.As(err, &gone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := b.client().DeleteScheduleGroup(t.Context(), &sdk.DeleteScheduleGroupInput{Name: aws.String("none")})
	if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != "UnknownOperationException" {
		t.Errorf("what is not stood in for: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
