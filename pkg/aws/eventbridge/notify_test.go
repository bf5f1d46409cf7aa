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
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/google/go-cmp/cmp"

	bus "github.com/stackwright/stackwright/pkg/aws/eventbridge"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

var _ engine.Notifier = (*bus.Bus)(nil)

// A post is an event bus that keeps what it is given, or refuses it.
type post struct {
	kept   []types.PutEventsRequestEntry
	refuse string
	fail   error
}

// PutEvents keeps events.
func (p *post) PutEvents(_ context.Context, in *eventbridge.PutEventsInput, _ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	p.kept = append(p.kept, in.Entries...)
	out := &eventbridge.PutEventsOutput{Entries: []types.PutEventsResultEntry{{EventId: aws.String("1")}}}
	if p.refuse != "" {
		out.FailedEntryCount, out.Entries = 1, []types.PutEventsResultEntry{{ErrorCode: &p.refuse, ErrorMessage: aws.String("no")}}
	}
	return out, p.fail
}

// ended is a run that failed after 90 seconds.
func ended() run.Run {
	asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return run.Run{
		Request: run.Request{ID: "one", Project: "shop@prod", Operation: "deploy"},
		State:   run.StateFailed, Messages: []string{"why"}, Unchanged: 2, Requested: asked, Ended: asked.Add(90 * time.Second), Token: "secret-token", Steps: []run.Step{
			{Step: plan.Step{ID: "vpc/create"}, Status: run.Done, Why: "secret-why"}, {Step: plan.Step{ID: "db/create"}, Status: run.Failed},
			{Step: plan.Step{ID: "app/create"}, Status: run.Skipped}, {Step: plan.Step{ID: "api/create"}, Status: run.Skipped},
		},
	}
}

// The world is told what a run has come to, in numbers.
func TestTold(t *testing.T) {
	var p post
	var log bytes.Buffer
	bus.New(&p, "bus", slog.New(slog.NewTextHandler(&log, nil))).Notify(t.Context(), ended())
	if len(p.kept) != 1 || log.Len() > 0 {
		t.Fatalf("%d events, log %q", len(p.kept), log.String())
	}
	e := p.kept[0]
	if *e.EventBusName != "bus" || *e.Source != "stackwright" || *e.DetailType != "Stackwright Run State Change" || !e.Time.Equal(ended().Ended) {
		t.Errorf("event %s %s %s %s", *e.EventBusName, *e.Source, *e.DetailType, e.Time)
	}
	want := `{"run":"one","project":"shop@prod","operation":"deploy","state":"failed","title":"deploy of shop@prod","text":"deploy of shop@prod failed","why":"why; failed: db/create","steps":{"done":1,"failed":1,"skipped":2},"unchanged":2,"seconds":90,"messages":["why"]}`
	if diff := cmp.Diff(want, *e.Detail); diff != "" {
		t.Error(diff)
	}
}

