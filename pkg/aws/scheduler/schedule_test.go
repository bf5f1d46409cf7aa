package scheduler

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A fake is an EventBridge Scheduler that holds schedules by name.
type fake struct {
	stored   map[string]*scheduler.GetScheduleOutput
	requests []string
}

func newFake() *fake { return &fake{stored: make(map[string]*scheduler.GetScheduleOutput)} }

func (f *fake) ListSchedules(_ context.Context, in *scheduler.ListSchedulesInput, _ ...func(*scheduler.Options)) (*scheduler.ListSchedulesOutput, error) {
	out := &scheduler.ListSchedulesOutput{}
	for name := range f.stored {
		if strings.HasPrefix(name, aws.ToString(in.NamePrefix)) {
			out.Schedules = append(out.Schedules, types.ScheduleSummary{Name: &name})
		}
	}
	return out, nil
}

func (f *fake) GetSchedule(_ context.Context, in *scheduler.GetScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.GetScheduleOutput, error) {
	if is, ok := f.stored[*in.Name]; ok {
		return is, nil
	}
	return nil, &types.ResourceNotFoundException{}
}

func (f *fake) CreateSchedule(ctx context.Context, in *scheduler.CreateScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.CreateScheduleOutput, error) {
	if _, ok := f.stored[*in.Name]; ok {
		return nil, &types.ConflictException{}
	}
	f.requests = append(f.requests, "create")
	f.keep(in.Name, in.ScheduleExpression, in.ScheduleExpressionTimezone, &scheduler.GetScheduleOutput{
		Description: in.Description, State: in.State, StartDate: in.StartDate, ActionAfterCompletion: in.ActionAfterCompletion,
		FlexibleTimeWindow: in.FlexibleTimeWindow, Target: in.Target,
	})
	return nil, nil
}

func (f *fake) UpdateSchedule(_ context.Context, in *scheduler.UpdateScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.UpdateScheduleOutput, error) {
	f.requests = append(f.requests, "update")
	f.keep(in.Name, in.ScheduleExpression, in.ScheduleExpressionTimezone, &scheduler.GetScheduleOutput{
		Description: in.Description, State: in.State, StartDate: in.StartDate, ActionAfterCompletion: in.ActionAfterCompletion,
		FlexibleTimeWindow: in.FlexibleTimeWindow, Target: in.Target,
	})
	return nil, nil
}

func (f *fake) keep(name, expression, zone *string, is *scheduler.GetScheduleOutput) {
	is.Name, is.ScheduleExpression, is.ScheduleExpressionTimezone = name, expression, zone
	f.stored[*name] = is
}

func (f *fake) DeleteSchedule(_ context.Context, in *scheduler.DeleteScheduleInput, _ ...func(*scheduler.Options)) (*scheduler.DeleteScheduleOutput, error) {
	if _, ok := f.stored[*in.Name]; !ok {
		return nil, &types.ResourceNotFoundException{}
	}
	delete(f.stored, *in.Name)
	return nil, nil
}

// shown lists schedules in the form that the contract compares.
type shown struct{ *Schedules }

func (s shown) Stored(ctx context.Context, id string) (map[string]project.Schedule, error) {
	stored, err := s.List(ctx, id)
	all := make(map[string]project.Schedule)
	for _, k := range stored {
		s := project.Schedule{Operation: k.Operation, Expression: k.Expression, Zone: k.Zone}
		if k.Except != nil {
			s.Except = k.Except.Days
		}
		all[k.Schedule] = s
	}
	return all, err
}

func (s shown) StoredAuthors(ctx context.Context, id string) (map[string][]string, error) {
	stored, err := s.List(ctx, id)
	all := make(map[string][]string)
	for _, k := range stored {
		all[k.Schedule] = k.Authors
	}
	return all, err
}

func TestSchedulesKeepTheContract(t *testing.T) {
	contract.Schedules(t, func(*testing.T) contract.Calendar { return shown{New(newFake(), Group{Name: "g"})} })
}

