package stepfn_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	table "github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

var large = flag.Int("large", defaultLarge, "how many stacks large runs have on the real adapters")

// grid is a setup of n stacks, so many wide: each needs one of the row before.
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

// longest is what a deploy of so many stacks may take: half as long again as the
// longest path through them, or as CloudFormation would take to answer what is
// requested of it, with three reads for each stack.
func longestDuration(n, wide int) time.Duration {
	path := time.Duration((n+wide-1)/wide) * operationSeconds * time.Second
	return max(path, time.Duration(n)*3*time.Second/5)*3/2 + time.Minute
}

// shapes are those of large setups.
func shapes(n int) map[string]int {
	return map[string]int{"40 wide": 40, "independent": n}
}

// However many stacks there are, their run ends, each is requested once, and each
// execution hands over to the next well before its history is full, at 25,000
// events. What passes through the machine stays below 256 KiB, or asl would fail.
// https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
func TestLarge(t *testing.T) {
	for name, wide := range shapes(many) {
		t.Run(name, func(t *testing.T) {
			p := newMemory(t, 1)
			defer p.Stop()
			p.Cloud.Limit = sim.Limit{Reads: 5, Writes: 4, Burst: 50}
			id := p.Submit("deploy", grid(many, wide), "")
			if !p.WaitIdle() {
				t.Fatal("it never ends")
			}
			r := p.ExecutionStatus(id)
			took := r.Ended.Sub(r.Requested)
			t.Logf("%s after %s, with %d requests refused", r.State, took, p.Cloud.Limit.Refused)
			if r.State != run.StateSucceeded || r.Epoch < 2 || r.Restarts > 0 || took > longestDuration(many, wide) {
				t.Errorf("%s after %d executions and %s, not %s", r.State, r.Epoch, took, longestDuration(many, wide))
			}
			for epoch := 1; epoch <= r.Epoch; epoch++ {
				x := p.Execution(fmt.Sprintf("%s-%d", id, epoch))
				t.Logf("execution %d: %d events, %v", epoch, x.History, x.Err)
				if x.History > 20_000 {
					t.Errorf("execution %d had %d events", epoch, x.History)
				}
			}
			if asked := p.Requests(); len(asked) != many {
				t.Errorf("%d stacks, %d calls", many, len(asked))
			}
		})
	}
}

// The same through the real adapters, on emulators that refuse what AWS would:
// a history, a payload, an item or a transaction that is too large.
func TestLargeOnEmulators(t *testing.T) {
	for name, wide := range shapes(*large) {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			synctest.Test(t, func(t *testing.T) {
				r := newEmulators(t)
				looks := 0
				r.crash = func(function string) sim.Fault {
					if strings.HasSuffix(function, "wait-status") {
						looks++
					}
					return sim.None
				}
				id := r.Submit("deploy", grid(*large, wide), "")
				r.over(id)
				got, bytes := r.loadCounting(id)
				took := got.Ended.Sub(got.Requested)
				t.Logf("%s after %s, %d executions and %d looks; to load it is to read %d bytes", got.State, took, got.Epoch, looks, bytes)
				if got.State != run.StateSucceeded || got.Restarts > 0 || took > longestDuration(*large, wide) {
					t.Errorf("%s %v after %s, not %s; revived %d times", got.State, got.Messages, took, longestDuration(*large, wide), got.Restarts)
				}
				if bytes > 2000*(*large+1) { // in DynamoDB's JSON
					t.Errorf("each step has %d bytes", bytes / *large)
				}
				if calls := r.cloud.Stacks.Calls(); calls["CreateStack"] != *large {
					t.Errorf("%d stacks, %v", *large, calls)
				}
			})
			t.Logf("in truth it took %s", time.Since(begun).Round(time.Second))
		})
	}
}

// over waits for the end of a run, and does not load its steps all the while.
func (r *emulators) over(id string) {
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
	r.Fatal("it never ends")
}

// weigh loads a run, and says how many bytes that takes.
func (r *emulators) loadCounting(id string) (run.Run, int) {
	r.Helper()
	cfg := r.cloud.Config()
	s := &byteCounter{transport: cfg.HTTPClient.(*http.Client).Transport}
	cfg.HTTPClient = &http.Client{Transport: s}
	got, err := table.New(dynamodb.NewFromConfig(cfg), "stackwright").Load(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return got, s.bytes
}

// scales weigh answers.
type byteCounter struct {
	transport http.RoundTripper
	bytes     int
}

func (s *byteCounter) RoundTrip(q *http.Request) (*http.Response, error) {
	a, err := s.transport.RoundTrip(q)
	if err == nil {
		a.Body = countedBody{a.Body, s}
	}
	return a, err
}

type countedBody struct {
	io.ReadCloser
	counter *byteCounter
}

func (w countedBody) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.counter.bytes += n
	return n, err
}

// A step that comes after all others fits into the table, however many there are
// and though their names are as long as CloudFormation takes them.
func TestBarrierOfManyLongNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newEmulators(t)
		made, err := plan.Deploy(changed(2000))
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := r.store.CreateRun(t.Context(), run.Run{Request: run.Request{ID: strings.Repeat("a", 20), Project: "shop@default", Operation: "deploy"}, State: run.StatePending, Requested: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		want.Start(made, nil)
		if err := r.store.Commit(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, bytes := r.loadCounting(want.ID)
		t.Logf("%d steps, %d bytes", len(got.Steps), bytes)
		if d := cmp.Diff(want.Steps, got.Steps); d != "" {
			t.Error(d)
		}
		if barrier := got.Step(string(plan.Barrier)); barrier == nil || len(barrier.After) != 1999 {
			t.Errorf("the barrier is %v", barrier)
		}
	})
}

// changed is a view of n stacks with the longest names, of which one is no longer
// wanted and all others have changed.
func changed(n int) plan.View {
	var w stacks
	for i := range n {
		name := fmt.Sprintf("s%04d-", i)
		name += strings.Repeat("x", 128-len(name))
		w = append(w, stack{name: name, version: "v2", physical: name})
	}
	v := plan.View{Desired: w[1:].project(), Recorded: make(map[string]plan.Record), Live: make(map[string]plan.Live)}
	v.Desired.MaxDeletions = new(1)
	for name, node := range w.project().Nodes {
		v.Recorded[name] = plan.Record{Node: name, Stack: node.Stack, StackID: "id of " + name, Target: node.Target}
		v.Live[name] = plan.Live{StackID: "id of " + name, Status: "CREATE_COMPLETE"}
	}
	return v
}
