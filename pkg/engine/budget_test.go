package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A testBudget grants so many demands at a time in each place, and records what is
// requested of it.
type testBudget struct {
	grants    int
	err       error
	asks      []budget.Demand // of the last Take
	throttled []string
}

const wait = 3 * time.Second // until a testBudget grants more

func (p *testBudget) Room(_ context.Context, _ string, asks []budget.Demand, now time.Time) (int, time.Time, error) {
	return min(p.grants, len(asks)), now.Add(wait), p.err
}

func (p *testBudget) Take(_ context.Context, _ string, asks []budget.Demand, now time.Time) (int, time.Time, error) {
	p.asks = asks
	return min(p.grants, len(asks)), now.Add(wait), p.err
}

func (p *testBudget) Throttled(_ context.Context, where string, k budget.Kind, _ time.Time) error {
	p.throttled = append(p.throttled, where+" "+string(k))
	return p.err
}

// spread puts the nodes of a version into an account, and those that are named
// into another.
func (h *fixture) spread(version string, others ...string) {
	for name, n := range h.projects[version].Nodes {
		n.Target = project.Target{Name: "eu", Account: "111122223333", Region: "eu-west-1"}
		if slices.Contains(others, name) {
			n.Target = project.Target{Name: "us", Account: "444455556666", Region: "us-east-1"}
		}
		h.projects[version].Nodes[name] = n
	}
}

// As many steps are ready as the budgets have room for, in each account and region.
func TestReadyWithinBudget(t *testing.T) {
	h := newFixture(t)
	p := &testBudget{grants: 2}
	h.Budgets = p
	h.desire("v1", "a b c d e f")
	h.spread("v1", "e", "f")
	h.ask("r", "deploy", "v1")
	loop := h.planned("r", 1)
	if !slices.Equal(loop.Ready, []int{0, 1, 4, 5}) {
		t.Errorf("ready are %v", loop.Ready)
	}
	h.startReady(loop)
	p.grants = 0
	loop.Wait = 60
	if again := h.polled(loop); again.State != run.StateWatch || again.Wait != 5 || len(again.Ready) != 0 {
		t.Errorf("without room it is %+v", again)
	}
	loop.Wait = 5
	if again := h.polled(loop); again.Run != "" {
		t.Errorf("it is answered %+v", again)
	}
	p.grants = 1
	if again := h.polled(loop); !slices.Equal(again.Ready, []int{2}) {
		t.Errorf("then ready are %v", again.Ready)
	}
	p.grants, p.err = 0, fault.New(fault.Throttled, "DynamoDB is slow")
	if again := h.polled(loop); !slices.Equal(again.Ready, []int{2, 3}) {
		t.Errorf("if nothing is known, ready are %v", again.Ready)
	}
}

// More steps are ready than a loop state holds, and the first one in another account
// comes after them.
func TestReadyElsewhere(t *testing.T) {
	h := newFixture(t)
	p := &testBudget{grants: 3}
	h.Budgets = p
	names := make([]string, 60)
	for i := range names {
		names[i] = "s" + string(rune('A'+i/26)) + string(rune('a'+i%26))
	}
	h.desire("v1", strings.Join(names, " "))
	h.spread("v1", names[50:]...)
	h.ask("r", "deploy", "v1")
	loop := h.planned("r", 1)
	if !slices.Equal(loop.Ready, []int{0, 1, 2, 50, 51, 52}) {
		t.Errorf("ready are %v", loop.Ready)
	}
	p.grants, loop.Ready = 100, nil
	if again := h.polled(loop); len(again.Ready) != 40 || again.Ready[39] != 39 {
		t.Errorf("with all room, ready are %v", again.Ready)
	}
}

// A start without room in the budget leaves the step pending, for later.
func TestExecuteWithoutRoom(t *testing.T) {
	h := newFixture(t)
	p := &testBudget{grants: 1}
	h.Budgets = p
	h.desire("v1", "a")
	h.spread("v1")
	h.ask("r", "deploy", "v1")
	loop := h.planned("r", 1)
	p.grants = 0
	h.startReady(loop)
	s := h.stored("r").Steps[0]
	if s.Status != run.Pending || s.Attempt != 0 || !s.NotBefore.Equal(h.Now().Add(wait)) || !strings.Contains(s.Why, "waits for its turn") {
		t.Errorf("it is %+v", s)
	}
	if len(h.backend.Cloud.Requests) > 0 || h.records() != "" {
		t.Errorf("requested %v, recorded %s", h.backend.Cloud.Requests, h.records())
	}
	h.pass(wait)
	p.err = fault.New(fault.Unavailable, "nobody knows")
	h.startReady(loop)
	if s := h.stored("r").Steps[0]; s.Status != run.Running || s.Attempt != 1 || s.Why != "" {
		t.Errorf("then it is %+v", s)
	}
}

// A poll reads first what an event reported, and leaves alone what has no room in
// the budget.
func TestPollWithinBudget(t *testing.T) {
	h := newFixture(t)
	h.backend.Faults.Event = func() []time.Duration { return nil }
	p := &testBudget{grants: 10}
	h.Budgets = p
	h.desire("v1", "a b c")
	h.spread("v1")
	h.ask("r", "deploy", "v1")
	loop := h.planned("r", 1)
	h.startReady(loop)
	h.pass(20 * time.Second)
	marked, err := h.Store.MarkEvent(h.Context(), "r", 2, 1, "CREATE_COMPLETE")
	if err != nil || !marked {
		t.Fatal(marked, err)
	}
	before := h.stored("r").Steps
	p.grants = 1
	h.polled(loop)
	after := h.stored("r").Steps
	if after[2].Status != run.Done || after[0].Status != run.Running || !after[0].Due.Equal(before[0].Due) {
		t.Errorf("they are %+v", after)
	}
	want := []budget.Demand{{Reads: 2}, {Reads: 2, Idle: true}, {Reads: 2, Idle: true}}
	if !slices.Equal(p.asks, want) {
		t.Errorf("it requested %v", p.asks)
	}
	p.grants = 10
	h.polled(loop)
	if r := h.stored("r"); r.State != run.StateSucceeded {
		t.Errorf("then it is %s", r.State)
	}
}

// The budget learns of throttled requests, and no step fails because of them.
func TestThrottledHalves(t *testing.T) {
	h := newFixture(t)
	p := &testBudget{grants: 10}
	h.Budgets = p
	h.desire("v1", "a")
	h.spread("v1")
	h.ask("r", "deploy", "v1")
	slow := fault.New(fault.Throttled, "rate exceeded")
	h.cloud.live = slow
	if _, err := h.Plan(h.Context(), engine.ExecutionInput{Run: "r", Epoch: 1}); !fault.Is(err, fault.Throttled) {
		t.Fatal(err)
	}
	h.cloud.live, h.cloud.begin = nil, slow
	loop := h.planned("r", 1)
	h.startReady(loop)
	h.cloud.begin = nil
	h.pass(10 * time.Second)
	h.startReady(loop)
	h.cloud.live = slow
	h.pass(10 * time.Second)
	h.polled(loop)
	want := []string{"111122223333#eu-west-1 read", "111122223333#eu-west-1 write", "111122223333#eu-west-1 read"}
	if !slices.Equal(p.throttled, want) {
		t.Errorf("it was notified of %q", p.throttled)
	}
	if s := h.stored("r").Steps[0]; s.Status != run.Running || s.Verb != plan.Create {
		t.Errorf("the step is %+v", s)
	}
}
