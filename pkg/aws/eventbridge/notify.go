// Package eventbridge publishes the state changes of runs.
package eventbridge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Source and DetailType are what EventBridge rules match our events by.
const (
	Source     = "stackwright"
	DetailType = "Stackwright Run State Change"
)

// client is the part of the SDK's EventBridge client that is used here.
type client interface {
	PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error)
}

// A Bus publishes the state changes of runs on an EventBridge event bus. It is an
// engine.Notifier. Delivery is best effort: an event may be delivered twice or not
// at all.
type Bus struct {
	client client
	name   string
	log    *slog.Logger
}

// New returns the event bus of a name. Events that cannot be published are logged.
// New sends no request.
func New(c client, bus string, log *slog.Logger) *Bus { return &Bus{client: c, name: bus, log: log} }

// A Change is the detail of an event: the new state of a run. It holds no
// parameters and no outputs.
//
// EventBridge can copy each string field into a text (see plain), so that a rule
// can make a chat message of an event, with a thread for each run.
type Change struct {
	Run       string             `json:"run"`
	Project   string             `json:"project"` // "shop@prod"
	Operation string             `json:"operation"`
	Of        string             `json:"of,omitempty"`  // the run that it retries, or rolls back
	Who       string             `json:"who,omitempty"` // who requested it; empty if the run cannot be read
	State     run.State          `json:"state"`
	By        string             `json:"superseded_by,omitempty"` // the run that takes its place
	Title     string             `json:"title"`                   // the same in all events of the run
	Text      string             `json:"text"`                    // the state in a sentence, for people
	Why       string             `json:"why"`                     // the first messages, and which steps failed; may be empty
	Steps     map[run.Status]int `json:"steps"`                   // how many, by status
	Unchanged int                `json:"unchanged"`
	Seconds   int                `json:"seconds"`               // from the request of the run to its end; 0 before its end
	End       time.Time          `json:"expected_end,omitzero"` // of a run that is being executed: when it will probably end
	Messages  []string           `json:"messages"`
	Differing []string           `json:"differing,omitempty"` // stacks that the run has found to differ from what is known of them
}

// An event holds at most 256 KB. The run itself has all messages.
const (
	mostMessages  = 20
	mostDiffering = 100
	mostLetters   = 1000 // of each
)

// Notify implements engine.Notifier.
func (b *Bus) Notify(ctx context.Context, r run.Run) {
	at := cmp.Or(r.Ended, time.Now())
	detail, err := json.Marshal(change(r, at))
	if err == nil {
		err = b.publish(ctx, at, string(detail))
	}
	if err != nil {
		b.log.WarnContext(ctx, "an event was not published", "run", r.ID, "project", r.Project, "state", r.State, "why", err.Error())
	}
}

// publish puts an event on the bus.
func (b *Bus) publish(ctx context.Context, at time.Time, detail string) error {
	out, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
		EventBusName: &b.name, Source: aws.String(Source), DetailType: aws.String(DetailType), Time: &at, Detail: &detail,
	}}})
	if err != nil {
		return awserr.Fault("put an event on bus "+b.name, "event bus "+b.name, err, nil)
	}
	for _, e := range out.Entries {
		if e.ErrorCode != nil {
			return fmt.Errorf("put an event on bus %s: %s: %s", b.name, aws.ToString(e.ErrorCode), aws.ToString(e.ErrorMessage))
		}
	}
	return nil
}

// change returns the event of a run's state at a time.
func change(r run.Run, at time.Time) Change {
	c := Change{
		Run: plain(r.ID), Project: plain(r.Project), Operation: plain(r.Operation), Of: plain(r.Of), Who: plain(r.By()), State: r.State, By: plain(r.SupersededBy),
		Title: plain(title(r)), Text: plain(text(r)), Why: plain(why(r)), Steps: make(map[run.Status]int),
		Unchanged: r.Unchanged, Messages: make([]string, 0, min(len(r.Messages), mostMessages+1)),
	}
	for _, s := range r.Steps {
		c.Steps[s.Status]++
	}
	if f, ok := r.Forecast(at); ok {
		c.End = f.End.UTC().Round(time.Second)
		c.Text += plain(": it will probably take " + run.About(f.End.Sub(at)))
	}
	if !r.Ended.IsZero() {
		c.Seconds = int(r.Ended.Sub(r.Requested) / time.Second)
	}
	differing := r.Differing()
	for _, node := range differing[:min(len(differing), mostDiffering)] {
		c.Differing = append(c.Differing, plain(node))
	}
	for i, m := range r.Messages {
		if i == mostMessages {
			c.Messages = append(c.Messages, fmt.Sprintf("and %d more", len(r.Messages)-i))
			break
		}
		c.Messages = append(c.Messages, cut(m))
	}
	return c
}

// nodes names the stacks of steps.
func nodes(r run.Run, steps []string) string {
	var all []string
	for _, id := range steps {
		all = append(all, r.Step(id).Node)
	}
	return strings.Join(all, ", ")
}

// text returns the state of a run in a sentence.
func text(r run.Run) string {
	what := title(r)
	if plan.AllOperations().Of(r.Operation).Restores {
		what += ", for run " + r.Of + ","
	}
	switch r.State {
	case run.StateQueued:
		return what + " is queued: another run holds the lock"
	case run.StateRunning:
		return what + " has started"
	case run.StateWaiting:
		if len(r.Questions()) > 0 && r.Command == run.Continue {
			of := ""
			if steps := r.Asks(); len(steps) > 0 && r.Step(steps[0]).Node != "" {
				of = " of what it does with " + cut(nodes(r, steps))
			}
			return what + " waits for approval" + of + ": stackwright approve " + r.ID + ", or stackwright reject " + r.ID + " --reason WHY"
		}
		return what + " is waiting: it continues or ends only by a command"
	case run.StateSucceeded, run.StateFailed:
		what += " " + string(r.State)
		if n := len(r.Differing()); n > 0 {
			what += fmt.Sprintf(": %d of the stacks differ", n)
		}
		return what
	case run.StateSuperseded:
		if r.SupersededBy != "" {
			return what + " was superseded by run " + r.SupersededBy
		}
	}
	return what + " was " + string(r.State)
}
