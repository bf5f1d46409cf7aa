package plan

import (
	"maps"
	"math"
	"time"
)

// Seconds are how long something takes, as plans and records hold it.
type Seconds int

// SecondsOf rounds d to whole seconds.
func SecondsOf(d time.Duration) Seconds { return Seconds(math.Round(d.Seconds())) }

// Duration is s as a time.Duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }

// Durations say how long the verbs took on a stack, on average.
type Durations map[Verb]Seconds

// newest is the weight of the newest duration in an average. The average follows a stack
// that has changed after a few deploys, and one slow day does not spoil it.
const newest = 0.3

// Learn returns d with one more duration of v: the exponentially weighted mean.
func (d Durations) Learn(v Verb, took time.Duration) Durations {
	learnt := maps.Clone(d)
	if learnt == nil {
		learnt = make(Durations)
	}
	if mean, known := d[v]; known {
		took = time.Duration((1-newest)*float64(mean.Duration()) + newest*float64(took))
	}
	learnt[v] = SecondsOf(took)
	return learnt
}
