package events

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// longestPause is the longest pause between two attempts.
const longestPause = time.Minute

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

// deliver tries until the function succeeds or the attempts are used up; false means that the bus was closed first.
func (b *Bus) deliver(d Delivery) bool {
	payload, err := json.Marshal(d.Event)
	if err != nil {
		b.giveUp(d, err)
		return true
	}
	for attempt := 1; ; attempt++ {
		_, err := b.opts.Invoke(b.ctx, d.Function, payload)
		switch {
		case err == nil:
			return true
		case b.ctx.Err() != nil:
			return false
		case attempt == b.opts.Attempts:
			b.giveUp(d, fmt.Errorf("after %d attempts: %w", attempt, err))
			return true
		case !b.pause(min(time.Second<<(attempt-1), longestPause)):
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
