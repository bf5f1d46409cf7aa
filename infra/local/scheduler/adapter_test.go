package scheduler_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/stackwright/stackwright/pkg/aws/scheduler"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

const shop = "shop@prod"

var group = scheduler.Group{
	Name: "stackwright", Function: "arn:aws:lambda:us-east-1:000000000000:function:start",
	Role: "arn:aws:iam::000000000000:role/schedule", Dead: "arn:aws:sqs:us-east-1:000000000000:dead",
}

// author deploys the schedules of the tests.
var author = []string{"arn:aws:iam::000000000000:role/dev"}

// calendar lists schedules for the contract.
type calendar struct{ *scheduler.Schedules }

func (c calendar) Stored(ctx context.Context, id string) (map[string]project.Schedule, error) {
	kept, err := c.List(ctx, id)
	all := make(map[string]project.Schedule)
	for _, k := range kept {
		s := project.Schedule{Operation: k.Operation, Expression: k.Expression, Zone: k.Zone}
		if k.Except != nil {
			s.Except = k.Except.Days
		}
		all[k.Schedule] = s
	}
	return all, err
}

func (c calendar) StoredAuthors(ctx context.Context, id string) (map[string][]string, error) {
	kept, err := c.List(ctx, id)
	all := make(map[string][]string)
	for _, k := range kept {
		all[k.Schedule] = k.Authors
	}
	return all, err
}

func TestAdapterKeepsTheContract(t *testing.T) {
	contract.Schedules(t, func(t *testing.T) contract.Calendar {
		return calendar{scheduler.New(open(t, "").client(), group)}
	})
}

func rate(every time.Duration, text string) map[string]project.Schedule {
	return map[string]project.Schedule{"often": {Operation: "refresh", Expression: "rate(" + text + ")", Zone: "UTC", Every: every}}
}

// A rate begins one interval after the deploy, and a deploy that does not change the
// schedule does not delay it.
func TestRateCountsFromTheDeployThatMadeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, "")
		defer b.close()
		s := scheduler.New(b.client(), group)
		start := time.Now()
		arrange := func(wanted map[string]project.Schedule) {
			t.Helper()
			if err := s.SetSchedules(t.Context(), shop, wanted, author, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		arrange(rate(8*time.Hour, "8 hours"))
		time.Sleep(7 * time.Hour)
		arrange(rate(8*time.Hour, "8 hours"))
		changed := rate(8*time.Hour, "8 hours")
		often := changed["often"]
		often.Operation = "destroy"
		changed["often"] = often
		arrange(changed)
		time.Sleep(10 * time.Hour)
		arrange(rate(8*time.Hour, "8 hours"))
		time.Sleep(8 * time.Hour)
		arrange(rate(2*time.Hour, "2 hours"))
		time.Sleep(3 * time.Hour)
		if got, want := b.times(start), "8h0m0s 16h0m0s 24h0m0s 27h0m0s"; got != want {
			t.Errorf("it came up after %s, want %s", got, want)
		}
	})
}

// A schedule that is as desired is not updated.
func TestArrangeChangesNoMoreThanItMust(t *testing.T) {
	b := open(t, "")
	s := scheduler.New(b.client(), group)
	wanted := rate(time.Hour, "1 hour")
	wanted["nightly"] = project.Schedule{Operation: "deploy", Expression: "cron(0 3 * * ? *)", Zone: "Europe/Berlin"}
	wanted["end"] = project.Schedule{Operation: "destroy", Expression: "at(2199-01-01T00:00:00)", Zone: "UTC", Once: time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC)}
	called := func(want string) {
		t.Helper()
		b.calls = nil
		if err := s.SetSchedules(t.Context(), shop, wanted, author, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(b.calls, " "); got != want {
			t.Errorf("called %s, want %s", got, want)
		}
	}
	called("ListSchedules CreateSchedule CreateSchedule CreateSchedule")
	called("ListSchedules GetSchedule GetSchedule GetSchedule")
	out, err := b.client().GetSchedule(t.Context(), &sdk.GetScheduleInput{GroupName: &group.Name, Name: aws.String("shop.prod.nightly")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.client().UpdateSchedule(t.Context(), &sdk.UpdateScheduleInput{
		GroupName: out.GroupName, Name: out.Name, ScheduleExpression: out.ScheduleExpression, ScheduleExpressionTimezone: out.ScheduleExpressionTimezone,
		Target: out.Target, FlexibleTimeWindow: out.FlexibleTimeWindow, State: types.ScheduleStateDisabled,
	})
	if err != nil {
		t.Fatal(err)
	}
	called("ListSchedules GetSchedule GetSchedule UpdateSchedule GetSchedule")
	delete(wanted, "end")
	called("ListSchedules GetSchedule GetSchedule DeleteSchedule")
	group := group
	group.Dead = ""
	s = scheduler.New(b.client(), group)
	called("ListSchedules GetSchedule UpdateSchedule GetSchedule UpdateSchedule")
}

// Schedules of projects with long names get different names that Scheduler accepts.
func TestLongNames(t *testing.T) {
	b := open(t, "")
	s := scheduler.New(b.client(), group)
	long := strings.Repeat("a", 63)
	ids := []string{long + "b@" + long, long + "c@" + long, long + "@" + long, "a@b", "a-b@c", "a@b-c"}
	for _, id := range ids {
		wanted := map[string]project.Schedule{}
		for _, name := range []string{strings.Repeat("x", 32), strings.Repeat("x", 31) + "y"} {
			wanted[name] = project.Schedule{Operation: "deploy", Expression: "cron(0 3 * * ? *)", Zone: "UTC"}
		}
		if err := s.SetSchedules(t.Context(), id, wanted, author, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		if kept, err := s.List(t.Context(), id); err != nil || len(kept) != 2 || kept[0].Project != id {
			t.Errorf("%s has %v, %v", id, kept, err)
		}
	}
}

// An error of Scheduler has the kind that tells the caller what to do.
func TestKindsOfFaults(t *testing.T) {
	b := open(t, "")
	wanted := map[string]project.Schedule{"nightly": {Operation: "deploy", Expression: "cron(0 3 * * * *)", Zone: "UTC"}}
	err := scheduler.New(b.client(), group).SetSchedules(t.Context(), shop, wanted, author, time.Now())
	if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "schedule nightly, cron(0 3 * * * *): EventBridge Scheduler refuses it") {
		t.Errorf("%s: %v", fault.KindOf(err), err)
	}
	other := group
	other.Name = "theirs"
	err = scheduler.New(b.client(), other).SetSchedules(t.Context(), shop, wanted, author, time.Now())
	if !fault.Is(err, fault.Broken) || !strings.Contains(err.Error(), "schedule group theirs does not exist: deploy Stackwright") {
		t.Errorf("%s: %v", fault.KindOf(err), err)
	}
	for code, want := range map[string]fault.Kind{
		"ThrottlingException": fault.Throttled, "InternalServerException": fault.Unavailable, "ServiceQuotaExceededException": fault.Refused,
		"AccessDeniedException": fault.Denied, "SomethingNewException": fault.Broken,
	} {
		b.fail = code
		err := scheduler.New(b.client(), group).SetSchedules(t.Context(), shop, nil, author, time.Now())
		if !fault.Is(err, want) {
			t.Errorf("%s is %s: %v", code, fault.KindOf(err), err)
		}
	}
}

func clientOf(b *fixture) *sdk.Client {
	return sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("https://stackwright.localhost"), HTTPClient: b,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), Retryer: aws.NopRetryer{},
	})
}
