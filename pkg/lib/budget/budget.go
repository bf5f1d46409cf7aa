// Package budget grants requests, so that all runs together stay within the rate that
// CloudFormation allows, and each of them gets its share. It is pure: the time is a
// parameter.
package budget

import (
	"maps"
	"time"
)

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

	// Shares are those of the runs that have made a demand lately. Each is a bucket too, out of
	// which its share of the rate leaks: the time when all that the run was granted has
	// leaked out of it.
	Shares map[string]time.Time
}

// A Demand is the number of requests that one action will send to CloudFormation.
type Demand struct {
	Reads, Writes int
	Idle          bool // it can wait: it leaves half of the rest to others
}

// Free reports whether it needs no request.
func (d Demand) Free() bool { return d.Reads == 0 && d.Writes == 0 }

// Take grants as many demands of a run as there is room for, in their order. next is
// when there is room for the following one: now, if all are granted.
//
// Runs that ask at the same time share the rate. A run that was granted less than its
// share may use all the room. One that was granted more may only use what exceeds half
// of the bucket: so nothing is left unused, and the others find room. A demand that is
// larger than half of the bucket is granted when half of it is free, and leaks out
// afterwards. So it does not wait longer than others, and they wait for it once.
func (l Limits) Take(b Budget, run string, demands []Demand, now time.Time) (after Budget, granted int, next time.Time) {
	now = now.Truncate(finest)
	reads, writes := b.Read.open(l.Reads, run, now), b.Write.open(l.Writes, run, now)
	idle := false
	next = now
	for _, d := range demands {
		if d.Idle && !idle {
			idle, reads.keep, writes.keep = true, reads.room()/2, writes.room()/2
		}
		if !reads.fits(d.Reads) || !writes.fits(d.Writes) {
			next = later(reads.when(d.Reads), writes.when(d.Writes))
			break
		}
		reads.pour(d.Reads)
		writes.pour(d.Writes)
		granted++
	}
	return Budget{reads.closed(), writes.closed()}, granted, next
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

// open returns the bucket as it is now for a run.
func (b Bucket) open(full float64, run string, now time.Time) open {
	slot := time.Duration(float64(time.Second) / b.rate(full, now)).Truncate(finest)
	b.Free = later(b.Free, now.Add(-Depth))
	if b.Ahead(now) {
		b.Free = now
	}
	return open{
		Bucket: b, slot: max(slot, finest), now: now,
		run: run, runs: 1 + len(b.others(run, now)), share: later(b.Shares[run], now.Add(-Depth)),
	}
}

// others returns the shares of the runs that take part beside one. A run takes part for a
// time after it has made a demand.
func (b Bucket) others(run string, now time.Time) map[string]time.Time {
	all := maps.Clone(b.Shares)
	maps.DeleteFunc(all, func(other string, free time.Time) bool { return other == run || !free.After(now.Add(-2*Depth)) })
	return all
}

// Shared reports whether other runs take part beside one.
func (b Bucket) Shared(run string, now time.Time) bool { return len(b.others(run, now)) > 0 }

// open is a bucket at one time, for one run.
type open struct {
	Bucket
	slot  time.Duration // in which one request leaks out
	now   time.Time
	keep  int // requests for which room must remain
	run   string
	runs  int       // that take part
	share time.Time // of the run
	wants bool      // the run demands requests
}

// room returns how many requests the bucket would accept.
func (o open) room() int { return int(max(o.now.Sub(o.Free), 0) / o.slot) }

// half returns how many requests fill half of the bucket.
func (o open) half() int { return max(1, int(Depth/o.slot)/2) }

// need returns how much room n requests need.
func (o open) need(n int) int { return min(n, o.half()) }

// leak returns the time in which n requests leak out.
func (o open) leak(n int) time.Duration { return time.Duration(n) * o.slot }

// part returns the time in which n requests leak out of the share.
func (o open) part(n int) time.Duration { return min(o.leak(n*o.runs), Depth) }

// covers reports whether the share has room for n requests.
func (o open) covers(n int) bool { return o.runs == 1 || !o.share.Add(o.part(n)).After(o.now) }

// fits reports whether n requests are accepted, and marks that the run demands some.
func (o *open) fits(n int) bool {
	if n == 0 {
		return true
	}
	o.wants = true
	keep := o.keep
	if !o.covers(n) {
		keep = max(keep, o.half())
	}
	return o.room() >= o.need(n)+keep
}

// when returns when n requests would be accepted.
func (o open) when(n int) time.Time {
	if n == 0 {
		return o.now
	}
	at := o.Free.Add(o.leak(o.need(n)))
	if !o.covers(n) {
		at = earlier(later(at, o.share.Add(o.part(n))), o.Free.Add(o.leak(o.need(n)+o.half())))
	}
	return later(at, o.now)
}

// pour adds n requests. What exceeds the share is not counted: no other run used it.
func (o *open) pour(n int) {
	o.Free = o.Free.Add(o.leak(n))
	o.share = earlier(o.share.Add(o.part(n)), o.now)
}

// closed returns the bucket after the demands of the run. The share of a run to which nothing
// was granted is stored only now and then, so that others learn of the run.
func (o open) closed() Bucket {
	was, known := o.Shares[o.run]
	if !o.wants || known && o.share.Equal(o.now.Add(-Depth)) && was.After(o.now.Add(-Depth*3/2)) {
		return o.Bucket
	}
	shares := o.others(o.run, o.now)
	if shares == nil {
		shares = make(map[string]time.Time)
	}
	shares[o.run] = o.share
	o.Bucket.Shares = shares
	return o.Bucket
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
