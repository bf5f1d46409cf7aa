package wire_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/wire"
)

// The variables of schedules are set together, or not at all.
func TestFromEnvReadsSchedules(t *testing.T) {
	all := map[string]string{
		"STACKWRIGHT_SCHEDULE_GROUP": "stackwright", "STACKWRIGHT_SCHEDULE_ROLE": "arn:aws:iam::000000000000:role/schedule",
		"STACKWRIGHT_START": "arn:aws:lambda:us-east-1:000000000000:function:start", "STACKWRIGHT_SCHEDULE_DEAD": "arn:aws:sqs:us-east-1:000000000000:dead",
	}
	read := func(change map[string]string) (scheduler.Group, error) {
		env := complete()
		for k, v := range all {
			env[k] = v
		}
		for k, v := range change {
			env[k] = v
		}
		got, err := wire.FromEnv(func(k string) string { return env[k] })
		return got.Schedules, err
	}
	want := scheduler.Group{Name: "stackwright", Role: all["STACKWRIGHT_SCHEDULE_ROLE"], Function: all["STACKWRIGHT_START"], Dead: all["STACKWRIGHT_SCHEDULE_DEAD"]}
	if got, err := read(nil); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	want.Dead = ""
	if got, err := read(map[string]string{"STACKWRIGHT_SCHEDULE_DEAD": ""}); err != nil || got != want {
		t.Errorf("without a queue: %+v, %v", got, err)
	}
	none := map[string]string{}
	for k := range all {
		none[k] = ""
	}
	if got, err := read(none); err != nil || got != (scheduler.Group{}) {
		t.Errorf("without any: %+v, %v", got, err)
	}
	for name, wrong := range map[string]string{
		"STACKWRIGHT_SCHEDULE_GROUP": "a b", "STACKWRIGHT_SCHEDULE_ROLE": "role/schedule", "STACKWRIGHT_START": "start", "STACKWRIGHT_SCHEDULE_DEAD": "dead",
	} {
		if _, err := read(map[string]string{name: wrong}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), name+" is not ") {
			t.Errorf("%s=%s: %v", name, wrong, err)
		}
		if _, err := read(map[string]string{name: ""}); name != "STACKWRIGHT_SCHEDULE_DEAD" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), name+" is missing, but other variables of schedules are set")) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
