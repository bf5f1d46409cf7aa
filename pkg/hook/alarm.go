package hook

import (
	"context"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Alarms are metric alarms and composite alarms of CloudWatch.
type Alarms interface {
	// AlarmOK reports whether an alarm of the account and region of the target is in the state OK. The error is of kind Refused if
	// there is no such alarm.
	AlarmOK(ctx context.Context, in project.Target, name string) (bool, error)
}

// alarmType waits until an alarm is OK.
func alarmType() Type {
	return Type{
		Name: "wait_alarm", What: "the ARN of a CloudWatch alarm",
		Form:   pattern.New(`^arn:aws[a-z-]*:cloudwatch:[a-z0-9-]+:[0-9]{12}:alarm:[^\x00-\x1f\x7f]{1,255}$`),
		Awaits: awaitedAlarm, Caller: waitsForAlarm{},
	}
}

// awaitedAlarm is an alarm, by its name.
func awaitedAlarm(on string, _ time.Time) Awaited {
	_, name, _ := strings.Cut(on, ":alarm:")
	return Awaited{What: "the alarm " + name + " to be OK"}
}

// waitsForAlarm waits until an alarm is OK: it is over at once if the alarm is. Nothing runs meanwhile: a poll reads the state.
type waitsForAlarm struct{}

// Call implements Caller.
func (waitsForAlarm) Call(ctx context.Context, s Services, c Call) (string, error) {
	ok, err := alarmOK(ctx, s, c, c.On())
	if err != nil || ok {
		return "", err
	}
	return c.On(), nil
}

// Ended implements Caller.
func (waitsForAlarm) Ended(ctx context.Context, s Services, c Call) (bool, error) {
	return alarmOK(ctx, s, c, c.Started)
}

// Stop implements Caller. There is nothing to stop.
func (waitsForAlarm) Stop(context.Context, Services, Call) error { return nil }

// alarmOK reports whether the alarm of an ARN is OK.
func alarmOK(ctx context.Context, s Services, c Call, arn string) (bool, error) {
	part, err := c.inTarget(arn)
	if err != nil {
		return false, err
	}
	return s.Alarms.AlarmOK(ctx, c.Target, strings.TrimPrefix(part, "alarm:"))
}
