package scheduler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/scheduler"
)

// A bench is a scheduler under test with a function that records its calls. It is also
// the HTTP client of the SDK.
type fixture struct {
	*testing.T
	*scheduler.Service
	gateway http.Handler
	calls   []string // operations that were requested
	fail    string   // the code that every request is answered with

	mu    sync.Mutex
	taken []taken
	fails int // how many calls of the function fail from now on
}

// taken is a call of the function.
type taken struct {
	at    time.Time
	input string
}

// open opens a scheduler that has one group.
func open(t *testing.T, folder string) *fixture {
	t.Helper()
	b := &fixture{T: t}
	s, err := scheduler.Open(scheduler.Options{Folder: folder, Account: "000000000000", Region: "us-east-1", Invoke: b.invoke})
	if err != nil {
		t.Fatal(err)
	}
	b.Service, b.gateway = s, gateway.New(map[string]http.Handler{"scheduler": s})
	s.Start()
	_, err = b.client().CreateScheduleGroup(t.Context(), &sdk.CreateScheduleGroupInput{Name: &group.Name})
	if there := (*types.ConflictException)(nil); err != nil && !errors.As(err, &there) {
		t.Fatal(err)
	}
	return b
}

func (b *fixture) close() {
	if err := b.Close(); err != nil {
		b.Error(err)
	}
}

func (b *fixture) client() *sdk.Client { return clientOf(b) }

// Do is aws.HTTPClient.
func (b *fixture) Do(r *http.Request) (*http.Response, error) {
	call, err := gateway.Identify(r)
	if err != nil {
		return nil, err
	}
	b.calls = append(b.calls, call.Operation)
	if b.fail != "" {
		w := httptest.NewRecorder()
		status := http.StatusBadRequest
		if b.fail == "InternalServerException" {
			status = http.StatusInternalServerError
		}
		gateway.Refuse(w, r, status, gateway.Fault{Code: b.fail, Message: "no"})
		return w.Result(), nil
	}
	return gateway.Transport{Handler: b.gateway}.RoundTrip(r)
}

func (b *fixture) invoke(_ context.Context, _ string, payload []byte) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails > 0 {
		b.fails--
		return nil, errors.New("it is busy")
	}
	b.taken = append(b.taken, taken{time.Now(), string(payload)})
	return []byte("{}"), nil
}

// seen lists the calls of the function.
func (b *fixture) seen() []taken {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.taken)
}

// failing lets the next calls of the function fail, and returns how many were still to
// fail before.
func (b *fixture) failing(n int) (left int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left, b.fails = b.fails, n
	return left
}

// times lists the times of the calls, relative to a start.
func (b *fixture) times(since time.Time) string {
	var all []string
	for _, c := range b.seen() {
		all = append(all, c.at.Sub(since).Round(time.Second).String())
	}
	return strings.Join(all, " ")
}

// input returns a request for a schedule with the fields that all tests share.
func input(name, expression, zone string) *sdk.CreateScheduleInput {
	return &sdk.CreateScheduleInput{
		Name: &name, GroupName: &group.Name, ScheduleExpression: &expression, ScheduleExpressionTimezone: &zone,
		FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
		Target:             &types.Target{Arn: &group.Function, RoleArn: &group.Role, Input: aws.String(`{"at":"<aws.scheduler.scheduled-time>"}`)},
	}
}

func (b *fixture) make(in *sdk.CreateScheduleInput) {
	b.Helper()
	if _, err := b.client().CreateSchedule(b.Context(), in); err != nil {
		b.Fatal(err)
	}
}

// A function is called at the time of the schedule, in the time zone of the schedule,
// and gets that time.
func TestSchedulesComeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // since midnight of 1 January 2000, UTC
		b := open(t, "")
		defer b.close()
		for _, in := range []*sdk.CreateScheduleInput{
			input("daily", "cron(30 2 * 3 ? 2000)", "Europe/Berlin"),
			input("once", "at(2000-01-02T18:00:00)", "America/New_York"),
			input("disabled", "rate(1 minute)", "UTC"),
		} {
			if *in.Name == "disabled" {
				in.State = types.ScheduleStateDisabled
			}
			b.make(in)
		}
		time.Sleep(366 * 24 * time.Hour)
		var got []string
		for _, c := range b.seen() {
			got = append(got, c.input)
			if want := fmt.Sprintf(`{"at":%q}`, c.at.UTC().Format(time.RFC3339)); c.input != want {
				t.Errorf("called with %s at %s", c.input, want)
			}
		}
		// On 26 March 2000 there was no half past two in Berlin.
		all := strings.Join(got, " ")
		if len(got) != 31 || got[0] != `{"at":"2000-01-02T23:00:00Z"}` || strings.Contains(all, "03-26") || !strings.Contains(all, "03-25T01:30") || !strings.Contains(all, "03-27T00:30") {
			t.Errorf("%d calls: %s", len(got), all)
		}
	})
}

