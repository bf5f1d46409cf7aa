package eventbridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/aws/eventbridge"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

var _ engine.Notifier = (*eventbridge.Bus)(nil)

// A fakeBus is an event bus that records events, or refuses them.
type fakeBus struct {
	events []types.PutEventsRequestEntry
	refuse string
	fail   error
}

// PutEvents records events.
func (p *fakeBus) PutEvents(_ context.Context, in *sdk.PutEventsInput, _ ...func(*sdk.Options)) (*sdk.PutEventsOutput, error) {
	p.events = append(p.events, in.Entries...)
	out := &sdk.PutEventsOutput{Entries: []types.PutEventsResultEntry{{EventId: aws.String("1")}}}
	if p.refuse != "" {
		out.FailedEntryCount, out.Entries = 1, []types.PutEventsResultEntry{{ErrorCode: &p.refuse, ErrorMessage: aws.String("no")}}
	}
	return out, p.fail
}

// ended is a run that failed after 90 seconds.
func ended() run.Run {
	requested := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return run.Run{
		Request: run.Request{ID: "one", Project: "shop@prod", Operation: "deploy", Who: "ann"},
		State:   run.StateFailed, Messages: []string{"why"}, Unchanged: 2, Requested: requested, Ended: requested.Add(90 * time.Second), Token: "secret-token", Steps: []run.Step{
			{Step: plan.Step{ID: "vpc/create"}, Status: run.Done, Why: "secret-why"}, {Step: plan.Step{ID: "db/create"}, Status: run.Failed},
			{Step: plan.Step{ID: "app/create"}, Status: run.Skipped}, {Step: plan.Step{ID: "api/create"}, Status: run.Skipped},
		},
	}
}

// An event holds the state of the run and the numbers of its steps.
func TestNotify(t *testing.T) {
	var p fakeBus
	var log bytes.Buffer
	eventbridge.New(&p, "bus", slog.New(slog.NewTextHandler(&log, nil))).Notify(t.Context(), ended())
	if len(p.events) != 1 || log.Len() > 0 {
		t.Fatalf("%d events, log %q", len(p.events), log.String())
	}
	e := p.events[0]
	if *e.EventBusName != "bus" || *e.Source != "stackwright" || *e.DetailType != "Stackwright Run State Change" || !e.Time.Equal(ended().Ended) {
		t.Errorf("event %s %s %s %s", *e.EventBusName, *e.Source, *e.DetailType, e.Time)
	}
	want := `{"run":"one","project":"shop@prod","operation":"deploy","who":"ann","state":"failed","title":"deploy of shop@prod","text":"deploy of shop@prod failed","why":"why; failed: db/create","steps":{"done":1,"failed":1,"skipped":2},"unchanged":2,"seconds":90,"messages":["why"]}`
	if diff := cmp.Diff(want, *e.Detail); diff != "" {
		t.Error(diff)
	}
}

