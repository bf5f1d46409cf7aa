package hook

import (
	"context"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// Alarms are metric alarms and composite alarms of CloudWatch.
type Alarms interface {
	// States returns the alarms of some names in the account and region of the target, in their order. One that does not exist has no state.
	States(ctx context.Context, in project.Target, names []string) ([]project.Alarm, error)
}

// stateAlarm is the state of an alarm that has gone off.
const stateAlarm = "ALARM"

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
	name := strings.TrimPrefix(part, "alarm:")
	all, err := s.alarms(ctx, c.Target, []string{name})
	if err != nil {
		return false, err
	}
	return all[0].OK(), nil
}

// alarms returns alarms, which exist, in the order of their names.
func (s Services) alarms(ctx context.Context, in project.Target, names []string) ([]project.Alarm, error) {
	all, err := s.Alarms.States(ctx, in, names)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if a.State == "" {
			return nil, fault.New(fault.Refused, "there is no alarm %s in account %s and region %s: create it, or name another one", a.Name, in.Account, in.Region)
		}
	}
	return all, nil
}

// AlarmARN is the ARN of an alarm of a target.
func AlarmARN(in project.Target, name string) string {
	return "arn:" + in.Partition() + ":cloudwatch:" + in.Region + ":" + in.Account + ":alarm:" + name
}

// InAlarm lists which of the alarms of a target are in the state ALARM, in the given order. The project may reach those that its hooks
// may wait for.
func (s Services) InAlarm(ctx context.Context, id string, in project.Target, names []string) ([]string, error) {
	for _, name := range names {
		if err := s.permit(id, AlarmARN(in, name)); err != nil {
			return nil, err
		}
	}
	all, err := s.alarms(ctx, in, names)
	if err != nil {
		return nil, err
	}
	var on []string
	for _, a := range all {
		if a.State == stateAlarm {
			on = append(on, a.Name)
		}
	}
	return on, nil
}
