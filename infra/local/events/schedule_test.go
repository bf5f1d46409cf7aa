package events_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/stackwright/stackwright/infra/local/events"
)

// sweep makes a rule with a schedule and the function as target.
func sweep(t *testing.T, client *sdk.Client, schedule string) {
	t.Helper()
	if _, err := client.PutRule(t.Context(), &sdk.PutRuleInput{Name: aws.String("sweep"), ScheduleExpression: &schedule}); err != nil {
		t.Fatal(err)
	}
	_, err := client.PutTargets(t.Context(), &sdk.PutTargetsInput{Rule: aws.String("sweep"), Targets: []types.Target{{Id: aws.String("1"), Arn: aws.String(function)}}})
	if err != nil {
		t.Fatal(err)
	}
}

// A schedule sends its event to the targets of its rule, first one interval after the rule was made and then once in each
// interval. Putting the same rule again does not change the times. A disabled rule sends nothing. The bus can be closed
// while a schedule is active.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &target{}
		b, client := open(t, events.Options{Invoke: f.invoke})
		b.Start()
		all := `{"account":["000000000000"]}`
		if _, err := client.PutRule(t.Context(), &sdk.PutRuleInput{Name: aws.String("all"), EventPattern: &all}); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		sweep(t, client, "rate(5 minutes)")
		time.Sleep(7 * time.Minute)
		sweep(t, client, "rate(5 minutes)")
		time.Sleep(9 * time.Minute)
		got, at := f.received()
		if len(got) != 3 {
			t.Fatalf("received %d events in 16 minutes, want 3", len(got))
		}
		for i, e := range got {
			if at := at[i].Sub(begin); at != time.Duration(i+1)*5*time.Minute {
				t.Errorf("event %d came after %s", i, at)
			}
			if e.Source != "aws.events" || e.DetailType != "Scheduled Event" || string(e.Detail) != "{}" || e.ID == "" ||
				len(e.Resources) != 1 || e.Resources[0] != "arn:aws:events:us-east-1:000000000000:rule/sweep" {
				t.Errorf("event %+v", e)
			}
		}
		if _, err := client.PutRule(t.Context(), &sdk.PutRuleInput{
			Name: aws.String("sweep"), ScheduleExpression: aws.String("rate(5 minutes)"), State: types.RuleStateDisabled,
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if got, _ := f.received(); len(got) != 3 {
			t.Errorf("a disabled rule sent %d events", len(got)-3)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A schedule that was due several times while no process had the folder open sends one
// event when the folder is opened.
func TestScheduleMakesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder, f := t.TempDir(), &target{}
		b, client := open(t, events.Options{Folder: folder, Invoke: f.invoke})
		b.Start()
		sweep(t, client, "rate(1 hour)")
		for _, away := range []time.Duration{0, 0, 90 * time.Minute} {
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(away)
			b, _ = open(t, events.Options{Folder: folder, Invoke: f.invoke})
			b.Start()
			time.Sleep(time.Second)
		}
		if got, _ := f.received(); len(got) != 1 {
			t.Errorf("received %d events, want 1", len(got))
		}
		time.Sleep(time.Hour)
		if got, _ := f.received(); len(got) != 2 {
			t.Errorf("received %d events an hour later, want 2", len(got))
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestScheduleForms(t *testing.T) {
	_, client := open(t, events.Options{Invoke: (&target{}).invoke})
	for form, sound := range map[string]bool{
		"rate(1 minute)": true, "rate(2 minutes)": true, "rate(1 day)": true, "rate(12 hours)": true,
		"rate(1 minutes)": false, "rate(2 minute)": false, "rate(0 minutes)": false, "rate(5 weeks)": false, "5 minutes": false,
		"cron(0 12 * * ? *)": false,
	} {
		if _, err := client.PutRule(t.Context(), &sdk.PutRuleInput{Name: aws.String("x"), ScheduleExpression: &form}); (err == nil) != sound {
			t.Errorf("%s: %v", form, err)
		}
	}
}
