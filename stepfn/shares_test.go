package stepfn_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/run"
)

// deployBeside submits the deploy of another project in the same account. Its stacks have
// no dependencies.
func (p *memoryBackend) deployBeside(name string, count int) (id string) {
	w := crowd(count)
	for i := range w {
		w[i].physical = name + "-" + w[i].name
	}
	made := w.project()
	made.Name = name
	p.spread(made)
	return p.Backend.Submit(run.Request{Project: name + "@default", Operation: "deploy", Who: "somebody", Source: p.Source(made)})
}

// starts counts the steps of a run that were started in a time.
func (p *memoryBackend) starts(id string, from, to time.Time) int {
	n := 0
	for _, s := range p.ExecutionStatus(id).Steps {
		if s.Attempt > 0 && s.Receipt.Known() && !s.Claimed.Before(from) && s.Claimed.Before(to) {
			n++
		}
	}
	return n
}

// haveWork reports whether all runs have steps to start.
func (p *memoryBackend) haveWork(runs []string) bool {
	return !slices.ContainsFunc(runs, func(id string) bool {
		return !slices.ContainsFunc(p.ExecutionStatus(id).Steps, func(s run.Step) bool { return s.Status == run.Pending })
	})
}

// Three runs that share one account's budgets get a third each while all have work,
// whenever they begin, whether or not events arrive, and while CloudFormation throttles.
// Together they use what there is.
func TestFairShares(t *testing.T) {
	for name, c := range map[string]struct {
		limit  sim.Limit
		events []time.Duration
		begin  [3]time.Duration
		rate   float64 // of starts a second, at least
	}{
		"at once":               {sim.Limit{Reads: 5, Writes: 4, Burst: 50}, []time.Duration{time.Second}, [3]time.Duration{}, 3.6},
		"one after another":     {sim.Limit{Reads: 5, Writes: 4, Burst: 50}, []time.Duration{time.Second}, [3]time.Duration{0, 17 * time.Second, 31 * time.Second}, 3.6},
		"without events":        {sim.Limit{Reads: 5, Writes: 4, Burst: 50}, nil, [3]time.Duration{0, 3 * time.Second, 3 * time.Second}, 3.6},
		"with half of the rate": {sim.Limit{Reads: 2.5, Writes: 2, Burst: 20}, []time.Duration{time.Second}, [3]time.Duration{0, 5 * time.Second, 11 * time.Second}, 1.8},
	} {
		t.Run(name, func(t *testing.T) {
			p := newMemory(t, 1)
			defer p.Stop()
			p.Events(c.events...)
			p.Cloud.Limit = c.limit
			zero := p.Now()
			var runs []string
			for i, begin := range c.begin {
				p.Pass(begin - p.Now().Sub(zero))
				runs = append(runs, p.deployBeside(string(rune('a'+i)), 300))
			}
			p.Pass(30 * time.Second)
			from := p.Now()
			for p.haveWork(runs) {
				p.Pass(5 * time.Second)
			}
			to := p.Now().Add(-5 * time.Second)
			var got []int
			total := 0
			for _, id := range runs {
				got = append(got, p.starts(id, from, to))
				total += got[len(got)-1]
			}
			rate := float64(total) / to.Sub(from).Seconds()
			t.Logf("in %s the runs started %v steps, %.2f a second; %d requests were throttled", to.Sub(from), got, rate, p.Cloud.Limit.Refused)
			for i, n := range got {
				if share := 3 * float64(n) / float64(total); share < 0.75 || share > 1.25 {
					t.Errorf("run %d got %.2f of its third: of %d starts in %s the runs got %v", i, share, total, to.Sub(from), got)
				}
			}
			if rate < c.rate {
				t.Errorf("the runs started %.2f steps a second together, want at least %.2f", rate, c.rate)
			}
			p.Pass(24 * time.Hour)
			for _, id := range runs {
				if r := p.ExecutionStatus(id); r.State != run.StateSucceeded {
					t.Errorf("run %s is %s", id, r.State)
				}
			}
		})
	}
}
