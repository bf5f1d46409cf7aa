package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// How Lambda handles an event that it could not process, with the default settings, which are those of an installation.
// If the function returns an error, crashes or times out, Lambda calls it twice more, one minute and then two minutes
// later. If the function could not run, because Lambda throttled it or failed itself, Lambda calls it again for six
// hours; the pause grows from one second to five minutes. EventBridge delivers an event as soon as Lambda has accepted
// it; its own 185 attempts are for a Lambda that accepts nothing, which this one never does.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-retry-policy.html
const (
	// MaxEventAge is how long after the event Lambda calls the function again.
	MaxEventAge = 6 * time.Hour
	// MaxRetries is how often Lambda calls a function again that has failed itself.
	MaxRetries   = 2
	longestPause = 5 * time.Minute // between two calls of a function that could not run
)

// retries counts the failed calls of a function with one event.
type retries struct {
	since          time.Time // the first call
	failed, notRun int
}

// next returns the pause before the next call after err; false means that Lambda gives up.
func (r *retries) next(err error) (time.Duration, bool) {
	pause := longestPause
	if failed, ok := errors.AsType[interface {
		error
		ErrorType() string
	}](err); ok && failed.ErrorType() != "" {
		r.failed++
		pause = time.Duration(r.failed) * time.Minute
	} else {
		r.notRun++
		if n := r.notRun - 1; n < 9 { // 2⁹ seconds are more than five minutes
			pause = min(time.Second<<n, longestPause)
		}
	}
	return pause, r.failed <= MaxRetries && time.Since(r.since)+pause <= MaxEventAge
}

// startDelivery delivers in the background. The caller holds b.mu.
func (b *Bus) startDelivery(d Delivery) {
	if b.closed {
		return
	}
	delays := []time.Duration{0}
	if b.opts.Disturb != nil {
		delays = b.opts.Disturb(d.Event, d.Function)
	}
	if len(delays) == 0 {
		b.done(d)
		return
	}
	left := &atomic.Int32{}
	left.Store(int32(len(delays)))
	for _, delay := range delays {
		b.tasks.Go(func() {
			finished := b.pause(delay) && b.deliver(d)
			if left.Add(-1) == 0 && finished {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.done(d)
			}
		})
	}
}

// deliver calls the function until it succeeds or Lambda gives up; false means that the bus was closed first.
func (b *Bus) deliver(d Delivery) bool {
	payload, err := json.Marshal(d.Event)
	if err != nil {
		b.giveUp(d, err)
		return true
	}
	r := retries{since: time.Now()}
	for attempt := 1; ; attempt++ {
		_, err := b.opts.Invoke(b.ctx, d.Function, payload)
		if err == nil {
			return true
		}
		if b.ctx.Err() != nil {
			return false
		}
		pause, again := r.next(err)
		if !again {
			b.giveUp(d, fmt.Errorf("after %d attempts: %w", attempt, err))
			return true
		}
		if !b.pause(pause) {
			return false
		}
	}
}

// pause waits; false means that the bus was closed meanwhile.
func (b *Bus) pause(d time.Duration) bool {
	if d <= 0 {
		return b.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-b.ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// done records that the delivery has ended. The caller holds b.mu.
func (b *Bus) done(d Delivery) {
	delete(b.pending, d.ID)
	if err := b.log.Append(record{Done: d.ID}); err != nil {
		_, _ = fmt.Fprintf(b.opts.Log, "event %s: %v; it will be delivered once more\n", d.ID, err)
	}
}

func (b *Bus) giveUp(d Delivery, why error) {
	_, _ = fmt.Fprintf(b.opts.Log, "event %s of %s was not delivered to %s: %v\n", d.Event.DetailType, d.Event.Source, d.Function, why)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadLetters = append(b.deadLetters, DeadLetter{d, why.Error()})
}

// DeadLetters lists the deliveries that were given up since Open.
func (b *Bus) DeadLetters() []DeadLetter {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.deadLetters)
}
