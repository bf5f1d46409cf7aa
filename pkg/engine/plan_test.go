package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// The steps of a planned run that are ready start. A run that is planned again is polled;
// a planner of an old epoch is fenced off.
func TestPlan(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc db<vpc web")
	h.request("a", "deploy", "v1")
	loop := h.planned("a", 1)
	if loop.State != run.StateReady || loop.Epoch != 1 || !slices.Equal(loop.Ready, []int{0, 2}) {
		t.Errorf("got %+v", loop)
	}
	if again := h.planned("a", 1); again.State != run.StatePoll || len(again.Ready) > 0 {
		t.Errorf("planned again, it is %+v", again)
	}
	if next := h.executed(loop); next.State != run.StateWatch || len(next.Ready) > 0 || next.Past != 5 || next.Wait < 2 {
		t.Errorf("after the start, the loop state is %+v", next)
	}
	if !slices.Equal(h.backend.Cloud.Started(0), []string{"shop-vpc/create", "shop-web/create"}) {
		t.Errorf("it requests %v", h.backend.Cloud.Requests)
	}
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "none", Epoch: 1}); !fault.Is(err, fault.Missing) {
		t.Errorf("got %v", err)
	}
	h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "a"}, Epoch: 1}))
	if old := h.planned("a", 1); old.State != run.StateFencedOff || !slices.Contains(h.started, "a-2") {
		t.Errorf("the planner of the old epoch gets %+v; started %v", old, h.started)
	}
	if !slices.Equal(h.notified, []run.State{run.StateRunning}) {
		t.Errorf("notified of %v", h.notified)
	}
}

// A refused run lists everything that is wrong with its request and its files, one
// message each, and holds no lock.
func TestPlanRefused(t *testing.T) {
	h := newFixture(t)
	h.setVersion("cycle", "a<b b<a")
	h.backend.Cloud.Put("shop-x", "CREATE_COMPLETE")
	h.backend.Cloud.Put("shop-y", "CREATE_COMPLETE")
	h.setVersion("foreign", "x y")
	var large strings.Builder
	for i := range 15_000 {
		fmt.Fprintf(&large, "stack%05d ", i)
	}
	h.setVersion("large", large.String())
	for id, c := range map[string]struct {
		q    run.Request
		want []string
	}{
		"problems":  {run.Request{Operation: "deploy", Problems: []string{"one", "two"}}, []string{"one", "two"}},
		"operation": {run.Request{Operation: "fly"}, []string{`there is no operation "fly"`}},
		"version":   {run.Request{Operation: "deploy", Source: run.Source{Version: "none"}}, []string{"there is no version none"}},
		"cycle":     {run.Request{Operation: "deploy", Source: run.Source{Version: "cycle"}}, []string{"cycle: a → b → a"}},
		"foreign":   {run.Request{Operation: "deploy", Source: run.Source{Version: "foreign"}}, []string{"stack x: shop-x exists", "stack y: shop-y exists"}},
		"large":     {run.Request{Operation: "plan", Source: run.Source{Version: "large"}}, []string{"what the plan changes has "}},
	} {
		c.q.ID, c.q.Project = id, shop
		h.must(h.Start(t.Context(), c.q))
		loop, r := h.planned(id, 1), h.stored(id)
		same := slices.EqualFunc(r.Messages, c.want, strings.HasPrefix)
		if loop.State != run.StateRefused || r.State != run.StateRefused || !same {
			t.Errorf("run %s is %s: %q", id, r.State, r.Messages)
		}
		if queue := h.queue(); queue != "" {
			t.Errorf("after the refusal of run %s the queue has %s", id, queue)
		}
		if again := h.planned(id, 1); again.State != run.StateRefused {
			t.Errorf("planned again, run %s is %s", id, again.State)
		}
	}
}

// A run that requests the lock while another holds it is queued, unless the request
// refuses that.
func TestLock(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	h.planned("a", 1)
	h.must(h.Start(t.Context(), run.Request{ID: "b", Project: shop, Operation: "destroy", Options: run.Options{Refuse: true}}))
	h.planned("b", 1)
	want := "run a (deploy, running) holds the lock on shop@default: wait until it ends, or leave out refuse to queue this run"
	if got := h.stored("b").Messages; len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
	h.request("c", "plan", "v1")
	if loop := h.planned("c", 1); loop.State != run.StateSucceeded || len(h.stored("c").Steps) != 1 {
		t.Errorf("a preview is %s: %q", loop.State, h.stored("c").Messages)
	}
	h.request("d", "destroy", "")
	if loop := h.planned("d", 1); loop.State != run.StateWaiting || h.stored("d").State != run.StateQueued || h.queue() != "a d" {
		t.Errorf("run d is %s, the queue has %s", loop.State, h.queue())
	}
	if loop := h.planned("d", 1); loop.State != run.StateWaiting {
		t.Errorf("planned again, run d is %s", loop.State)
	}
	h.planAndExecute("a")
	if h.queue() != "d" || h.stored("d").Epoch != 2 || !slices.Contains(h.started, "d-2") {
		t.Errorf("the queue has %s, started %v", h.queue(), h.started)
	}
	if loop := h.planned("d", 2); loop.State != run.StateReady {
		t.Errorf("with the lock, run d is %s", loop.State)
	}
}

