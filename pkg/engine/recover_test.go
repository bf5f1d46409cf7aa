package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// When its execution has ended, and at a sweep, a run is restarted if it should have
// an execution. It is left alone if it has one, is over, or waits for a person or
// for the lock.
func TestRecover(t *testing.T) {
	for name, c := range map[string]struct {
		bring func(h *fixture) // a run "a" to where it is found
		want  string           // what is started then
	}{
		"over":            {func(h *fixture) { h.executed("a", "refresh", ""); h.ended["a-1"] = "Failed" }, ""},
		"driven":          {func(h *fixture) { h.ask("a", "deploy", "v1"); h.planned("a", 1) }, ""},
		"asked, and dead": {func(h *fixture) { h.ask("a", "deploy", "v1"); h.ended["a-1"] = "Unavailable" }, "a-2"},
		"going, and dead": {func(h *fixture) { h.ask("a", "deploy", "v1"); h.planned("a", 1); h.ended["a-1"] = "ABORTED" }, "a-2"},
		"raised only":     {func(h *fixture) { h.ask("a", "deploy", "v1"); h.started = nil }, "a-1"},
		"never raised":    {func(h *fixture) { h.store.raise = lost; h.refused("a", "deploy"); h.store.raise = nil }, "a-1"},
		"parked":          {func(h *fixture) { h.isWaiting("a"); h.ended["a-1"] = "" }, ""},
		"parked with news": {func(h *fixture) {
			h.isWaiting("a")
			h.store.raise = lost
			h.refused("c", "continue")
			h.store.raise = nil
		}, "a-2"},
		"queued": {func(h *fixture) { h.queued("z", "a"); h.ended["a-1"] = "" }, ""},
		"queued, and its turn": {func(h *fixture) {
			h.queued("z", "a")
			h.ended["a-1"] = ""
			h.store.raise = lost
			h.refusesEnd("z")
			h.store.raise = nil
		}, "a-2"},
	} {
		for how, recover := range map[string]func(h *fixture) error{
			"sweep": func(h *fixture) error { return h.Sweep(h.Context()) },
			"event": func(h *fixture) error {
				return h.Recover(h.Context(), engine.ExecutionInput{Run: "a", Epoch: h.stored("a").Epoch})
			},
		} {
			t.Run(name+" by "+how, func(t *testing.T) {
				h := newFixture(t)
				h.desire("v1", "vpc db<vpc")
				c.bring(h)
				before := len(h.started)
				h.must(recover(h))
				if got := strings.Join(h.started[before:], " "); got != c.want {
					t.Errorf("started %s, want %s", got, c.want)
				}
			})
		}
	}
}

// lost is a write that is not made.
func lost(func() error) error { return fault.New(fault.Unavailable, "no answer") }

// refused asks for something, about run a if that is what it steers, and is not
// found to the end.
func (h *fixture) refused(id, operation string) {
	h.Helper()
	q := run.Request{ID: id, Project: shop, Operation: operation, Source: run.Source{Version: "v1"}, Of: "a"}
	if err := h.Start(h.Context(), q); !fault.Is(err, fault.Unavailable) {
		h.Fatalf("got %v", err)
	}
}

// waiting brings a run to where it waits for a person.
func (h *fixture) isWaiting(id string) {
	h.ask(id, "deploy", "v1")
	h.ask("p", "pause", id)
	h.polled(h.planned(id, 1))
}

// queued brings a run to where it waits for another.
func (h *fixture) queued(owner, id string) {
	h.ask(owner, "deploy", "v1")
	h.planned(owner, 1)
	h.ask(id, "deploy", "v1")
	h.planned(id, 1)
}

// refusesEnd ends a run of which the end is written, and no more.
func (h *fixture) refusesEnd(id string) {
	h.Helper()
	h.ask("x", "cancel", id)
	if err := h.Poll(h.Context(), engine.PollInput{Loop: engine.LoopState{Run: id, Epoch: 1, Wait: 60}, Token: "token", Entered: h.backend.Now()}); !fault.Is(err, fault.Unavailable) {
		h.Fatalf("got %v", err)
	}
	if s := h.stored(id).State; s != run.StateCancelled {
		h.Fatalf("%s is %s", id, s)
	}
}

