package stepfn_test

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/stackwright/stackwright/infra/local/gateway"
	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

var large = flag.Int("large", defaultLarge, "how many stacks large runs have on the emulators")

// grid returns n stacks in rows of the given width. Each depends on the stack above it.
func grid(n, wide int) stacks {
	var w stacks
	for i := range n {
		name := fmt.Sprintf("s%04d", i)
		s := stack{name: name, version: "v1", physical: physicalName(name)}
		if i >= wide {
			s.needs = []need{{name: fmt.Sprintf("s%04d", i-wide), output: "Name"}}
		}
		w = append(w, s)
	}
	return w
}

// longestDuration is how long a deploy of a grid may take: one and a half times the
// longest path through it, or one and a half times what CloudFormation needs to answer
// three reads for each stack.
func longestDuration(n, wide int) time.Duration {
	path := time.Duration((n+wide-1)/wide) * operationSeconds * time.Second
	return max(path, time.Duration(n)*3*time.Second/5)*3/2 + time.Minute
}

// hub returns n stacks. All others depend on the first.
func hub(n int) stacks {
	w := grid(n, n)
	for i := range w[1:] {
		w[i+1].needs = []need{{name: w[0].name, output: "Name"}}
	}
	return w
}

// longNames gives the stacks of w the longest names that CloudFormation allows. They
// import nothing, so that the files of 10,000 such stacks are not too large for a project.
func longNames(w stacks) stacks {
	long := func(name string) string { return name + "-" + strings.Repeat("x", 128-len(name)-1) }
	for i := range w {
		w[i].name = long(w[i].name)
		w[i].physical = w[i].name
		for j := range w[i].needs {
			w[i].needs[j].name, w[i].needs[j].bare = long(w[i].needs[j].name), true
		}
	}
	return w
}

// A shape is a kind of large project.
type shape struct {
	stacks stacks
	wide   int // stacks that may be in progress at the same time
}

// eventsAround are the events of an execution that a run does not count: of its start, of
// Plan, and of its end.
const eventsAround = 12

// shapes are large projects of n stacks, by name.
func shapes(n int) map[string]shape {
	return map[string]shape{
		"40 wide": {grid(n, 40), 40}, "independent": {grid(n, n), n}, "one hub": {hub(n), n / 2},
		"40 wide, names of 128 characters": {longNames(grid(n, 40)), 40},
	}
}

// A run of many stacks ends, and each stack is requested once. Each execution hands
// over to the next well before its history is full, at 25,000 events. The interpreter
// fails if more than 256 KiB pass through the machine. Stacks that are deployed one after
// another fill the history of more than one execution.
// https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
func TestLarge(t *testing.T) {
	all := shapes(many)
	all["one after another"] = shape{grid(2_000, 1), 1}
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			executions, n := 1, len(s.stacks) // at least so many executions
			if s.wide == 1 {
				executions = 2
			}
			p := newMemory(t, 1)
			defer p.Stop()
			p.Cloud.Limit = sim.Limit{Reads: 5, Writes: 4, Burst: 50}
			id := p.Submit("deploy", s.stacks, "")
			if !p.WaitIdle() {
				t.Fatal("the deploy never ends")
			}
			r := p.ExecutionStatus(id)
			took := r.Ended.Sub(r.Requested)
			t.Logf("%s after %s, with %d throttled requests", r.State, took, p.Cloud.Limit.Refused)
			if r.State != run.StateSucceeded || r.Epoch < executions || r.Restarts > 0 || took > longestDuration(n, s.wide) {
				t.Errorf("%s after %d executions, %d restarts and %s; want at least %d executions, no restart and at most %s", r.State, r.Epoch, r.Restarts, took, executions, longestDuration(n, s.wide))
			}
			for epoch := 1; epoch <= r.Epoch; epoch++ {
				x := p.Execution(fmt.Sprintf("%s-%d", id, epoch))
				t.Logf("execution %d: %d events, %v", epoch, x.History, x.Err)
				if x.History > 20_000 {
					t.Errorf("execution %d had %d events, want at most 20,000", epoch, x.History)
				}
				if counted := r.Events + eventsAround; epoch == r.Epoch && counted < x.History {
					t.Errorf("the run counts %d events for execution %d, which had %d", counted, epoch, x.History)
				}
			}
			if requests := p.Requests(); len(requests) != n {
				t.Errorf("%d requests for %d stacks", len(requests), n)
			}
		})
	}
}