// A refused plan renames no record, so that the files before it can still be deployed.
func TestRefusedPlanRenamesNoRecord(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	h.backend.Cloud.Put("taken", "CREATE_COMPLETE")
	h.setVersion("v2", "vpc=taken")
	if r := h.requestAndExecute("b", "deploy", "v2"); r.State != run.StateRefused || h.records() != "vpc" {
		t.Errorf("the deploy is %s, and there are records of %s", r.State, h.records())
	}
	if r := h.requestAndExecute("c", "deploy", "v1"); r.State != run.StateSucceeded || len(r.Steps) > 0 {
		t.Errorf("the deploy of the files before is %s: %q", r.State, r.Messages)
	}
	h.setVersion("v3", "vpc=new")
	if r := h.requestAndExecute("p", "plan", "v3"); r.State != run.StateSucceeded || len(r.Steps) != 3 || h.records() != "vpc" {
		t.Errorf("a preview is %s with %d steps, and there are records of %s", r.State, len(r.Steps), h.records())
	}
	if r := h.requestAndExecute("d", "deploy", "v3"); r.State != run.StateSucceeded || h.records() != "vpc" || h.backend.Cloud.Status("shop-vpc") != "" {
		t.Errorf("the deploy with a new name is %s: %q", r.State, r.Messages)
	}
}

// A run continues if the answer to its commit was lost, if its planner crashed after the
// commit, or if another planner was faster.
func TestPlannedByAnother(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	h.store.commit = repeatedWrite
	if loop := h.planned("a", 1); loop.State != run.StatePoll || loop.Epoch != 1 {
		t.Errorf("got %+v", loop)
	}
	h.request("p", "plan", "v1")
	if loop := h.planned("p", 1); loop.State.Over() && loop.State != run.StateSucceeded {
		t.Errorf("a preview is %+v", loop)
	}
	if loop := h.planned("p", 1); loop.State != run.StateSucceeded {
		t.Errorf("a preview whose planner crashed is %s", loop.State)
	}
	h.store.commit = func(func() error) error { return fault.New(fault.Stale, "another planner writes its steps") }
	h.must(h.Start(t.Context(), run.Request{ID: "b", Project: "other@default", Operation: "deploy", Source: run.Source{Version: "v1"}}))
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "b", Epoch: 1}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	h.store.commit = func(func() error) error {
		h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "b"}, Epoch: 1}))
		return fault.New(fault.Stale, "the run has a newer epoch")
	}
	if loop := h.planned("b", 1); loop.State != run.StateFencedOff {
		t.Errorf("with a newer epoch the state is %s", loop.State)
	}
	h.store.commit = func(func() error) error {
		r := h.stored("b")
		r.State = run.StateCancelled
		l, err := h.Store.Lock(t.Context(), r.Project)
		h.must(err)
		h.must(h.Store.End(t.Context(), r, exitOf(l, r)))
		return fault.New(fault.Stale, "the run has ended")
	}
	if loop := h.planned("b", 2); loop.State != run.StateCancelled {
		t.Errorf("ended meanwhile, the run is %s", loop.State)
	}
}

// A run without steps ends although its end was written before, or a command arrives
// meanwhile.
func TestFinish(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "")
	h.request("a", "deploy", "v1")
	h.store.end = repeatedWrite
	if loop := h.planned("a", 1); loop.State != run.StateSucceeded || h.stored("a").State != run.StateSucceeded {
		t.Errorf("the run is %s", loop.State)
	}
	h.request("b", "deploy", "v1")
	requested := false
	h.store.end = func(end func() error) error {
		if !requested {
			requested = true
			h.must(h.Command(t.Context(), run.Request{Project: shop, Operation: "pause", Of: "b"}))
		}
		return end()
	}
	if loop := h.planned("b", 1); loop.State != run.StateSucceeded || !requested {
		t.Errorf("the run is %s", loop.State)
	}
	h.request("c", "deploy", "v1")
	h.store.end = func(end func() error) error {
		h.store.end = nil
		h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "c"}, Epoch: 1}))
		return end()
	}
	if loop := h.planned("c", 1); loop.State != run.StateFencedOff || !slices.Contains(h.started, "c-2") {
		t.Errorf("the run is %s, started %v", loop.State, h.started)
	}
	h.store.end = func(func() error) error { return fault.New(fault.Throttled, "slow") }
	h.request("d", "fly", "")
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "d", Epoch: 1}); !fault.Is(err, fault.Throttled) {
		t.Errorf("got %v", err)
	}
}

