package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

func TestPlan(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc db<vpc web")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	if loop.State != run.StateReady || !slices.Equal(loop.Ready, []int{0, 2}) || loop.Epoch != 1 || loop.Wait < 5 || loop.Wait > 60 {
		t.Errorf("got %+v", loop)
	}
	if again := h.planned("a", 1); again.State != run.StatePoll || len(again.Ready) != 0 {
		t.Errorf("taken up, it is %+v", again)
	}
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "none", Epoch: 1}); !fault.Is(err, fault.Missing) {
		t.Errorf("got %v", err)
	}
	h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "a"}, Epoch: 1}))
	if old := h.planned("a", 1); old.State != run.StateFencedOff || !slices.Contains(h.started, "a-2") {
		t.Errorf("an old execution gets %+v; started %v", old, h.started)
	}
	if !slices.Equal(h.notified, []run.State{run.StateRunning}) {
		t.Errorf("notified of %v", h.notified)
	}
}

// A refused run lists everything that is wrong with its request and its files, one
// message each, and holds no lock.
func TestPlanRefused(t *testing.T) {
	h := newFixture(t)
	h.desire("ring", "a<b b<a")
	h.backend.Cloud.Put("shop-x", "CREATE_COMPLETE")
	h.backend.Cloud.Put("shop-y", "CREATE_COMPLETE")
	h.desire("theirs", "x y")
	for id, c := range map[string]struct {
		q    run.Request
		want []string
	}{
		"problems":  {run.Request{Operation: "deploy", Problems: []string{"one", "two"}}, []string{"one", "two"}},
		"operation": {run.Request{Operation: "fly"}, []string{`there is no operation "fly"`}},
		"version":   {run.Request{Operation: "deploy", Source: run.Source{Version: "none"}}, []string{"there is no version none"}},
		"ring":      {run.Request{Operation: "deploy", Source: run.Source{Version: "ring"}}, []string{"cycle: a → b → a"}},
		"theirs":    {run.Request{Operation: "deploy", Source: run.Source{Version: "theirs"}}, []string{"stack x: shop-x exists", "stack y: shop-y exists"}},
	} {
		c.q.ID, c.q.Project = id, shop
		h.must(h.Start(t.Context(), c.q))
		loop, r := h.planned(id, 1), h.stored(id)
		same := len(r.Messages) == len(c.want)
		for i := 0; same && i < len(c.want); i++ {
			same = strings.HasPrefix(r.Messages[i], c.want[i])
		}
		if loop.State != run.StateRefused || r.State != run.StateRefused || !same {
			t.Errorf("%s is %s: %q", id, r.State, r.Messages)
		}
		if line := h.waits(); line != "" {
			t.Errorf("refused, %s holds the lock", line)
		}
		if again := h.planned(id, 1); again.State != run.StateRefused {
			t.Errorf("%s is %s when it is planned again", id, again.State)
		}
	}
}

// A run that requests the lock while another holds it is queued, unless the request
// refuses that.
func TestLock(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	h.planned("a", 1)
	h.must(h.Start(t.Context(), run.Request{ID: "b", Project: shop, Operation: "destroy", Options: run.Options{Refuse: true}}))
	h.planned("b", 1)
	want := "run a (deploy, running) holds the lock on shop@default: wait for its end, or ask to be queued"
	if got := h.stored("b").Messages; len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
	h.ask("c", "plan", "v1")
	if loop := h.planned("c", 1); loop.State != run.StateSucceeded || len(h.stored("c").Steps) != 1 {
		t.Errorf("a preview is %s: %q", loop.State, h.stored("c").Messages)
	}
	h.ask("d", "destroy", "")
	if loop := h.planned("d", 1); loop.State != run.StateWaiting || h.stored("d").State != run.StateQueued || h.waits() != "a d" {
		t.Errorf("it is %s, the queue has %s", loop.State, h.waits())
	}
	if loop := h.planned("d", 1); loop.State != run.StateWaiting {
		t.Errorf("planned again, it is %s", loop.State)
	}
	h.end("a")
	if h.waits() != "d" || h.stored("d").Epoch != 2 || !slices.Contains(h.started, "d-2") {
		t.Errorf("the queue has %s, started %v", h.waits(), h.started)
	}
	if loop := h.planned("d", 2); loop.State != run.StateReady {
		t.Errorf("when it is its turn, it is %s", loop.State)
	}
}