// A rate begins at its start, or at once if it has none.
func TestRatesBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, "")
		defer b.close()
		start := time.Now()
		in := input("later", "rate(2 hours)", "UTC")
		in.StartDate = aws.Time(start.Add(90 * time.Minute))
		b.make(in)
		time.Sleep(4 * time.Hour)
		b.make(input("now", "rate(1 day)", "UTC"))
		time.Sleep(time.Minute)
		if got, want := b.times(start), "1h30m0s 3h30m0s 4h0m0s"; got != want {
			t.Errorf("taken after %s, want %s", got, want)
		}
	})
}

// A call that fails is retried as often and as long as the schedule says, and then goes
// to the dead-letter queue. A schedule with one time is deleted after its call.
func TestCallsAreMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, "")
		defer b.close()
		start := time.Now()
		in := input("once", "at(2000-01-01T01:00:00)", "UTC")
		in.ActionAfterCompletion = types.ActionAfterCompletionDelete
		b.make(in)
		b.failing(3)
		time.Sleep(time.Hour + time.Second)
		if _, err := b.client().GetSchedule(t.Context(), &sdk.GetScheduleInput{Name: in.Name, GroupName: in.GroupName}); err != nil {
			t.Errorf("the schedule is deleted before its call has succeeded: %v", err)
		}
		time.Sleep(time.Minute)
		if got := b.times(start); got != "1h0m7s" {
			t.Errorf("taken after %s", got)
		}
		_, err := b.client().GetSchedule(t.Context(), &sdk.GetScheduleInput{Name: in.Name, GroupName: in.GroupName})
		if gone := (*types.ResourceNotFoundException)(nil); !errors.As(err, &gone) {
			t.Errorf("the schedule still exists: %v", err)
		}
		in = input("never", "at(2000-01-01T02:00:00)", "UTC")
		in.Target.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(4), MaximumEventAgeInSeconds: aws.Int32(3600)}
		in.Target.DeadLetterConfig = &types.DeadLetterConfig{Arn: &group.Dead}
		b.make(in)
		b.failing(100)
		time.Sleep(2 * time.Hour)
		dead := b.DeadLetters()
		if len(dead) != 1 || dead[0].Queue != group.Dead || !strings.Contains(dead[0].Reason, "after 5 attempts: it is busy") || dead[0].Input != `{"at":"2000-01-01T02:00:00Z"}` {
			t.Errorf("the dead-letter queue has %+v", dead)
		}
		if left := b.failing(0); left != 95 || b.Pending() != 0 {
			t.Errorf("%d calls left to fail, %d pending", left, b.Pending())
		}
	})
}

// Schedules survive a restart. A schedule that was due meanwhile makes one call.
func TestSchedulesOutliveTheProcess(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := open(t, folder)
		b.make(input("hourly", "cron(0 * * * ? *)", "UTC"))
		b.make(input("gone", "cron(30 * * * ? *)", "UTC"))
		if _, err := b.client().DeleteSchedule(t.Context(), &sdk.DeleteScheduleInput{Name: aws.String("gone"), GroupName: &group.Name}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*time.Hour + time.Minute)
		b.close()
		calls := len(b.seen())
		time.Sleep(10 * time.Hour)
		start := time.Now()
		b = open(t, folder)
		defer b.close()
		time.Sleep(2 * time.Hour)
		if got, want := b.times(start), "0s 59m0s 1h59m0s"; got != want || calls != 2 {
			t.Errorf("taken after %s, want %s; before that %d times", got, want, calls)
		}
	})
}

// A request that is repeated because its answer was lost is the same request. Pages list
// every schedule once.
func TestTokensAndPages(t *testing.T) {
	b := open(t, "")
	for i := range 5 {
		in := input(fmt.Sprint("s", i), "rate(1 day)", "UTC")
		in.ClientToken = aws.String(fmt.Sprint("token", i))
		b.make(in)
		b.make(in)
	}
	var names []string
	pages := sdk.NewListSchedulesPaginator(b.client(), &sdk.ListSchedulesInput{GroupName: &group.Name, NamePrefix: aws.String("s"), MaxResults: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page.Schedules {
			names = append(names, *one.Name)
		}
	}
	if got := strings.Join(names, " "); got != "s0 s1 s2 s3 s4" {
		t.Errorf("listed are %s", got)
	}
	out, err := b.client().GetSchedule(t.Context(), &sdk.GetScheduleInput{Name: aws.String("s3"), GroupName: &group.Name})
	if err != nil || *out.Arn != "arn:aws:scheduler:us-east-1:000000000000:schedule/stackwright/s3" || out.State != types.ScheduleStateEnabled ||
		*out.Target.RetryPolicy.MaximumRetryAttempts != 185 || out.CreationDate.IsZero() || !json.Valid([]byte(*out.Target.Input)) {
		t.Errorf("%+v, %v", out, err)
	}
}