// A throttled read does not refuse a run: the state machine plans it again.
func TestPlanThrottled(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	h.cloud.readErr = fault.New(fault.Throttled, "slow")
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "a", Epoch: 1}); !fault.Is(err, fault.Throttled) || h.stored("a").State != run.StatePending {
		t.Errorf("got %v, and the run is %s", err, h.stored("a").State)
	}
	h.cloud.readErr = nil
	h.passTime(time.Second)
	if loop := h.planned("a", 1); loop.State != run.StateReady {
		t.Errorf("planned again, the run is %s", loop.State)
	}
}

// What a plan that is only shown would change is stored before the run ends, and not for
// other operations.
func TestPlanStoresWhatItWouldChange(t *testing.T) {
	h := newFixture(t)
	h.Engine.Changes = withoutTemplates{h.Changes}
	h.setVersion("v1", "vpc db<vpc")
	h.request("a", "plan", "v1")
	if loop := h.planned("a", 1); loop.State != run.StateSucceeded {
		t.Fatalf("the plan ends as %s", loop.State)
	}
	h.request("b", "deploy", "v1")
	h.planned("b", 1)
	if len(h.backend.Changes) != 1 {
		t.Fatalf("%d documents are stored", len(h.backend.Changes))
	}
	for reference, c := range h.backend.Changes {
		if stored := h.stored("a"); stored.Changes != reference || c.Run != "a" || c.Project != "shop" || c.Operation != "plan" || c.Digest == "" || c.Summary.Create != 2 || len(c.Stacks) != 2 {
			t.Errorf("%+v", c)
		}
		if got := strings.Join(c.Stacks[0].Caveats, "; "); !strings.Contains(got, "it is no longer stored") {
			t.Errorf("no template is stored, and the plan says %q", got)
		}
	}
}

// A deployed template that is lost in the store is read from CloudFormation.
func TestPlanReadsLostTemplates(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	h.Engine.Changes = templates{h.Changes, h.recorded("vpc").Template, ""}
	h.request("b", "plan-destroy", "")
	h.planned("b", 1)
	for _, c := range h.backend.Changes {
		if len(c.Stacks) != 1 || len(c.Stacks[0].Caveats) > 0 || len(c.Stacks[0].Resources) == 0 {
			t.Errorf("%+v", c.Stacks)
		}
	}
}

// A document that would be too large to be read is stored without details, and says so.
func TestPlanStoresLargeChanges(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	p := h.projects["v1"]
	n := p.Nodes["vpc"]
	n.Parameters = map[string]project.Text{"Long": project.Literal(strings.Repeat("x", plan.MaxChanges))}
	p.Nodes["vpc"] = n
	h.request("a", "plan", "v1")
	if loop := h.planned("a", 1); loop.State != run.StateSucceeded {
		t.Fatalf("the plan ends as %s", loop.State)
	}
	c := h.backend.Changes[h.stored("a").Changes]
	if len(c.Stacks) != 1 || len(c.Stacks[0].Parameters) != 0 || len(c.Messages) != 1 || !strings.Contains(c.Messages[0], "too large") {
		t.Errorf("stored are %d stacks, and it says %q", len(c.Stacks), c.Messages)
	}
}

// withoutTemplates stores what plans would change, and has no templates.
type withoutTemplates struct{ engine.Changes }

func (withoutTemplates) Template(_ context.Context, digest string) ([]byte, error) {
	return nil, fault.New(fault.Missing, "there is no template %s", digest)
}

// slowChanges stores what a plan would change after another function has done something.
type slowChanges struct {
	engine.Changes
	meanwhile func()
}

func (s slowChanges) SaveChanges(ctx context.Context, c plan.Changes) (string, error) {
	s.meanwhile()
	return s.Changes.SaveChanges(ctx, c)
}

// A planner of an old epoch that stores its document after the planner of the newer epoch
// does not replace that one's: the run names the document of the plan that it has.
func TestLatePlannerReplacesNoDocument(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc db<vpc")
	h.request("a", "plan", "v1")
	late := *h.Engine
	late.Changes = slowChanges{h.Changes, func() {
		h.setVersion("v1", "vpc")
		h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "a"}, Epoch: 1}))
		if loop := h.planned("a", 2); loop.State != run.StateSucceeded {
			t.Errorf("the plan of epoch 2 ends as %s", loop.State)
		}
	}}
	loop, err := late.Plan(t.Context(), engine.ExecutionInput{Run: "a", Epoch: 1})
	if err != nil || loop.State != run.StateFencedOff {
		t.Errorf("the planner of epoch 1 gets %+v, %v", loop, err)
	}
	r := h.stored("a")
	if c := h.backend.Changes[r.Changes]; len(h.backend.Changes) != 2 || c.Digest != r.Digest || c.Summary.Create != 1 {
		t.Errorf("of %d documents, the run with the plan %s names %+v", len(h.backend.Changes), r.Digest, c)
	}
}
