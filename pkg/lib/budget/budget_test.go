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
		"demands are granted in order":            {{0, []budget.Demand{{Reads: 30}, {Reads: 30}, poll}, 1, 1}},
		"a large ask is paid off afterwards": {
			{0, []budget.Demand{{Reads: 100}, poll}, 1, 10.2}, {10, many(1, poll), 0, 10.2}, {10.2, many(2, poll), 1, 10.4}},
		"it needs half of the bucket": {
			{0, many(26, poll), 26, 0}, {0, []budget.Demand{{Reads: 100}}, 0, 0.2}, {0.2, []budget.Demand{{Reads: 100}}, 1, 0.2}},
		"so does one of half of it":           {{0, many(26, poll), 26, 0}, {0, []budget.Demand{{Reads: 25}}, 0, 0.2}, {0.2, []budget.Demand{{Reads: 25}}, 1, 0.2}},
		"a clock that is behind gets no more": {{1, many(60, poll), 50, 1.2}, {0, many(1, poll), 0, 1.2}},
	} {
		t.Run(name, func(t *testing.T) {
			var b budget.Budget
			for _, l := range lines {
				after, granted, next := limits.Take(b, "r", l.asks, at(l.at))
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
			_, granted, _ := limits.Take(b, "r", many(100, poll), at(c.at))
			if cuts != c.cuts || granted != c.granted {
				t.Errorf("cut %d times, it grants %d; want %d, %d", cuts, granted, c.cuts, c.granted)
			}
			if _, writes, _ := limits.Take(b, "r", many(100, budget.Demand{Writes: 1}), at(c.at)); writes != 40 {
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
			after, n, next := limits.Take(b, "r", asks, now)
			granted += n
			if n < len(asks) {
				asks[n].Idle = false
				if _, again, _ := limits.Take(after, "r", asks[n:n+1], next); again != 1 {
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

// A run takes part in one account and region with a number of demands.
type runner struct {
	name    string
	every   time.Duration // between two times at which it asks
	asks    []budget.Demand
	begin   float64 // seconds after noon
	granted int     // demands
}

// play lets runs ask for a time, each at its times, and counts what was granted to each
// from a time on.
func play(b budget.Budget, runs []*runner, from, to float64) budget.Budget {
	next := make([]time.Time, len(runs))
	for i, r := range runs {
		next[i] = at(r.begin)
	}
	for {
		first := 0
		for i := range runs {
			if next[i].Before(next[first]) {
				first = i
			}
		}
		now, r := next[first], runs[first]
		if !now.Before(at(to)) {
			return b
		}
		var n int
		b, n, _ = limits.Take(b, r.name, r.asks, now)
		if !now.Before(at(from)) {
			r.granted += n
		}
		next[first] = now.Add(r.every)
	}
}

// Runs that always have more to do than they may get the same, however often and when
// they ask, and together they get all there is.
func TestShares(t *testing.T) {
	for name, runs := range map[string][]*runner{
		"alike":                      {{"a", 5 * time.Second, many(100, begin), 0, 0}, {"b", 5 * time.Second, many(100, begin), 0, 0}, {"c", 5 * time.Second, many(100, begin), 0, 0}},
		"just after one another":     {{"a", 5 * time.Second, many(100, begin), 0, 0}, {"b", 5 * time.Second, many(100, begin), 0.01, 0}, {"c", 5 * time.Second, many(100, begin), 0.02, 0}},
		"one asks all the time":      {{"a", time.Second / 10, many(100, begin), 0, 0}, {"b", 5 * time.Second, many(100, begin), 9, 0}, {"c", 8 * time.Second, many(100, begin), 20, 0}},
		"one by one":                 {{"a", time.Second / 10, many(1, begin), 0, 0}, {"b", time.Second / 10, many(1, begin), 0, 0}, {"c", 6 * time.Second, many(40, begin), 20, 0}},
		"two runs":                   {{"a", time.Second / 10, many(40, begin), 0, 0}, {"b", 5 * time.Second, many(40, begin), 9, 0}},
		"one begins after an hour":   {{"a", time.Second, many(40, begin), -3600, 0}, {"b", 5 * time.Second, many(40, begin), 50, 0}, {"c", 5 * time.Second, many(40, begin), 0, 0}},
		"one asks for large amounts": {{"a", time.Second / 10, many(100, poll), 0, 0}, {"b", 5 * time.Second, many(3, budget.Demand{Reads: 40}), 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			play(budget.Budget{}, runs, 60, 360)
			total := 0.0
			for _, r := range runs {
				total += got(r)
			}
			for _, r := range runs {
				if part := got(r) / total * float64(len(runs)); part < 0.75 || part > 1.25 {
					t.Errorf("%s got %.2f of its share: %d demands", r.name, part, r.granted)
				}
			}
			if total < 0.95*300 {
				t.Errorf("together they got as much as leaks out in %.0f s, want 300", total)
			}
		})
	}
}

// got returns in which time, in seconds, what a run was granted leaks out.
func got(r *runner) float64 {
	d := r.asks[0]
	return float64(r.granted) * max(float64(d.Reads)/limits.Reads, float64(d.Writes)/limits.Writes)
}

// What some runs do not use, the others get.
func TestSharesAreNotWasted(t *testing.T) {
	busy := &runner{"a", 5 * time.Second, many(100, begin), 0, 0}
	modest := &runner{"b", 5 * time.Second, many(1, begin), 0, 0}
	b := play(budget.Budget{}, []*runner{busy, modest}, 60, 360)
	if modest.granted != 60 || busy.granted < 1080 { // of 1,200 writes in 300 s
		t.Errorf("the run that asks for little got %d of 60, and the other %d of 1140", modest.granted, busy.granted)
	}
	again := &runner{"c", 5 * time.Second, many(100, begin), 400, 0}
	play(b, []*runner{again}, 400, 430)
	if again.granted < 140 {
		t.Errorf("a run that begins when the others have ended got %d, want 40 at once and 4 a second", again.granted)
	}
}

// A large demand is granted soon, however many small ones others have; and it does not
// keep the others from theirs for longer than it takes to leak out.
func TestLargeDemands(t *testing.T) {
	large := &runner{"large", 5 * time.Second, []budget.Demand{{Reads: 60}}, 30, 0}
	small := []*runner{large}
	for i := range 4 {
		small = append(small, &runner{string(rune('a' + i)), 300 * time.Millisecond, many(20, poll), 0, 0})
	}
	b := play(budget.Budget{}, small, 30, 75)
	if large.granted < 1 {
		t.Errorf("the large demand was not granted in 45 s")
	}
	for _, r := range small[1:] {
		r.granted, r.begin = 0, 75
	}
	play(b, small[1:], 75, 105)
	for _, r := range small[1:] {
		if r.granted < 20 {
			t.Errorf("%s got %d reads in 30 s after that, want 20 or more", r.name, r.granted)
		}
	}
}