// The same on the emulators, which refuse what AWS refuses: a history, a payload, an
// item or a transaction that is too large.
func TestLargeOnEmulators(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(shapes(*large))) {
		s := shapes(*large)[name]
		t.Run(name, func(t *testing.T) {
			started, peak := time.Now(), peakHeap()
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				polls := 0
				r.crash = func(function string) sim.Fault {
					if strings.HasSuffix(function, "wait-status") {
						polls++
					}
					return sim.None
				}
				id := r.Submit("deploy", s.stacks, "")
				r.waitEnded(id)
				got, bytes := r.loadCounting(id)
				took := got.Ended.Sub(got.Requested)
				t.Logf("%s after %s, %d executions and %d polls; loading the run reads %d bytes", got.State, took, got.Epoch, polls, bytes)
				if got.State != run.StateSucceeded || got.Restarts > 0 || took > longestDuration(*large, s.wide) {
					t.Errorf("%s %v after %s and %d restarts, want at most %s and none", got.State, got.Messages, took, got.Restarts, longestDuration(*large, s.wide))
				}
				if bytes > 2000*(*large+1) { // of DynamoDB's JSON
					t.Errorf("each step has %d bytes, want at most 2000", bytes / *large)
				}
				if calls := r.cloud.Stacks.Calls(); calls["CreateStack"] != *large {
					t.Errorf("%d CreateStack requests for %d stacks: %v", calls["CreateStack"], *large, calls)
				}
			})
			t.Logf("the test itself took %s, and its heap had up to %d MB", time.Since(started).Round(time.Second), peak()>>20)
		})
	}
}

// The dependents of a stack that fails are skipped in a few transactions, also if there
// are 2,000 of them. A transaction holds 99 steps.
func TestFailedHub(t *testing.T) {
	const dependents = 2000
	synctest.Test(t, func(t *testing.T) {
		r := newEmulators(t)
		w := crowd(dependents + 1)
		for i := range w[1:] {
			w[i+1].needs = []need{{name: w[0].name, output: "Name"}}
		}
		r.FailNext(w[0].name, plan.Create)
		var planned atomic.Int64 // the transactions before the first step
		r.crash = func(function string) sim.Fault {
			if strings.HasSuffix(function, "execute-step") {
				planned.CompareAndSwap(0, transactions(r))
			}
			return sim.None
		}
		id := r.Submit("deploy", w, "")
		r.waitEnded(id)
		got := r.ExecutionStatus(id)
		skipped := 0
		for _, s := range got.Steps {
			if s.Status == run.Skipped && s.Cause == (run.Cause{Kind: run.CauseFailure, Step: w[0].name + "/create"}) {
				skipped++
			}
		}
		if got.State != run.StateFailed || skipped != dependents {
			t.Errorf("%s %v, and %d steps are skipped; want failed and %d", got.State, got.Messages, skipped, dependents)
		}
		const steps, expires = dependents/99 + 1, dependents/99 + 2 // the end sets when the items of the run expire
		written := transactions(r) - planned.Load()
		t.Logf("%d transactions after the plan", written)
		if most := int64(steps + expires + 20); written > most {
			t.Errorf("%d transactions after the plan, want at most %d", written, most)
		}
	})
}

// transactions returns how many transactions the table has carried out.
func transactions(r *emulators) int64 {
	return int64(r.cloud.Gateway.Calls()[gateway.Call{Service: "dynamodb", Operation: "TransactWriteItems"}])
}

// peakHeap measures how large the heap is from time to time. The function that it
// returns ends that, and returns the largest size.
func peakHeap() func() uint64 {
	largest, stop, stopped := uint64(0), make(chan bool), make(chan bool)
	rate := debug.SetGCPercent(100)
	go func() {
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			largest = max(largest, m.HeapAlloc)
			select {
			case <-time.After(time.Second):
			case <-stop:
				close(stopped)
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-stopped
		debug.SetGCPercent(rate)
		return largest
	}
}

// waitEnded waits for the end of a run without loading its steps again and again.
func (r *emulators) waitEnded(id string) {
	r.Helper()
	for range 24 * 60 {
		r.Pass(time.Minute)
		got, err := r.store.Run(r.Context(), id)
		if err != nil {
			r.Fatal(err)
		}
		if got.State.Over() {
			return
		}
	}
	r.Fatal("the run never ends")
}

// loadCounting loads a run, and returns how many bytes that reads.
func (r *emulators) loadCounting(id string) (run.Run, int) {
	r.Helper()
	cfg := r.cloud.Config()
	counter := &byteCounter{transport: cfg.HTTPClient.(*http.Client).Transport}
	cfg.HTTPClient = &http.Client{Transport: counter}
	got, err := table.New(dynamodb.NewFromConfig(cfg), "stackwright").Load(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return got, counter.bytes
}

// A byteCounter counts the bytes of all answers.
type byteCounter struct {
	transport http.RoundTripper
	bytes     int
}

func (c *byteCounter) RoundTrip(q *http.Request) (*http.Response, error) {
	a, err := c.transport.RoundTrip(q)
	if err == nil {
		a.Body = countedBody{a.Body, c}
	}
	return a, err
}

type countedBody struct {
	io.ReadCloser
	counter *byteCounter
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.counter.bytes += n
	return n, err
}
