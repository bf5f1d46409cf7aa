package sim

import (
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
)

// A Limit is how many requests a second a cloud accepts, and how many more at
// once. It counts what it refuses.
type Limit struct {
	Reads, Writes float64 // a second; 0 is any number
	Burst         float64
	Refused       int

	read, written bucket
}

// admit refuses a call that is so many requests too many.
func (l *Limit) admit(now time.Time, reads, writes int) error {
	if !l.read.drain(now, l.Reads, l.Burst, reads) || !l.written.drain(now, l.Writes, l.Burst, writes) {
		l.Refused++
		return fault.New(fault.Throttled, "rate exceeded")
	}
	return nil
}

// A bucket fills up with time.
type bucket struct {
	missing float64
	at      time.Time
}

// drain takes n, or reports false if there are not so many.
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
