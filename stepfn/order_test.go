package stepfn_test

import (
	"math"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/enginetest/figure"
	"github.com/stackwright/stackwright/pkg/enginetest/workload"
	"github.com/stackwright/stackwright/pkg/run"
)

// redeployed returns the stacks of a graph in another version.
func redeployed(g workload.Graph, version string) stacks {
	w := stacksOf(g)
	for i := range w {
		w[i].version = version
	}
	return w
}

// deployForecasting deploys, and returns the run and what was forecast when half of its
// time was over: how long the run would take altogether.
func (r *emulators) deployForecasting(w stacks) (ended run.Run, forecast time.Duration) {
	r.Helper()
	id := r.Submit("deploy", w, "")
	var at []time.Time
	var ends []time.Time
	for range 24 * 360 {
		r.Pass(10 * time.Second)
		got := r.ExecutionStatus(id)
		if got.State.Over() {
			half := got.Started.Add(got.Ended.Sub(got.Started) / 2)
			for i := range at {
				if i+1 == len(at) || at[i+1].After(half) {
					return got, ends[i].Sub(got.Started)
				}
			}
			r.Fatal("nothing was forecast")
		}
		now := time.Now()
		if f, ok := got.Forecast(now); ok {
			at, ends = append(at, now), append(ends, f.End)
		}
	}
	r.Fatal("the run never ends")
	return ended, forecast
}

// mostRunning is how many steps of a run were in progress at the same time, at most.
func mostRunning(r run.Run) int {
	most := 0
	for _, s := range r.Steps {
		running := 0
		for _, other := range r.Steps {
			if !other.Claimed.After(s.Claimed) && other.Ended.After(s.Claimed) {
				running++
			}
		}
		most = max(most, running)
	}
	return most
}

// With at most ten stacks at a time, the critical path first makes a deploy almost as
// short as it can be, once it is known how long each stack takes. At half of its time, it
// is known when it will end.
func TestCriticalPathFirst(t *testing.T) {
	const places = 10
	for _, c := range []struct {
		row    string
		graph  workload.Graph
		costly bool
	}{
		{"20x5", workload.Grid(20, 5, 1), false},
		{"8x10", workload.Grid(8, 10, 1), true},
		{"50x2", workload.Grid(50, 2, 2), true},
		{"100x1", workload.Grid(100, 1, 3), raced},
	} {
		t.Run(c.row, func(t *testing.T) {
			if c.costly && !figure.Collected() {
				t.Skip("make bench measures it")
			}
			synctest.Test(t, func(t *testing.T) {
				r := newEmulatorsWithLimits(t, opened, latencies(noneLost))
				r.keys = map[string]string{"max_parallel": strconv.Itoa(places)}
				bound := c.graph.Bound(places)
				for _, s := range c.graph {
					r.Slow(s.Name, s.Duration)
				}
				first, _ := r.deployForecasting(redeployed(c.graph, "v1"))
				for _, s := range c.graph {
					r.Slow(s.Name, s.Duration*4/3) // dependents do not wait for the last quarter of an update, the cleanup
				}
				second, forecast := r.deployForecasting(redeployed(c.graph, "v2"))
				for i, got := range []run.Run{first, second} {
					ratio := got.Ended.Sub(got.Started).Seconds() / bound.Seconds()
					if most := mostRunning(got); got.State != run.StateSucceeded || most > places {
						t.Fatalf("deploy %d has %s %v, with up to %d steps at the same time", i+1, got.State, got.Messages, most)
					}
					if i == 0 {
						t.Logf("the first deploy, which knows nothing about its stacks, takes %.3f times the bound", ratio)
						continue
					}
					figure.Report(t, "max_parallel/"+c.row, ratio, 1.05)
					off := math.Abs(forecast.Seconds()/got.Ended.Sub(got.Started).Seconds() - 1)
					t.Logf("at half of its time, the forecast was that the deploy takes %s; it took %s", forecast, got.Ended.Sub(got.Started))
					figure.Report(t, "forecast/"+c.row, off, 0.2)
				}
			})
		})
	}
}
