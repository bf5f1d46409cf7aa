// Package events emulates EventBridge on this machine: rules send events to functions.
package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stackwright/stackwright/infra/local/journal"
)

// Event is the event that a function receives.
type Event struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       time.Time       `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// Options configure the bus, and how it delivers.
type Options struct {
	// Folder stores the rules and the undelivered events; "" keeps them in memory only.
	Folder          string
	Account, Region string
	// Invoke calls a function, by its ARN. After an error, Lambda calls it again, for how long depends on the error: one
	// with an ErrorType is of the function, any other one of Lambda.
	Invoke func(ctx context.Context, function string, payload []byte) ([]byte, error)
	// Disturb, for tests, returns the delays of the deliveries of an event: nil loses it, {0, 0} delivers it twice,
	// {time.Minute} delivers it late, and different delays reorder. Without Disturb each event is delivered once, at
	// once.
	Disturb func(event Event, function string) []time.Duration
	// Seen, if set, is called with each event that is put on the bus, in order. It must not use the bus.
	Seen func(Event)
	// Log gets the deliveries that were given up; nil drops them.
	Log io.Writer
}

// Bus is the default event bus of one account and region. Use Open.
type Bus struct {
	opts   Options
	log    *journal.Journal[record]
	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu          sync.Mutex
	rules       map[string]*rule
	pending     map[string]Delivery
	next        uint64
	started     bool
	closed      bool
	deadLetters []DeadLetter
}

// Delivery is an event for one function.
type Delivery struct {
	ID       string `json:"id"`
	Function string `json:"function"`
	Event    Event  `json:"event"`
}

// DeadLetter is a delivery that was given up, and why.
type DeadLetter struct {
	Delivery
	Reason string
}

// record is one line of the journal: a request about rules, a delivery to make, the ID of one that was made, or the
// next time of a schedule.
type record struct {
	Operation string          `json:"operation,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"`
	Delivery  *Delivery       `json:"delivery,omitempty"`
	Done      string          `json:"done,omitempty"`
	Due       *due            `json:"due,omitempty"`
}

// Open makes a bus, with the rules in the folder if one is given. Nothing is delivered before Start.
func Open(opts Options) (*Bus, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &Bus{opts: opts, ctx: ctx, cancel: cancel, rules: map[string]*rule{}, pending: map[string]Delivery{}}
	b.next = uint64(time.Now().UnixNano())
	log, err := journal.Restore(opts.Folder, "events.jsonl", b.replay, b.records)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("open event bus: %w", err)
	}
	b.log = log
	return b, nil
}

func (b *Bus) replay(r record) error {
	switch {
	case r.Delivery != nil:
		b.pending[r.Delivery.ID] = *r.Delivery
	case r.Done != "":
		delete(b.pending, r.Done)
	case r.Due != nil:
		if known, ok := b.rules[r.Due.Rule]; ok {
			known.due = r.Due.At
		}
	default:
		if _, err := b.change(r.Operation, r.Body); err != nil {
			return fmt.Errorf("replay %s: %w", r.Operation, err)
		}
	}
	return nil
}

// Start starts deliveries, including those that were left at the last Close, and schedules.
func (b *Bus) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = true
	for _, id := range slices.Sorted(maps.Keys(b.pending)) {
		b.startDelivery(b.pending[id])
	}
	b.setTimers()
}

// Close stops schedules and deliveries. Unfinished deliveries are made after the next Open, each at least once.
func (b *Bus) Close() error {
	b.mu.Lock()
	b.closed = true
	for _, r := range b.rules {
		r.stopTimer()
	}
	b.mu.Unlock()
	b.cancel()
	b.tasks.Wait()
	return b.log.Close()
}

// Emit puts an event on the bus. Its account and region are those in the ARN of the first resource, or else the bus's
// own. Emit returns at once; functions are invoked in the background.
func (b *Bus) Emit(source, detailType string, resources []string, detail any) {
	body, err := json.Marshal(detail)
	if err != nil {
		_, _ = fmt.Fprintf(b.opts.Log, "event %s of %s: %v\n", detailType, source, err) // an error of the log cannot be logged
		return
	}
	e := Event{DetailType: detailType, Source: source, Time: time.Now().UTC(), Resources: resources, Detail: body}
	e.Region, e.Account = b.origin(resources)
	if err := b.put(&e); err != nil {
		_, _ = fmt.Fprintf(b.opts.Log, "event %s of %s: %v\n", detailType, source, err)
	}
}

func (b *Bus) origin(resources []string) (region, account string) {
	region, account = b.opts.Region, b.opts.Account
	if len(resources) == 0 {
		return region, account
	}
	if arn := strings.SplitN(resources[0], ":", 6); len(arn) == 6 && arn[3] != "" && arn[4] != "" {
		return arn[3], arn[4]
	}
	return region, account
}

// put gives the event its ID and delivers it.
func (b *Bus) put(e *Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errors.New("the bus is closed")
	}
	b.stamp(e)
	if b.opts.Seen != nil {
		b.opts.Seen(*e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return b.send(*e, b.matchingTargets(text))
}

// stamp sets the fields that EventBridge sets. The caller holds b.mu.
func (b *Bus) stamp(e *Event) {
	b.next++
	e.Version, e.ID = "0", fmt.Sprintf("00000000-0000-4000-%04x-%012x", 0x8000|b.next>>48, b.next&0xffff_ffff_ffff)
	if e.Resources == nil {
		e.Resources = []string{}
	}
	e.Time = e.Time.Truncate(time.Second) // as EventBridge does
}

// send stores and starts a delivery of the event to each function. The caller holds b.mu.
func (b *Bus) send(e Event, functions []string) error {
	for i, function := range functions {
		d := Delivery{ID: fmt.Sprintf("%s/%d", e.ID, i), Function: function, Event: e}
		if err := b.log.Append(record{Delivery: &d}); err != nil {
			return err
		}
		b.pending[d.ID] = d
		if b.started {
			b.startDelivery(d)
		}
	}
	return nil
}

// Undelivered counts the unfinished deliveries.
func (b *Bus) Undelivered() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending)
}
