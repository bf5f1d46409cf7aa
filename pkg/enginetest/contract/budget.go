package contract

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/lib/budget"
)

// Budgets tests budgets against the contract of engine.Budgets. open returns unused
// ones with the given limits.
func Budgets(t *testing.T, open func(*testing.T, budget.Limits) engine.Budgets) {
	for name, law := range map[string]func(purse){
		"what was never used grants ten seconds' worth": func(p purse) {
			p.take(60, 50)
			p.take(60, 0)
		},
		"what is granted comes back": func(p purse) {
			p.take(50, 50)
			p.now = p.now.Add(time.Second)
			p.take(3, 3)
			p.take(3, 2)
			p.now = p.now.Add(time.Hour)
			p.take(60, 50)
		},
		"it says when there is room": func(p purse) {
			p.take(60, 50)
			_, next, err := p.Budgets.Take(p.Context(), here, "r", asks(1, budget.Demand{Reads: 1}), p.now)
			if wait := next.Sub(p.now); err != nil || wait <= 0 || wait > 200*time.Millisecond {
				p.Fatalf("the next is granted in %s, %v", wait, err)
			}
			p.now = next
			p.take(2, 1)
		},
		"places are apart": func(p purse) {
			p.take(50, 50)
			granted, _, err := p.Budgets.Take(p.Context(), "111122223333#us-east-1", "r", asks(1, budget.Demand{Reads: 1}), p.now)
			if err != nil || granted != 1 {
				p.Errorf("elsewhere %d are granted, %v", granted, err)
			}
		},
		"reads and writes are apart": func(p purse) {
			p.take(50, 50)
			p.writes(60, 40)
			p.now = p.now.Add(time.Second)
			p.writes(60, 4)
			p.take(60, 5)
		},
		"both are taken, or none": func(p purse) {
			p.takes(asks(60, budget.Demand{Reads: 1, Writes: 1}), 40)
			p.take(60, 10)
			p.now = p.now.Add(time.Second)
			p.takes(asks(60, budget.Demand{Reads: 1, Writes: 1}), 4)
			p.take(60, 1)
		},
		"what is too large is granted once half is free": func(p purse) {
			p.takes(asks(2, budget.Demand{Reads: 100}), 1)
			p.now = p.now.Add(10 * time.Second)
			p.take(1, 0)
			p.now = p.now.Add(10 * time.Second)
			p.takes(asks(2, budget.Demand{Reads: 100}), 1)
			p.now = p.now.Add(15 * time.Second)
			p.take(60, 25)
		},
		"runs that ask at the same time get the same": func(p purse) {
			got := make(map[string]int)
			for i := range 120 {
				for _, run := range []string{"a", "b", "c"} {
					if run == "c" && i < 20 {
						continue
					}
					granted, _, err := p.Budgets.Take(p.Context(), here, run, asks(50, budget.Demand{Reads: 1, Writes: 1}), p.now)
					if err != nil {
						p.Fatal(err)
					}
					if i >= 30 {
						got[run] += granted
					}
				}
				p.now = p.now.Add(time.Second)
			}
			for run, n := range got { // of 360
				if n < 100 || n > 140 {
					p.Errorf("%s got %d, of %v", run, n, got)
				}
			}
		},
		"runs that ask at once get no more than there is": func(p purse) {
			p.takesFor("a", asks(1, budget.Demand{Reads: 1, Writes: 1}), 1)
			p.takesFor("b", asks(1, budget.Demand{Reads: 1, Writes: 1}), 1)
			var granted atomic.Int64
			var group sync.WaitGroup
			for i := range 40 {
				group.Go(func() {
					n, _, err := p.Budgets.Take(p.Context(), here, []string{"a", "b"}[i%2], asks(4, budget.Demand{Reads: 1, Writes: 1}), p.now)
					if err != nil {
						p.Error(err)
					}
					granted.Add(int64(n))
				})
			}
			group.Wait()
			if n := granted.Load(); n > 38 || n < 4 {
				p.Errorf("%d are granted, of 38", n)
			}
		},
		"a run that asks no more leaves its share to the others": func(p purse) {
			p.takesFor("a", asks(50, budget.Demand{Reads: 1}), 50)
			p.now = p.now.Add(2 * time.Second)
			p.takesFor("b", asks(50, budget.Demand{Reads: 1}), 10)
			p.now = p.now.Add(time.Minute)
			p.takesFor("b", asks(60, budget.Demand{Reads: 1}), 50)
		},
		"what is refused halves it, once for a burst": func(p purse) {
			p.throttled(budget.Read)
			p.throttled(budget.Read)
			p.take(1, 0)
			p.writes(60, 40)
			p.now = p.now.Add(2 * time.Second)
			p.take(60, 5)
			p.throttled(budget.Read)
			p.now = p.now.Add(2 * time.Second)
			p.take(60, 2)
			p.now = p.now.Add(2 * time.Minute)
			p.take(60, 50)
			p.throttled(budget.Write)
			p.writes(1, 0)
		},
		"many at once get no more than there is": func(p purse) {
			var granted atomic.Int64
			var group sync.WaitGroup
			for range 70 {
				group.Go(func() {
					n, _, err := p.Budgets.Take(p.Context(), here, "r", asks(1, budget.Demand{Reads: 1, Writes: 1}), p.now)
					if err != nil {
						p.Error(err)
					}
					granted.Add(int64(n))
				})
			}
			group.Wait()
			// A call that meets too many others takes nothing, so a few demands may not be granted.
			if n := granted.Load(); n > 40 || n < 30 {
				p.Errorf("%d are granted, of 40", n)
			}
			p.writes(60, 40-int(granted.Load()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			law(purse{t, open(t, budget.Limits{Reads: 5, Writes: 4}), noon})
		})
	}
}

const here = "111122223333#eu-west-1"

// A purse is budgets under test.
type purse struct {
	*testing.T
	engine.Budgets
	now time.Time
}

func asks(n int, a budget.Demand) []budget.Demand {
	all := make([]budget.Demand, n)
	for i := range all {
		all[i] = a
	}
	return all
}

func (p purse) takesFor(run string, asks []budget.Demand, want int) {
	p.Helper()
	granted, _, err := p.Budgets.Take(p.Context(), here, run, asks, p.now)
	if err != nil || granted != want {
		p.Fatalf("%d are granted to %s, want %d: %v", granted, run, want, err)
	}
}

func (p purse) takes(asks []budget.Demand, want int) {
	p.Helper()
	granted, _, err := p.Budgets.Take(p.Context(), here, "r", asks, p.now)
	if err != nil || granted != want {
		p.Fatalf("%d are granted, want %d: %v", granted, want, err)
	}
}

func (p purse) take(n, want int)   { p.Helper(); p.takes(asks(n, budget.Demand{Reads: 1}), want) }
func (p purse) writes(n, want int) { p.Helper(); p.takes(asks(n, budget.Demand{Writes: 1}), want) }

func (p purse) throttled(k budget.Kind) {
	p.Helper()
	if err := p.Budgets.Throttled(p.Context(), here, k, p.now); err != nil {
		p.Fatal(err)
	}
}
