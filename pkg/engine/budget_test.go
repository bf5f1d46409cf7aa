package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// A testBudget grants a fixed number of demands in each call, and records the demands
// and the throttled requests.
type testBudget struct {
	grants    int
	err       error
	asks      []budget.Demand // of the last Take
	throttled []string
}

const testBudgetWait = 3 * time.Second // what a testBudget says until it grants more

func (p *testBudget) Take(_ context.Context, _, _ string, asks []budget.Demand, now time.Time) (int, time.Time, error) {
	p.asks = asks
	return min(p.grants, len(asks)), now.Add(testBudgetWait), p.err
}

func (p *testBudget) Throttled(_ context.Context, where string, k budget.Kind, _ time.Time) error {
	p.throttled = append(p.throttled, where+" "+string(k))
	return p.err
}

// setTargets deploys the stacks of a version to one account, and the named ones to
// another.
func (h *fixture) setTargets(version string, others ...string) {
	for name, n := range h.projects[version].Nodes {
		n.Target = project.Target{Name: "eu", Account: "111122223333", Region: "eu-west-1"}
		if slices.Contains(others, name) {
			n.Target = project.Target{Name: "us", Account: "444455556666", Region: "us-east-1"}
		}
		h.projects[version].Nodes[name] = n
	}
}

// As many steps start as the budgets have room for, in each account and region. The others
// stay pending until there is room.
func TestStartsWithinBudget(t *testing.T) {
	h := newFixture(t)
	p := &testBudget{grants: 2}
	h.Budgets = p
	h.setVersion("v1", "a b c d e f")
	h.setTargets("v1", "e", "f")
	loop := h.begin("r", "v1")
	requested := func(want string) {
		t.Helper()
		if got := strings.Join(h.backend.Cloud.Started(0), " "); got != want {
			t.Errorf("requested %s, want %s", got, want)
		}
		h.backend.Cloud.Requests = nil
	}
	requested("shop-a/create shop-b/create shop-e/create shop-f/create")
	p.grants = 0
	if again := h.polled(loop); loop.Wait != 5 || again.Run != "" {
		t.Errorf("without room the wait is %d s, and the poll answers %+v", loop.Wait, again)
	}
	if s := h.stored("r").Steps[2]; s.Status != run.Pending || s.Attempt != 0 {
		t.Errorf("without room the step is %s", s.Status)
	}
	requested("")
	p.grants = 1
	h.polled(loop)
	requested("shop-c/create")
	p.grants, p.err = 0, fault.New(fault.Throttled, "DynamoDB is slow")
	h.polled(loop) // nobody knows the budget
	requested("shop-d/create")
}

// A poll reads the steps with an event first, and leaves steps without room in the budget
// for the next poll.
func TestPollWithinBudget(t *testing.T) {
	h := newFixture(t)
	h.loseEvents()
	p := &testBudget{grants: 10}
	h.Budgets = p
	h.setVersion("v1", "a b c")
	h.setTargets("v1")
	loop := h.begin("r", "v1")
	h.passTime(20 * time.Second)
	marked, err := h.Store.MarkEvent(h.Context(), "r", 2, 1, "CREATE_COMPLETE")
	if err != nil || !marked {
		t.Fatal(marked, err)
	}
	before := h.stored("r").Steps
	p.grants = 1
	h.polled(loop)
	after := h.stored("r").Steps
	if after[2].Status != run.Done || after[0].Status != run.Running || !after[0].Due.Equal(before[0].Due) {
		t.Errorf("the steps are %+v", after)
	}
	want := []budget.Demand{{Reads: 1}, {Reads: 1, Idle: true}, {Reads: 1, Idle: true}}
	if !slices.Equal(p.asks, want) {
		t.Errorf("the poll takes %v", p.asks)
	}
	p.grants = 10
	h.polled(loop)
	if r := h.stored("r"); r.State != run.StateSucceeded {
		t.Errorf("with room for all, the run is %s", r.State)
	}
}