// A rate runs one interval after the deploy that creates it, and keeps its times
// when another field changes. A schedule that is up to date is not changed.
func TestRates(t *testing.T) {
	f, now := newFake(), time.Date(2026, 11, 21, 12, 0, 0, 500, time.UTC)
	s := New(f, Group{Name: "g", Function: "f", Role: "r"})
	for _, c := range []struct {
		operation, expression string
		every                 time.Duration
		passes                time.Duration
		begins                string
	}{
		{"destroy", "rate(8 hours)", 8 * time.Hour, 0, "20:00 create"},
		{"destroy", "rate(8 hours)", 8 * time.Hour, 3 * time.Hour, "20:00 create"},
		{"deploy", "rate(8 hours)", 8 * time.Hour, time.Hour, "20:00 create update"},
		{"refresh", "rate(8 hours)", 8 * time.Hour, 5 * time.Hour, "04:00 create update update"},
		{"refresh", "rate(1 hour)", time.Hour, time.Hour, "23:00 create update update update"},
	} {
		now = now.Add(c.passes)
		wanted := map[string]project.Schedule{"often": {Operation: c.operation, Expression: c.expression, Zone: "UTC", Every: c.every}}
		if err := s.SetSchedules(t.Context(), "shop@prod", wanted, []string{"ann"}, now); err != nil {
			t.Fatal(err)
		}
		is := f.stored["shop.prod.often"]
		if is == nil {
			t.Fatalf("stored are %v", f.stored)
		}
		begins := "at once"
		if is.StartDate != nil {
			begins = is.StartDate.Format("15:04")
		}
		if got := begins + " " + strings.Join(f.requests, " "); got != c.begins {
			t.Errorf("%s %s at %s: %s, want %s", c.expression, c.operation, now.Format("15:04"), got, c.begins)
		}
	}
}

// The function is called with an event that holds the attributes which EventBridge
// Scheduler replaces.
func TestInput(t *testing.T) {
	f := newFake()
	wanted := map[string]project.Schedule{"nightly": {Operation: "deploy", Expression: "cron(0 3 * * ? *)", Zone: "Europe/Berlin"}}
	if err := New(f, Group{Name: "g", Function: "f", Role: "r", Dead: "d"}).SetSchedules(t.Context(), "shop@prod", wanted, []string{"ann"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	is := f.stored["shop.prod.nightly"]
	want := `{"version":"0","id":"<aws.scheduler.execution-id>","detail-type":"Stackwright Schedule","source":"stackwright.schedule","time":"<aws.scheduler.scheduled-time>","detail":{"project":"shop@prod","schedule":"nightly","operation":"deploy","authors":["ann"]}}`
	if got := *is.Target.Input; got != want || !json.Valid([]byte(got)) {
		t.Errorf("it is called with %s", got)
	}
	if *is.Target.Arn != "f" || *is.Target.RoleArn != "r" || *is.Target.DeadLetterConfig.Arn != "d" || *is.ScheduleExpressionTimezone != "Europe/Berlin" || is.StartDate != nil {
		t.Errorf("%+v, %+v", is, is.Target)
	}
}

// A fleeting Scheduler refuses to create a schedule that exists, and then no longer has it.
type fleeting struct{ *fake }

func (fleeting) CreateSchedule(context.Context, *scheduler.CreateScheduleInput, ...func(*scheduler.Options)) (*scheduler.CreateScheduleOutput, error) {
	return nil, &types.ConflictException{}
}

// A schedule that could not be created is not reported as created.
func TestScheduleDeletedMeanwhile(t *testing.T) {
	wanted := map[string]project.Schedule{"nightly": {Operation: "deploy", Expression: "cron(0 3 * * ? *)"}}
	err := New(fleeting{newFake()}, Group{Name: "g", Function: "f", Role: "r"}).SetSchedules(t.Context(), "shop@prod", wanted, []string{"ann"}, time.Now())
	if !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

// No prefix is the beginning of another, and none is too long.
func TestPrefixes(t *testing.T) {
	long := strings.Repeat("a", 64)
	ids := []string{"a@b", "a@bc", "ab@c", "a-b@c", "a@b-c", long + "@" + long, long + "@" + long[1:], long[1:] + "@" + long, "shop@default"}
	for _, a := range ids {
		if p := prefix(a); len(p) > longestPrefix {
			t.Errorf("%s: %s has %d characters", a, p, len(p))
		}
		for _, b := range ids {
			if a != b && strings.HasPrefix(prefix(a), prefix(b)) {
				t.Errorf("the prefix of %s (%s) begins with that of %s (%s)", a, prefix(a), b, prefix(b))
			}
		}
	}
}
