// Package budget grants requests, so that all runs together stay within the rate that
// CloudFormation allows. It is pure: the time is a parameter.
package budget

import "time"

// A Kind is a kind of request with a count of its own.
type Kind string

// The kinds.
const (
	Read  Kind = "read"  // DescribeStacks
	Write Kind = "write" // requests that start an operation
)

// Depth is how long unused requests accumulate. It limits a burst.
const Depth = 10 * time.Second

// How a budget changes when CloudFormation throttles requests.
const (
	calm     = 2 * time.Second // between two cuts: throttled requests come in bursts
	regrowth = 2 * time.Minute // from nothing to the full rate
	floor    = 8               // the rate never drops below this part of the full rate

	finest = time.Microsecond // the resolution of times
)

// Limits are the requests a second that are allowed.
type Limits struct{ Reads, Writes float64 }

// CloudFormation returns the assumed limits of an account in a region. AWS does not
// publish them: these are rates that others have observed. If they are too high,
// throttled requests cut them.
func CloudFormation() Limits { return Limits{Reads: 5, Writes: 4} }

// A Budget records what has been granted in one account and region. The zero Budget
// is unused.
type Budget struct{ Read, Write Bucket }

// A Bucket is a leaky bucket. Granted requests leak out of it at its rate, and it
// holds no more than leaks out in ten seconds. Its level and rate follow from the
// time.
type Bucket struct {
	Free time.Time // when all that was granted has leaked out
	Rate float64   // requests a second when it was last cut
	Cut  time.Time // when that was; zero if it never was
}

// A Demand is the number of requests that one action will send to CloudFormation.
type Demand struct {
	Reads, Writes int
	Idle          bool // it can wait: it leaves half of the rest to others
}

// Free reports whether it needs no request.
func (d Demand) Free() bool { return d.Reads == 0 && d.Writes == 0 }

// Take grants as many demands as there is room for, in their order. next is when
// there is room for the following one: now, if all are granted. A demand that is
// larger than the bucket is granted when the bucket is empty.
func (l Limits) Take(b Budget, demands []Demand, now time.Time) (after Budget, granted int, next time.Time) {
	now = now.Truncate(finest)
	reads, writes := b.Read.open(l.Reads, now), b.Write.open(l.Writes, now)
	var keepReads, keepWrites int
	idle := false
	for n, a := range demands {
		if a.Idle && !idle {
			idle, keepReads, keepWrites = true, reads.room()/2, writes.room()/2
		}
		if !reads.fits(a.Reads, keepReads) || !writes.fits(a.Writes, keepWrites) {
			return Budget{reads.Bucket, writes.Bucket}, n, later(reads.when(a.Reads), writes.when(a.Writes))
		}
		reads.pour(a.Reads)
		writes.pour(a.Writes)
	}
	return Budget{reads.Bucket, writes.Bucket}, len(demands), now
}

// Throttled halves the rate of a kind, because CloudFormation has throttled a
// request. It reports false if the rate was cut just before. The bucket is full
// afterwards.
func (l Limits) Throttled(b Budget, k Kind, now time.Time) (after Budget, cut bool) {
	bucket, full := &b.Read, l.Reads
	if k == Write {
		bucket, full = &b.Write, l.Writes
	}
	now = now.Truncate(finest)
	if !bucket.Cut.IsZero() && now.Sub(bucket.Cut) < calm {
		return b, false
	}
	bucket.Rate = max(bucket.rate(full, now)/2, full/floor)
	bucket.Cut, bucket.Free = now, later(bucket.Free, now)
	return b, true
}

// rate returns how many requests a second leak out now.
func (b Bucket) rate(full float64, now time.Time) float64 {
	if b.Cut.IsZero() {
		return full
	}
	grown := full * float64(now.Sub(b.Cut)) / float64(regrowth)
	return min(full, b.Rate+max(grown, 0))
}

// Ahead reports whether so much is taken that it can only be the work of a machine
// whose clock is ahead. Others need not wait for that.
func (b Bucket) Ahead(now time.Time) bool { return b.Free.After(now.Add(2 * Depth)) }

// open returns the bucket as it is now.
func (b Bucket) open(full float64, now time.Time) open {
	slot := time.Duration(float64(time.Second) / b.rate(full, now)).Truncate(finest)
	b.Free = later(b.Free, now.Add(-Depth))
	if b.Ahead(now) {
		b.Free = now
	}
	return open{Bucket: b, slot: max(slot, finest), now: now}
}

// open is a bucket at one time.
type open struct {
	Bucket
	slot time.Duration // in which one request leaks out
	now  time.Time
}

// room returns how many requests the bucket would accept.
func (o open) room() int { return int(max(o.now.Sub(o.Free), 0) / o.slot) }

// need returns how much room n requests need.
func (o open) need(n int) int { return min(n, int(Depth/o.slot)) }

// fits reports whether n requests are accepted if room for keep more must remain.
func (o open) fits(n, keep int) bool { return n == 0 || o.room() >= o.need(n)+keep }

// when returns when n requests would be accepted.
func (o open) when(n int) time.Time {
	return later(o.Free.Add(time.Duration(o.need(n))*o.slot), o.now)
}

// pour adds n requests.
func (o *open) pour(n int) { o.Free = o.Free.Add(time.Duration(n) * o.slot) }

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