// The budget is notified of throttled requests, and no step fails because of them.
func TestThrottledRequestsReachBudget(t *testing.T) {
	h := newFixture(t)
	h.loseEvents()
	p := &testBudget{grants: 10}
	h.Budgets = p
	h.setVersion("v1", "a")
	h.setTargets("v1")
	h.request("r", "deploy", "v1")
	slow := action.RateExceeded(errors.New("rate exceeded"))
	h.cloud.readErr = slow
	if _, err := h.Plan(h.Context(), engine.ExecutionInput{Run: "r", Epoch: 1}); !fault.Is(err, fault.Throttled) {
		t.Fatal(err)
	}
	h.cloud.readErr, h.cloud.beginErr = nil, slow
	loop := h.planned("r", 1)
	h.polled(loop)
	h.cloud.beginErr = nil
	h.passTime(10 * time.Second)
	h.polled(loop)
	h.cloud.readErr = slow
	h.passTime(16 * time.Second)
	h.polled(loop)
	want := []string{"111122223333#eu-west-1 read", "111122223333#eu-west-1 write", "111122223333#eu-west-1 read"}
	if !slices.Equal(p.throttled, want) {
		t.Errorf("the budget was notified of %q", p.throttled)
	}
	if s := h.stored("r").Steps[0]; s.Status != run.Running || s.Verb != plan.Create {
		t.Errorf("the step is %+v", s)
	}
}

// The budget is not notified if another service throttles, or if CloudFormation cannot be
// reached: neither says that CloudFormation gets too many requests.
func TestOtherServicesDoNotReachBudget(t *testing.T) {
	for _, err := range []error{
		fault.New(fault.Throttled, "assume role r: Throttling: Rate exceeded"),
		fault.As(fault.Throttled, fault.New(fault.Unavailable, "AWS did not answer")),
	} {
		h := newFixture(t)
		p := &testBudget{grants: 10}
		h.Budgets = p
		h.setVersion("v1", "a")
		h.setTargets("v1")
		h.request("r", "deploy", "v1")
		h.cloud.readErr = err
		if _, got := h.Plan(h.Context(), engine.ExecutionInput{Run: "r", Epoch: 1}); !fault.Is(got, fault.Throttled) {
			t.Fatal(got)
		}
		h.cloud.readErr, h.cloud.beginErr = nil, err
		loop := h.planned("r", 1)
		h.polled(loop)
		h.cloud.beginErr = nil
		h.passTime(10 * time.Second)
		h.polled(loop)
		h.cloud.readErr = err
		h.passTime(10 * time.Second)
		h.polled(loop)
		if len(p.throttled) > 0 {
			t.Errorf("%v: the budget was notified of %q", err, p.throttled)
		}
		if s := h.stored("r").Steps[0]; s.Status != run.Running {
			t.Errorf("%v: the step is %+v", err, s)
		}
	}
}

// If a plan reads stacks in two accounts and is throttled, it is unknown which of them
// throttled: no budget is lowered.
func TestThrottledPlanOfTwoAccountsReachesNoBudget(t *testing.T) {
	h := newFixture(t)
	p := &testBudget{grants: 10}
	h.Budgets = p
	h.setVersion("v1", "a b")
	h.setTargets("v1", "b")
	h.request("r", "deploy", "v1")
	h.cloud.readErr = action.RateExceeded(errors.New("rate exceeded"))
	if _, err := h.Plan(h.Context(), engine.ExecutionInput{Run: "r", Epoch: 1}); !fault.Is(err, fault.Throttled) {
		t.Fatal(err)
	}
	if len(p.throttled) != 0 {
		t.Errorf("the budgets were notified of %q", p.throttled)
	}
}

// After a start that CloudFormation has throttled, no other step starts in that account
// and region in the same call.
func TestThrottledStartStopsOthersOfAccount(t *testing.T) {
	h := newFixture(t)
	h.Budgets = &testBudget{grants: 10}
	h.setVersion("v1", "a b c d")
	h.setTargets("v1", "d")
	requests := 0
	h.cloud.beforeBegin = func() { requests++ }
	h.cloud.beginErr = action.RateExceeded(errors.New("rate exceeded"))
	h.begin("r", "v1")
	if requests != 2 {
		t.Errorf("%d requests were sent, want one for each of two accounts", requests)
	}
}
