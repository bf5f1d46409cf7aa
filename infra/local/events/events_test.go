package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"
	"github.com/stackwright/stackwright/infra/local/events"
	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/lambda"
)

const function = "arn:aws:lambda:us-east-1:000000000000:function:start"

// target is a function that records its events, and fails as the test says.
type target struct {
	mu    sync.Mutex
	fails []error // of the next calls
	got   []events.Event
	at    []time.Time
}

func (f *target) invoke(_ context.Context, _ string, payload []byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.fails) > 0 {
		err := f.fails[0]
		f.fails = f.fails[1:]
		return nil, err
	}
	var e events.Event
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, err
	}
	f.got, f.at = append(f.got, e), append(f.at, time.Now())
	return nil, nil
}

// received returns the events so far, and when they arrived.
func (f *target) received() ([]events.Event, []time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got), slices.Clone(f.at)
}

func (f *target) details() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, e := range f.got {
		all = append(all, string(e.Detail))
	}
	return strings.Join(all, " ")
}

func open(t *testing.T, opts events.Options) (*events.Bus, *sdk.Client) {
	t.Helper()
	opts.Account, opts.Region = "000000000000", "us-east-1"
	b, err := events.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	return b, sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("https://events.test"),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  &http.Client{Transport: gateway.Transport{Handler: b}},
	})
}

func aim(t *testing.T, client *sdk.Client) {
	t.Helper()
	_, err := client.PutRule(t.Context(), &sdk.PutRuleInput{Name: aws.String("shop"), EventPattern: aws.String(`{"source":["shop"]}`)})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.PutTargets(t.Context(), &sdk.PutTargetsInput{Rule: aws.String("shop"), Targets: []types.Target{{Id: aws.String("1"), Arn: aws.String(function)}}})
	if err != nil || out.FailedEntryCount != 0 {
		t.Fatal(out, err)
	}
}