// The end of an execution of an older epoch restarts nothing, and that of a run that
// has expired does not either.
func TestRecoverLate(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "a"}, Epoch: 1}))
	h.ended["a-1"] = "TIMED_OUT"
	h.must(h.Recover(t.Context(), engine.ExecutionInput{Run: "a", Epoch: 1}))
	h.must(h.Recover(t.Context(), engine.ExecutionInput{Run: "none", Epoch: 1}))
	if !slices.Equal(h.started, []string{"a-1"}) {
		t.Errorf("started %v", h.started)
	}
}

// A run that fails after too many restarts says why, and frees the lock. A step that
// finishes in between resets the count.
func TestGivenUp(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc db<vpc web<db")
	h.ask("a", "deploy", "v1")
	loop := h.planned("a", 1)
	h.startReady(loop)
	fail := func() {
		epoch := h.stored("a").Epoch
		h.ended[fmt.Sprint("a-", epoch)] = "FAILED: Denied"
		h.must(h.Recover(t.Context(), engine.ExecutionInput{Run: "a", Epoch: epoch}))
		at := h.stored("a")
		if once := at.Epoch > epoch; once != (at.Restarts == 1 && once) {
			t.Errorf("restarted for the %dth time at once", at.Restarts)
		}
		if at.Epoch > epoch || at.State.Over() {
			return
		}
		h.pass(5*time.Minute<<(at.Restarts-1) - time.Second)
		h.must(h.Sweep(t.Context()))
		if h.stored("a").Epoch > epoch {
			t.Errorf("restarted for the %dth time too early", at.Restarts+1)
		}
		h.pass(2 * time.Second)
		h.must(h.Sweep(t.Context()))
	}
	for range 5 {
		fail()
	}
	h.pass(30e9)
	loop = h.polled(engine.LoopState{Run: "a", Epoch: h.stored("a").Epoch, Wait: 60})
	if r := h.stored("a"); r.Step("vpc/create").Status != run.Done {
		t.Fatalf("no step has finished: %+v", loop)
	}
	h.startReady(loop)
	h.ask("b", "destroy", "")
	h.planned("b", 1)
	for range 5 {
		fail()
		if s := h.stored("a").State; s != run.StateRunning {
			t.Fatalf("it is %s", s)
		}
	}
	fail()
	r := h.stored("a")
	if r.State != run.StateFailed || len(r.Messages) != 1 || !strings.Contains(r.Messages[0], "engine error: 6 executions in a row") || !strings.Contains(r.Messages[0], "FAILED: Denied") {
		t.Errorf("it is %s: %q", r.State, r.Messages)
	}
	if db, web := r.Step("db/create"), r.Step("web/create"); db.Status != run.Failed || web.Status != run.Skipped {
		t.Errorf("db is %s, web is %s", db.Status, web.Status)
	}
	if h.waits() != "b" || !slices.Contains(h.started, "b-2") {
		t.Errorf("the queue has %s, started %v", h.waits(), h.started)
	}
}

// A person can free the lock of any run, and is named in the messages.
func TestUnlock(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.queued("a", "b")
	h.startReady(engine.LoopState{Run: "a", Epoch: 1, Ready: []int{0}})
	q := run.Request{ID: "u", Project: shop, Operation: "unlock", Of: "a", Who: "ann", Options: run.Options{Reason: "its account is closed"}}
	h.must(h.Start(t.Context(), q))
	h.must(h.Start(t.Context(), q))
	r := h.stored("a")
	if r.State != run.StateCancelled || r.Epoch != 2 || !slices.Equal(r.Messages, []string{"unlocked by ann: its account is closed"}) {
		t.Errorf("it is %s, in epoch %d: %q", r.State, r.Epoch, r.Messages)
	}
	if h.waits() != "b" || !slices.Contains(h.started, "b-2") {
		t.Errorf("the queue has %s, started %v", h.waits(), h.started)
	}
	if _, err := h.Store.Run(t.Context(), "u"); !fault.Is(err, fault.Missing) {
		t.Errorf("a run is made of it: %v", err)
	}
	h.ask("c", "destroy", "")
	h.planned("c", 1)
	q.ID, q.Of = "v", "c"
	h.must(h.Start(t.Context(), q))
	if loop := h.planned("v", 1); loop.State != run.StateRefused || !strings.Contains(h.stored("v").Messages[0], "run c does not hold the lock") {
		t.Errorf("it is %s: %q", loop.State, h.stored("v").Messages)
	}
}