// Each event says in a sentence what has become of its run.
func TestText(t *testing.T) {
	for want, r := range map[string]run.Run{
		"deploy of shop@prod waits in line: another run holds the lock": {State: run.StateQueued},
		"deploy of shop@prod has begun":                                 {State: run.StateRunning},
		"deploy of shop@prod is parked: only a person can move it on":   {State: run.StateWaiting},
		"deploy of shop@prod succeeded":                                 {State: run.StateSucceeded},
		"deploy of shop@prod was cancelled":                             {State: run.StateCancelled},
		"deploy of shop@prod was refused":                               {State: run.StateRefused},
		"deploy of shop@prod was superseded by run two":                 {State: run.StateSuperseded, By: "two"},
		"deploy of shop@prod was superseded":                            {State: run.StateSuperseded},
		"rollback of shop@prod, for run zero, succeeded":                {Request: run.Request{Operation: "rollback", Of: "zero"}, State: run.StateSucceeded},
	} {
		var p post
		r.Project = "shop@prod"
		if r.Operation == "" {
			r.Operation = "deploy"
		}
		bus.New(&p, "bus", slog.New(slog.DiscardHandler)).Notify(t.Context(), r)
		var got bus.Change
		if err := json.Unmarshal([]byte(*p.kept[0].Detail), &got); err != nil {
			t.Fatal(err)
		}
		if got.Text != want || got.Of != r.Of || got.By != r.By {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

// However much a run has to say, an event has room for it.
func TestManyMessages(t *testing.T) {
	var p post
	r := ended()
	r.Messages = nil
	for range 5000 {
		r.Messages = append(r.Messages, strings.Repeat("ü", 5000))
	}
	bus.New(&p, "bus", slog.New(slog.DiscardHandler)).Notify(t.Context(), r)
	var got bus.Change
	if err := json.Unmarshal([]byte(*p.kept[0].Detail), &got); err != nil {
		t.Fatal(err)
	}
	if len(*p.kept[0].Detail) > 256<<10 || len(got.Messages) != 21 || got.Messages[20] != "and 4980 more" {
		t.Errorf("%d bytes, %d messages", len(*p.kept[0].Detail), len(got.Messages))
	}
}

// What cannot be passed on is logged.
func TestNobodyListens(t *testing.T) {
	for want, p := range map[string]*post{"ThrottlingException: no": {refuse: "ThrottlingException"}, "unreachable": {fail: errors.New("unreachable")}} {
		var log bytes.Buffer
		bus.New(p, "bus", slog.New(slog.NewTextHandler(&log, nil))).Notify(t.Context(), ended())
		for _, word := range []string{want, "run=one", "state=failed"} {
			if !strings.Contains(log.String(), word) {
				t.Errorf("no %q in %s", word, fmt.Sprint(log.String()))
			}
		}
	}
}

// Whatever somebody managed to call a run's things, EventBridge makes a message of
// its event: it puts strings between the quotes of a template as they are.
func TestAMessageCanBeMadeOfAnyEvent(t *testing.T) {
	const template = `{"version": "1.0", "content": {"title": "<title>: <state>", "description": "<text> <why>"}, "metadata": {"threadId": "<run>", "summary": "<operation> <project> <of> <superseded_by>"}}`
	for _, nasty := range []string{
		`say "no"`, `C:\new`, "two\nlines\r\n", "\x00\x07\x1b[31m\x7f\u0085", "\u2028\u2029", "<run> <!channel>", "\xff\xfe", `","x":"`, `\`, "ünï 🚀", strings.Repeat("\"", 5000),
	} {
		r := ended()
		r.ID, r.Project, r.Operation, r.Of, r.By = nasty, nasty, nasty, nasty, nasty
		r.Messages = []string{nasty, nasty, nasty, nasty}
		r.Steps[1].ID = nasty
		for _, s := range []run.State{run.StateQueued, run.StateRunning, run.StateWaiting, run.StateFailed, run.StateSuperseded, run.StateRefused} {
			r.State = s
			var p post
			bus.New(&p, "bus", slog.New(slog.DiscardHandler)).Notify(t.Context(), r)
			var detail map[string]any
			if err := json.Unmarshal([]byte(*p.kept[0].Detail), &detail); err != nil {
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
				t.Errorf("of %q it makes %s: %v", nasty, message, err)
			}
		}
	}
}

// A message names what failed, as far as there is room, and why if we know.
func TestWhy(t *testing.T) {
	many := run.Run{State: run.StateFailed, Messages: []string{"a", "b", "c", "d"}}
	for i := range 9 {
		many.Steps = append(many.Steps, run.Step{Step: plan.Step{ID: fmt.Sprint(i)}, Status: run.Failed, Why: "secret-why"})
	}
	for want, r := range map[string]run.Run{
		"": {State: run.StateRunning},
		"stackwright.yaml:3:1: unknown key 'stack'":  {State: run.StateRefused, Messages: []string{`stackwright.yaml:3:1: unknown key "stack"`}},
		"a; b; c; failed: 0, 1, 2, 3, 4, and others": many,
	} {
		var p post
		bus.New(&p, "bus", slog.New(slog.DiscardHandler)).Notify(t.Context(), r)
		var got bus.Change
		if err := json.Unmarshal([]byte(*p.kept[0].Detail), &got); err != nil || got.Why != want {
			t.Errorf("it says %q, not %q: %v", got.Why, want, err)
		}
	}
}
