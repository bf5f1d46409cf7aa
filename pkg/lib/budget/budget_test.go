package budget_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/budget"
)

var (
	noon   = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	limits = budget.Limits{Reads: 5, Writes: 4}
	begin  = budget.Demand{Reads: 1, Writes: 1}
	poll   = budget.Demand{Reads: 1}
	idle   = budget.Demand{Reads: 1, Idle: true}
)

func many(n int, a budget.Demand) []budget.Demand {
	all := make([]budget.Demand, n)
	for i := range all {
		all[i] = a
	}
	return all
}

// Each line goes on from the one before.
func TestTake(t *testing.T) {
	type line struct {
		at      float64 // seconds after noon
		asks    []budget.Demand
		granted int
		next    float64 // seconds after noon
	}
	for name, lines := range map[string][]line{
		"what was never used grants ten seconds' worth": {
			{0, many(60, poll), 50, 0.2}, {0.2, many(2, poll), 1, 0.4}, {5, many(60, poll), 24, 5.2}},
		"what is not used for longer is lost":     {{0, many(60, poll), 50, 0.2}, {3600, many(60, poll), 50, 3600.2}},
		"a small demand is granted at once":       {{0, many(40, begin), 40, 0}, {0, many(10, poll), 10, 0}},
		"reads and writes are counted apart":      {{0, many(60, begin), 40, 0.25}, {0, many(60, poll), 10, 0.2}},
		"a start needs both":                      {{0, many(60, poll), 50, 0.2}, {0, many(1, begin), 0, 0.2}},
		"an empty demand needs nothing":           {{0, many(50, poll), 50, 0}, {0, []budget.Demand{{}, {}, poll}, 2, 0.2}, {0, nil, 0, 0}},
		"idle demands leave half to others":       {{0, many(60, idle), 25, 0.2 - 5}, {0, many(60, poll), 25, 0.2}},
		"idle demands leave half of what is left": {{0, append(many(30, poll), many(60, idle)...), 40, 0.2 - 2}},
		"the last one may be an idle one's":       {{0, many(49, poll), 49, 0}, {0, many(2, idle), 1, 0.2}},
		"demands are granted in order":            {{0, []budget.Demand{{Reads: 30}, {Reads: 30}, poll}, 1, 2}},
		"too large an ask has an empty bucket to itself": {
			{0, []budget.Demand{{Reads: 100}, poll}, 1, 10.2}, {10, many(1, poll), 0, 10.2}, {10.2, many(2, poll), 1, 10.4}},
		"and waits for it":                    {{0, many(1, poll), 1, 0}, {0, []budget.Demand{{Reads: 100}}, 0, 0.2}, {0.2, []budget.Demand{{Reads: 100}}, 1, 0.2}},
		"a clock that is behind gets no more": {{1, many(60, poll), 50, 1.2}, {0, many(1, poll), 0, 1.2}},
	} {
		t.Run(name, func(t *testing.T) {
			var b budget.Budget
			for _, l := range lines {
				after, granted, next := limits.Take(b, l.asks, at(l.at))
				if want := at(max(l.next, l.at)); granted != l.granted || !next.Equal(want) {
					t.Errorf("at %v: %d are granted, the next at %s; want %d, %s", l.at, granted, next.Sub(noon), l.granted, want.Sub(noon))
				}
				b = after
			}
		})
	}
}

func at(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

// What is refused halves what is granted, once for all that are refused
// together, and never to nothing. It is as it was after two minutes at most.
func TestThrottled(t *testing.T) {
	for name, c := range map[string]struct {
		refused []float64 // when
		cuts    int
		at      float64
		granted int // of reads, then
	}{
		"never":                                  {nil, 0, 0, 50},
		"what was left is lost":                  {[]float64{0}, 1, 0, 0},
		"then half is granted":                   {[]float64{0}, 1, 2, 5},
		"all of a burst are one":                 {[]float64{0, 0.1, 0.5, 1.9}, 1, 2, 5},
		"again is half of that":                  {[]float64{0, 2, 4}, 3, 14, 11},
		"it is never nothing":                    {[]float64{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20}, 11, 30, 10},
		"it grows again":                         {[]float64{0}, 1, 30, 37},
		"and is what it was":                     {[]float64{0}, 1, 60, 50},
		"from the least it takes nearly so long": {[]float64{0, 2, 4, 6, 8, 10, 12, 14}, 8, 120, 50},
	} {
		t.Run(name, func(t *testing.T) {
			var b budget.Budget
			cuts := 0
			for _, s := range c.refused {
				after, cut := limits.Throttled(b, budget.Read, at(s))
				if cut {
					cuts++
				}
				b = after
			}
			_, granted, _ := limits.Take(b, many(100, poll), at(c.at))
			if cuts != c.cuts || granted != c.granted {
				t.Errorf("cut %d times, it grants %d; want %d, %d", cuts, granted, c.cuts, c.granted)
			}
			if _, writes, _ := limits.Take(b, many(100, budget.Demand{Writes: 1}), at(c.at)); writes != 40 {
				t.Errorf("of writes it grants %d", writes)
			}
		})
	}
}

// In any time, at most what leaks out in it and ten seconds more is granted. At
// the returned time something is granted.
func TestAnyTakes(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var b budget.Budget
		now, granted := noon, 0
		for range 200 {
			now = now.Add(time.Duration(rng.IntN(3000)) * time.Millisecond)
			asks := many(rng.IntN(30), poll)
			for i := range asks {
				asks[i].Idle = rng.IntN(3) == 0
			}
			after, n, next := limits.Take(b, asks, now)
			granted += n
			if n < len(asks) {
				asks[n].Idle = false
				if _, again, _ := limits.Take(after, asks[n:n+1], next); again != 1 {
					t.Fatalf("seed %d: at %s, the returned time, nothing is granted", seed, next.Sub(noon))
				}
			}
			b = after
		}
		if most := 50 + int(now.Sub(noon).Seconds()*5); granted > most {
			t.Fatalf("seed %d: %d are granted in %s, more than %d", seed, granted, now.Sub(noon), most)
		}
	}
}