// An event is delivered to the functions whose rules match, in the envelope of EventBridge, however it was put on the
// bus.
func TestDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &target{}
		b, client := open(t, events.Options{Invoke: f.invoke})
		b.Start()
		aim(t, client)
		b.Emit("shop", "Opened", []string{"arn:aws:cloudformation:eu-west-1:111111111111:stack/x/y"}, map[string]int{"n": 1})
		b.Emit("other", "Opened", nil, nil)
		synctest.Wait()
		out, err := client.PutEvents(t.Context(), &sdk.PutEventsInput{Entries: []types.PutEventsRequestEntry{
			{Source: aws.String("shop"), DetailType: aws.String("Closed"), Detail: aws.String(`{"n":2}`)},
			{Source: aws.String("shop"), DetailType: aws.String("Closed"), Detail: aws.String(`?`)},
		}})
		if err != nil || out.FailedEntryCount != 1 || aws.ToString(out.Entries[1].ErrorCode) != "MalformedDetail" {
			t.Errorf("put: %+v %v", out, err)
		}
		synctest.Wait()
		if f.details() != `{"n":1} {"n":2}` {
			t.Fatalf("delivered %s", f.details())
		}
		first, second := f.got[0], f.got[1]
		if first.Account != "111111111111" || first.Region != "eu-west-1" || first.DetailType != "Opened" || first.Version != "0" {
			t.Errorf("first %+v", first)
		}
		if second.Account != "000000000000" || second.ID != *out.Entries[0].EventId || second.ID == first.ID || !second.Time.Equal(time.Now()) {
			t.Errorf("second %+v", second)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A function that fails gets an event three times. A function that cannot run gets it again and again for six hours, after
// 1, 2, 4, … and at most 300 seconds. Then the event goes to the dead-letter queue.
func TestRetries(t *testing.T) {
	failed := &lambda.FunctionError{Type: "Unavailable", Message: "out of order"}
	killed := errors.New("out of order")
	for name, c := range map[string]struct {
		fails  []error // of the first calls
		after  time.Duration
		buried string // why, if the event is not delivered
	}{
		"no failure":            {nil, 0, ""},
		"two failures":          {[]error{failed, failed}, 3 * time.Minute, ""},
		"three failures":        {[]error{failed, failed, failed}, 0, "after 3 attempts: out of order"},
		"three kills":           {[]error{killed, killed, killed}, 7 * time.Second, ""},
		"twelve kills":          {slices.Repeat([]error{killed}, 12), (511 + 3*300) * time.Second, ""},
		"kills and failures":    {[]error{killed, failed, killed, killed, failed, killed}, (1 + 60 + 2 + 4 + 120 + 8) * time.Second, ""},
		"kills for six hours":   {slices.Repeat([]error{killed}, 78), 511*time.Second + 69*5*time.Minute, ""},
		"and one more":          {slices.Repeat([]error{killed}, 80), 0, "after 80 attempts: out of order"},
		"kills for longer":      {slices.Repeat([]error{killed}, 500), 0, "out of order"},
		"a failure at the last": {append(slices.Repeat([]error{killed}, 78), failed), 511*time.Second + 69*5*time.Minute + time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &target{fails: c.fails}
				b, client := open(t, events.Options{Invoke: f.invoke})
				b.Start()
				aim(t, client)
				begin := time.Now()
				b.Emit("shop", "Opened", nil, 1)
				time.Sleep(24 * time.Hour)
				dead := b.DeadLetters()
				switch {
				case c.buried != "" && (len(dead) != 1 || !strings.Contains(dead[0].Reason, c.buried) || f.details() != ""):
					t.Errorf("the dead-letter queue holds %v, want one event because %s", dead, c.buried)
				case c.buried == "" && (len(dead) > 0 || f.details() != "1" || f.at[0].Sub(begin) != c.after):
					t.Errorf("delivered %s at %v, want after %s; the dead-letter queue holds %v", f.details(), f.at, c.after, dead)
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// Tests can lose, double, delay and reorder deliveries.
func TestDisturbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &target{}
		ways := map[string][]time.Duration{"1": nil, "2": {0, time.Second}, "3": {time.Hour}, "4": {time.Minute}}
		b, client := open(t, events.Options{Invoke: f.invoke, Disturb: func(e events.Event, _ string) []time.Duration { return ways[string(e.Detail)] }})
		b.Start()
		aim(t, client)
		for n := range 4 {
			b.Emit("shop", "Opened", nil, n+1)
		}
		time.Sleep(2 * time.Hour)
		if f.details() != "2 2 4 3" || b.Undelivered() != 0 {
			t.Errorf("delivered %s, %d left", f.details(), b.Undelivered())
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// After a restart, the bus has its rules, and delivers only the events that were not delivered before.
func TestUndeliveredOutlivesTheProcess(t *testing.T) {
	folder := t.TempDir()
	f := &target{}
	b, client := open(t, events.Options{Folder: folder, Invoke: f.invoke})
	b.Start()
	aim(t, client)
	b.Emit("shop", "Opened", nil, 1)
	for b.Undelivered() > 0 {
		time.Sleep(time.Millisecond)
	}
	f.fails = slices.Repeat([]error{errors.New("out of order")}, 1000)
	b.Emit("shop", "Opened", nil, 2)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	f.fails = nil
	b, client = open(t, events.Options{Folder: folder, Invoke: f.invoke})
	b.Emit("shop", "Opened", nil, 3)
	if f.details() != "1" {
		t.Errorf("delivered %s before the start", f.details())
	}
	b.Start()
	for b.Undelivered() > 0 {
		time.Sleep(time.Millisecond)
	}
	if got := f.details(); got != "1 2 3" && got != "1 3 2" {
		t.Errorf("delivered %s", got)
	}
	rules, err := client.ListRules(t.Context(), &sdk.ListRulesInput{})
	if err != nil || len(rules.Rules) != 1 || aws.ToString(rules.Rules[0].Name) != "shop" {
		t.Errorf("rules after a restart: %+v %v", rules, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRules(t *testing.T) {
	_, client := open(t, events.Options{Invoke: (&target{}).invoke})
	aim(t, client)
	code := func(err error) string {
		var refused smithy.APIError
		if errors.As(err, &refused) {
			return refused.ErrorCode()
		}
		return ""
	}
	_, err := client.PutRule(t.Context(), &sdk.PutRuleInput{Name: aws.String("bad"), EventPattern: aws.String(`{"source":[{"contains":"x"}]}`)})
	if code(err) != "InvalidEventPatternException" {
		t.Errorf("an unknown operator gave %v", err)
	}
	_, err = client.PutRule(t.Context(), &sdk.PutRuleInput{Name: aws.String("bad")})
	if code(err) != "ValidationException" {
		t.Errorf("a rule that waits for nothing gave %v", err)
	}
	if _, err = client.DescribeRule(t.Context(), &sdk.DescribeRuleInput{Name: aws.String("none")}); code(err) != "ResourceNotFoundException" {
		t.Errorf("a rule that is not there gave %v", err)
	}
	queue, err := client.PutTargets(t.Context(), &sdk.PutTargetsInput{Rule: aws.String("shop"), Targets: []types.Target{{Id: aws.String("q"), Arn: aws.String("arn:aws:sqs:us-east-1:000000000000:q")}}})
	if err != nil || queue.FailedEntryCount != 1 {
		t.Errorf("a queue as target gave %+v %v", queue, err)
	}
	if _, err = client.DeleteRule(t.Context(), &sdk.DeleteRuleInput{Name: aws.String("shop")}); code(err) != "UnknownOperationException" {
		t.Errorf("an operation that the emulator does not have gave %v", err)
	}
}