// A refused plan leaves the records as they were, so the files before it can still
// be deployed.
func TestRefusedMovesNoRecord(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.executed("a", "deploy", "v1")
	h.backend.Cloud.Put("taken", "CREATE_COMPLETE")
	h.desire("v2", "vpc=taken")
	if r := h.executed("b", "deploy", "v2"); r.State != run.StateRefused || h.records() != "vpc" {
		t.Errorf("it is %s, and there are records of %s", r.State, h.records())
	}
	if r := h.executed("c", "deploy", "v1"); r.State != run.StateSucceeded || len(r.Steps) > 0 {
		t.Errorf("going back is %s: %q", r.State, r.Messages)
	}
	h.desire("v3", "vpc=new")
	if r := h.executed("p", "plan", "v3"); r.State != run.StateSucceeded || len(r.Steps) != 3 || h.records() != "vpc" {
		t.Errorf("a preview is %s with %d steps, and there are records of %s", r.State, len(r.Steps), h.records())
	}
	if r := h.executed("d", "deploy", "v3"); r.State != run.StateSucceeded || h.records() != "vpc" || h.backend.Cloud.Status("shop-vpc") != "" {
		t.Errorf("renamed is %s: %q", r.State, r.Messages)
	}
}

// A planner that is late, or whose commit was not answered, leaves a run that
// continues.
func TestPlannedByAnother(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	h.store.commit = twice
	if loop := h.planned("a", 1); loop.State != run.StatePoll || loop.Epoch != 1 {
		t.Errorf("got %+v", loop)
	}
	h.ask("p", "plan", "v1")
	if loop := h.planned("p", 1); loop.State.Over() && loop.State != run.StateSucceeded {
		t.Errorf("a preview is %+v", loop)
	}
	if loop := h.planned("p", 1); loop.State != run.StateSucceeded {
		t.Errorf("a preview whose planner crashed is %s", loop.State)
	}
	h.store.commit = func(func() error) error { return fault.New(fault.Stale, "another writes steps") }
	h.must(h.Start(t.Context(), run.Request{ID: "b", Project: "other@default", Operation: "deploy", Source: run.Source{Version: "v1"}}))
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "b", Epoch: 1}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	h.store.commit = func(func() error) error {
		h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "b"}, Epoch: 1}))
		return fault.New(fault.Stale, "driven by another")
	}
	if loop := h.planned("b", 1); loop.State != run.StateFencedOff {
		t.Errorf("a newer epoch leaves it %s", loop.State)
	}
	h.store.commit = func(func() error) error {
		r := h.stored("b")
		r.State = run.StateCancelled
		l, err := h.Store.Lock(t.Context(), r.Project)
		h.must(err)
		h.must(h.Store.End(t.Context(), r, leaving(l, r)))
		return fault.New(fault.Stale, "over")
	}
	if loop := h.planned("b", 2); loop.State != run.StateCancelled {
		t.Errorf("ended meanwhile, it is %s", loop.State)
	}
}

// An end is written although it was written before, or a command arrives meanwhile.
func TestFinish(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "")
	h.ask("a", "deploy", "v1")
	h.store.end = twice
	if loop := h.planned("a", 1); loop.State != run.StateSucceeded || h.stored("a").State != run.StateSucceeded {
		t.Errorf("it is %s", loop.State)
	}
	h.ask("b", "deploy", "v1")
	requested := false
	h.store.end = func(end func() error) error {
		if !requested {
			requested = true
			h.must(h.Command(t.Context(), run.Request{Project: shop, Operation: "pause", Of: "b"}))
		}
		return end()
	}
	if loop := h.planned("b", 1); loop.State != run.StateSucceeded || !requested {
		t.Errorf("it is %s", loop.State)
	}
	h.ask("c", "deploy", "v1")
	h.store.end = func(end func() error) error {
		h.store.end = nil
		h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "c"}, Epoch: 1}))
		return end()
	}
	if loop := h.planned("c", 1); loop.State != run.StateFencedOff || !slices.Contains(h.started, "c-2") {
		t.Errorf("it is %s, started %v", loop.State, h.started)
	}
	h.store.end = func(func() error) error { return fault.New(fault.Throttled, "slow") }
	h.ask("d", "fly", "")
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "d", Epoch: 1}); !fault.Is(err, fault.Throttled) {
		t.Errorf("got %v", err)
	}
}

// A temporary fault refuses nothing: the state machine tries again.
func TestPlanThrottled(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	h.cloud.live = fault.New(fault.Throttled, "slow")
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "a", Epoch: 1}); !fault.Is(err, fault.Throttled) || h.stored("a").State != run.StatePending {
		t.Errorf("got %v, and it is %s", err, h.stored("a").State)
	}
	h.cloud.live = nil
	h.pass(time.Second)
	if loop := h.planned("a", 1); loop.State != run.StateReady {
		t.Errorf("then it is %s", loop.State)
	}
}
