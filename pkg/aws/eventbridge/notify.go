// Package eventbridge tells the world what happened.
package eventbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Source and DetailType are what EventBridge rules find our events by.
const (
	Source     = "stackwright"
	DetailType = "Stackwright Run State Change"
)

// client is the part of the SDK's EventBridge client that is used here.
type client interface {
	PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error)
}

// A Bus puts what happens to runs on an EventBridge event bus. It is an
// engine.World.
type Bus struct {
	client client
	name   string
	log    *slog.Logger
}

// New returns the event bus of the given name. What cannot be put on it is
// logged. It asks for nothing.
func New(c client, bus string, log *slog.Logger) *Bus { return &Bus{client: c, name: bus, log: log} }

// A Change is the detail of an event: what a run has come to. There are no
// parameters and no outputs in it.
//
// Whatever is a single string can be put into a text by EventBridge as it is: see
// plain. So a rule makes a message for a chat of it, a thread for each run.
type Change struct {
	Run       string             `json:"run"`
	Project   string             `json:"project"` // "shop@prod"
	Operation string             `json:"operation"`
	Of        string             `json:"of,omitempty"` // the run that it retries, or rolls back
	State     run.State          `json:"state"`
	By        string             `json:"superseded_by,omitempty"` // the run that takes its place
	Title     string             `json:"title"`                   // of all that is told of the run
	Text      string             `json:"text"`                    // all this in a sentence, for people
	Why       string             `json:"why"`                     // the first messages, and which steps failed; "" if there is nothing to say
	Steps     map[run.Status]int `json:"steps"`                   // how many, by status
	Unchanged int                `json:"unchanged"`
	Seconds   int                `json:"seconds"` // from when it was asked for to its end; 0 before
	Messages  []string           `json:"messages"`
}

// An event holds 256 KB. Whoever wants to read more looks at the run.
const (
	mostMessages = 20
	mostLetters  = 1000 // of each
)

// Told is engine.World.
func (b *Bus) Notify(ctx context.Context, r run.Run) {
	detail, err := json.Marshal(change(r))
	if err == nil {
		err = b.put(ctx, r, string(detail))
	}
	if err != nil {
		b.log.WarnContext(ctx, "nobody was told of a run", "run", r.ID, "project", r.Project, "state", r.State, "why", err.Error())
	}
}

// put puts an event on the bus.
func (b *Bus) put(ctx context.Context, r run.Run, detail string) error {
	at := r.Ended
	if at.IsZero() {
		at = time.Now()
	}
	out, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
		EventBusName: &b.name, Source: aws.String(Source), DetailType: aws.String(DetailType), Time: &at, Detail: &detail,
	}}})
	if err != nil {
		return fmt.Errorf("put an event on bus %s: %w", b.name, err)
	}
	for _, e := range out.Entries {
		if e.ErrorCode != nil {
			return fmt.Errorf("put an event on bus %s: %s: %s", b.name, aws.ToString(e.ErrorCode), aws.ToString(e.ErrorMessage))
		}
	}
	return nil
}

// change says what r has come to.
func change(r run.Run) Change {
	c := Change{
		Run: plain(r.ID), Project: plain(r.Project), Operation: plain(r.Operation), Of: plain(r.Of), State: r.State, By: plain(r.By),
		Title: plain(title(r)), Text: plain(text(r)), Why: plain(why(r)), Steps: make(map[run.Status]int),
		Unchanged: r.Unchanged, Messages: make([]string, 0, min(len(r.Messages), mostMessages+1)),
	}
	for _, s := range r.Steps {
		c.Steps[s.Status]++
	}
	if !r.Ended.IsZero() {
		c.Seconds = int(r.Ended.Sub(r.Requested) / time.Second)
	}
	for i, m := range r.Messages {
		if i == mostMessages {
			c.Messages = append(c.Messages, fmt.Sprintf("and %d more", len(r.Messages)-i))
			break
		}
		if letters := []rune(m); len(letters) > mostLetters {
			m = string(letters[:mostLetters]) + "…"
		}
		c.Messages = append(c.Messages, m)
	}
	return c
}

// text says in a sentence what r has come to.
func text(r run.Run) string {
	what := title(r)
	if plan.AllOperations().Of(r.Operation).Restores {
		what += ", for run " + r.Of + ","
	}
	switch r.State {
	case run.StateQueued:
		return what + " waits in line: another run holds the lock"
	case run.StateRunning:
		return what + " has begun"
	case run.StateWaiting:
		return what + " is parked: only a person can move it on"
	case run.StateSucceeded, run.StateFailed:
		return what + " " + string(r.State)
	case run.StateSuperseded:
		if r.By != "" {
			return what + " was superseded by run " + r.By
		}
	}
	return what + " was " + string(r.State)
}
