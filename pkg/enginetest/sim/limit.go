package sim

import (
	"errors"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
)

// A Limit limits the requests that a cloud accepts. It counts those that it refuses.
type Limit struct {
	Reads, Writes float64 // a second; 0 is no limit
	Burst         float64 // how many at once
	Refused       int

	read, written bucket
}

// admit returns an error of kind Throttled if so many requests to an account and region
// exceed its limit now.
func (c *Cloud) admit(where string, reads, writes int) error {
	l := c.Limits[where]
	if l == nil {
		l = &c.Limit
	}
	return l.admit(c.clock.Now(), reads, writes)
}

// admit returns an error of kind Throttled if so many requests exceed the limit now.
func (l *Limit) admit(now time.Time, reads, writes int) error {
	if !l.read.drain(now, l.Reads, l.Burst, reads) || !l.written.drain(now, l.Writes, l.Burst, writes) {
		l.Refused++
		return action.RateExceeded(errors.New("rate exceeded"))
	}
	return nil
}

// A bucket is a token bucket.
type bucket struct {
	missing float64 // tokens that were taken and are not back yet
	at      time.Time
}

// drain takes n tokens, or reports false if there are fewer.
func (b *bucket) drain(now time.Time, rate, burst float64, n int) bool {
	if rate == 0 {
		return true
	}
	b.missing = max(b.missing-rate*now.Sub(b.at).Seconds(), 0)
	b.at = now
	if b.missing+float64(n) > burst {
		return false
	}
	b.missing += float64(n)
	return true
}
