// Package budget says how many requests may be sent now, so that all who share
// what CloudFormation allows stay within it. It is pure: the time is passed in.
package budget

import "time"

// A Kind is a kind of request that is counted by itself.
type Kind string

// The kinds.
const (
	Read  Kind = "read"  // DescribeStacks
	Write Kind = "write" // whatever begins something
)

// Depth is how long what is not used is kept. It bounds what is granted at once.
const Depth = 10 * time.Second

// How a budget behaves where CloudFormation refuses.
const (
	calm     = 2 * time.Second // between two cuts: refusals come in bursts
	regrowth = 2 * time.Minute // from nothing to all that is allowed
	floor    = 8               // the part of what is allowed that is left after any number of cuts

	finest = time.Microsecond // that times are kept to
)

// Limits are the requests a second that are allowed.
type Limits struct{ Reads, Writes float64 }

// CloudFormation returns what an account is taken to be allowed in a region.
// Nothing of it is published: these are the rates that others have met, and
// what is too much is cut where it is refused.
func CloudFormation() Limits { return Limits{Reads: 5, Writes: 4} }

// A Budget is what has been granted in one account and region. The zero Budget
// was never used.
type Budget struct{ Read, Write Bucket }

// A Bucket is a leaky bucket. What it grants leaks out of it at its rate, and
// it holds no more than leaks out in ten seconds. How much is in it now, and
// how fast it leaks, follows from the time.
type Bucket struct {
	Free time.Time // when all that was granted has leaked out
	Rate float64   // requests a second when it was last cut
	Cut  time.Time // when that was; zero if it never was
}

// An Ask is what one piece of work will ask of CloudFormation.
type Demand struct {
	Reads, Writes int
	Idle          bool // nobody waits for it: it leaves half of what there is to others
}

// Free reports whether it asks for nothing.
func (a Demand) Free() bool { return a.Reads == 0 && a.Writes == 0 }

// Take grants as many of the asks as there is room for, in their order, and
// says when there is room for the one after them: now, if all are granted. An
// ask that is larger than the bucket is granted when that is empty.
func (l Limits) Take(b Budget, asks []Demand, now time.Time) (after Budget, granted int, next time.Time) {
	now = now.Truncate(finest)
	reads, writes := b.Read.open(l.Reads, now), b.Write.open(l.Writes, now)
	var keepReads, keepWrites int
	idle := false
	for n, a := range asks {
		if a.Idle && !idle {
			idle, keepReads, keepWrites = true, reads.room()/2, writes.room()/2
		}
		if !reads.fits(a.Reads, keepReads) || !writes.fits(a.Writes, keepWrites) {
			return Budget{reads.Bucket, writes.Bucket}, n, later(reads.when(a.Reads), writes.when(a.Writes))
		}
		reads.pour(a.Reads)
		writes.pour(a.Writes)
	}
	return Budget{reads.Bucket, writes.Bucket}, len(asks), now
}

// Throttled halves what is granted of a kind, for CloudFormation has refused
// one. It reports false if that was done just now. What was left of the bucket
// is lost: there was no room.
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

// rate is how many requests a second leak out now.
func (b Bucket) rate(full float64, now time.Time) float64 {
	if b.Cut.IsZero() {
		return full
	}
	grown := full * float64(now.Sub(b.Cut)) / float64(regrowth)
	return min(full, b.Rate+max(grown, 0))
}

// Ahead reports whether so much is taken that it can only have been by somebody
// whose clock is fast: nobody else is to wait for that.
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

// room is how many requests the bucket would take.
func (o open) room() int { return int(max(o.now.Sub(o.Free), 0) / o.slot) }

// need is how many must find room so that n are taken.
func (o open) need(n int) int { return min(n, int(Depth/o.slot)) }

// fits reports whether n requests are taken, if so many are to be left.
func (o open) fits(n, keep int) bool { return n == 0 || o.room() >= o.need(n)+keep }

// when is when n requests would be taken.
func (o open) when(n int) time.Time {
	return later(o.Free.Add(time.Duration(o.need(n))*o.slot), o.now)
}

// pour takes n requests.
func (o *open) pour(n int) { o.Free = o.Free.Add(time.Duration(n) * o.slot) }

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