// Each event has the state of its run in a sentence.
func TestText(t *testing.T) {
	for want, r := range map[string]run.Run{
		"deploy of shop@prod is queued: another run holds the lock": {State: run.StateQueued},
		"deploy of shop@prod has started":                           {State: run.StateRunning},
		"deploy of shop@prod waits for approval: stackwright approve r, or stackwright reject r --reason WHY": {
			Request: run.Request{ID: "r"}, Command: run.Continue, State: run.StateWaiting, Steps: []run.Step{{Step: plan.Step{ID: "approve"}, Status: run.Waiting}},
		},
		"deploy of shop@prod waits for approval of what it does with vpc, db: stackwright approve s, or stackwright reject s --reason WHY": {
			Request: run.Request{ID: "s"}, Command: run.Continue, State: run.StateWaiting, Steps: []run.Step{
				{Step: plan.Step{ID: "vpc/approve", Node: "vpc", Approval: &project.Approval{}}, Status: run.Waiting},
				{Step: plan.Step{ID: "db/approve", Node: "db", Approval: &project.Approval{}}, Status: run.Waiting},
			},
		},
		"deploy of shop@prod is waiting: it continues or ends only by a command": {State: run.StateWaiting},
		"deploy of shop@prod succeeded":                                          {State: run.StateSucceeded},
		"deploy of shop@prod was cancelled":                                      {State: run.StateCancelled},
		"deploy of shop@prod was refused":                                        {State: run.StateRefused},
		"deploy of shop@prod was superseded by run two":                          {State: run.StateSuperseded, SupersededBy: "two"},
		"deploy of shop@prod was superseded":                                     {State: run.StateSuperseded},
		"rollback of shop@prod, for run zero, succeeded":                         {Request: run.Request{Operation: "rollback", Of: "zero"}, State: run.StateSucceeded},
	} {
		var p fakeBus
		r.Project = "shop@prod"
		if r.Operation == "" {
			r.Operation = "deploy"
		}
		eventbridge.New(&p, "bus", slog.New(slog.DiscardHandler)).Notify(t.Context(), r)
		var got eventbridge.Change
		if err := json.Unmarshal([]byte(*p.events[0].Detail), &got); err != nil {
			t.Fatal(err)
		}
		if got.Text != want || got.Of != r.Of || got.By != r.SupersededBy {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

// A run of any number of messages fits into an event.
func TestManyMessages(t *testing.T) {
	var p fakeBus
	r := ended()
	r.Messages = nil
	for range 5000 {
		r.Messages = append(r.Messages, strings.Repeat("ü", 5000))
	}
	eventbridge.New(&p, "bus", slog.New(slog.DiscardHandler)).Notify(t.Context(), r)
	var got eventbridge.Change
	if err := json.Unmarshal([]byte(*p.events[0].Detail), &got); err != nil {
		t.Fatal(err)
	}
	if len(*p.events[0].Detail) > 256<<10 || len(got.Messages) != 21 || got.Messages[20] != "and 4980 more" {
		t.Errorf("%d bytes, %d messages", len(*p.events[0].Detail), len(got.Messages))
	}
}

// An event that cannot be published is logged.
func TestFailedEventsAreLogged(t *testing.T) {
	for want, p := range map[string]*fakeBus{"ThrottlingException: no": {refuse: "ThrottlingException"}, "unreachable": {fail: errors.New("unreachable")}} {
		var log bytes.Buffer
		eventbridge.New(p, "bus", slog.New(slog.NewTextHandler(&log, nil))).Notify(t.Context(), ended())
		for _, word := range []string{want, "run=one", "state=failed"} {
			if !strings.Contains(log.String(), word) {
				t.Errorf("no %q in %s", word, fmt.Sprint(log.String()))
			}
		}
	}
}

// EventBridge can make a message of an event, whatever characters its texts have:
// it copies strings between the quotes of a template without escaping them.
func TestAMessageCanBeMadeOfAnyEvent(t *testing.T) {
	const template = `{"version": "1.0", "content": {"title": "<title>: <state>", "description": "<text> <why>"}, "metadata": {"threadId": "<run>", "summary": "<operation> <project> <of> <superseded_by>"}}`
	for _, nasty := range []string{
		`say "no"`, `C:\new`, "two\nlines\r\n", "\x00\x07\x1b[31m\x7f\u0085", "\u2028\u2029", "<run> <!channel>", "\xff\xfe", `","x":"`, `\`, "ünï 🚀", strings.Repeat("\"", 5000),
	} {
		r := ended()
		r.ID, r.Project, r.Operation, r.Of, r.SupersededBy = nasty, nasty, nasty, nasty, nasty
		r.Messages = []string{nasty, nasty, nasty, nasty}
		r.Steps[1].ID = nasty
		for _, s := range []run.State{run.StateQueued, run.StateRunning, run.StateWaiting, run.StateFailed, run.StateSuperseded, run.StateRefused} {
			r.State = s
			var p fakeBus
			eventbridge.New(&p, "bus", slog.New(slog.DiscardHandler)).Notify(t.Context(), r)
			var detail map[string]any
			if err := json.Unmarshal([]byte(*p.events[0].Detail), &detail); err != nil {
				t.Fatal(err)
			}
			message := template
			for name, value := range detail {
				if text, ok := value.(string); ok {
					message = strings.ReplaceAll(message, "<"+name+">", text)
				}
			}
			var got struct {
				Content struct{ Title, Description string }
			}
			if err := json.Unmarshal([]byte(message), &got); err != nil || strings.ContainsAny(got.Content.Title+got.Content.Description, "<>\n\r\x00") {
				t.Errorf("%q becomes %s: %v", nasty, message, err)
			}
		}
	}
}

// A message names the first failed steps, and the first messages of the run.
func TestWhy(t *testing.T) {
	many := run.Run{State: run.StateFailed, Messages: []string{"a", "b", "c", "d"}}
	for i := range 9 {
		many.Steps = append(many.Steps, run.Step{Step: plan.Step{ID: fmt.Sprint(i)}, Status: run.Failed, Why: "secret-why"})
	}
	for want, r := range map[string]run.Run{
		"": {State: run.StateRunning},
		"stackwright.yaml:3:1: unknown key 'stack'":  {State: run.StateRefused, Messages: []string{`stackwright.yaml:3:1: unknown key "stack"`}},
		"a; b; c; failed: 0, 1, 2, 3, 4, and others": many,
		"stack 'a': (log in)(https: //evil(.)example) or www(.)evil(.)example, says ＠here": {
			State: run.StateRefused, Messages: []string{`stack "a": [log in](https://evil.example) or www.evil.example, says @here`},
		},
	} {
		var p fakeBus
		eventbridge.New(&p, "bus", slog.New(slog.DiscardHandler)).Notify(t.Context(), r)
		var got eventbridge.Change
		if err := json.Unmarshal([]byte(*p.events[0].Detail), &got); err != nil || got.Why != want {
			t.Errorf("it is %q, not %q: %v", got.Why, want, err)
		}
	}
}

// An event of a run that has started says when the run will probably end.
func TestExpectedEnd(t *testing.T) {
	var p fakeBus
	r := ended()
	r.State, r.Ended, r.Command = run.StateRunning, time.Time{}, run.Continue
	r.Steps = []run.Step{{Step: plan.Step{ID: "vpc/create", Node: "vpc", Verb: plan.Create, Expected: 720}, Status: run.Pending}}
	eventbridge.New(&p, "bus", slog.New(slog.DiscardHandler)).Notify(t.Context(), r)
	var got eventbridge.Change
	if err := json.Unmarshal([]byte(*p.events[0].Detail), &got); err != nil {
		t.Fatal(err)
	}
	if want := "deploy of shop@prod has started: it will probably take about 12 min"; got.Text != want {
		t.Errorf("the text is %q, want %q", got.Text, want)
	}
	if off := got.End.Sub(*p.events[0].Time) - 12*time.Minute; off.Abs() > time.Second {
		t.Errorf("the event of %s expects the end at %s", p.events[0].Time, got.End)
	}
}
