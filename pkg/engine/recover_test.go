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
		prepare func(h *fixture) // run a
		want    string           // the execution that is started
	}{
		"ended":                      {func(h *fixture) { h.requestAndExecute("a", "refresh", ""); h.ended["a-1"] = "Failed" }, ""},
		"executed":                   {func(h *fixture) { h.request("a", "deploy", "v1"); h.planned("a", 1) }, ""},
		"pending, execution failed":  {func(h *fixture) { h.request("a", "deploy", "v1"); h.ended["a-1"] = "Unavailable" }, "a-2"},
		"running, execution stopped": {func(h *fixture) { h.request("a", "deploy", "v1"); h.planned("a", 1); h.ended["a-1"] = "ABORTED" }, "a-2"},
		"epoch raised, not started":  {func(h *fixture) { h.request("a", "deploy", "v1"); h.started = nil }, "a-1"},
		"epoch never raised":         {func(h *fixture) { h.store.raise = failedWrite; h.requestFails("a", "deploy"); h.store.raise = nil }, "a-1"},
		"waiting":                    {func(h *fixture) { h.bringToWaiting("a"); h.ended["a-1"] = "" }, ""},
		"waiting, newer generation": {func(h *fixture) {
			h.bringToWaiting("a")
			h.store.raise = failedWrite
			h.requestFails("c", "continue")
			h.store.raise = nil
		}, "a-2"},
		"queued": {func(h *fixture) { h.bringToQueue("z", "a"); h.ended["a-1"] = "" }, ""},
		"queued, owns the lock": {func(h *fixture) {
			h.bringToQueue("z", "a")
			h.ended["a-1"] = ""
			h.store.raise = failedWrite
			h.endNotPassedOn("z")
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
				h.setVersion("v1", "vpc db<vpc")
				c.prepare(h)
				before := len(h.started)
				h.must(recover(h))
				if got := strings.Join(h.started[before:], " "); got != c.want {
					t.Errorf("started %s, want %s", got, c.want)
				}
			})
		}
	}
}

// failedWrite fails a write.
func failedWrite(func() error) error { return fault.New(fault.Unavailable, "no answer") }

// requestFails makes a request that gets no answer from the store. If the operation is
// a command, it is given to run a.
func (h *fixture) requestFails(id, operation string) {
	h.Helper()
	q := run.Request{ID: id, Project: shop, Operation: operation, Source: run.Source{Version: "v1"}, Of: "a"}
	if err := h.Start(h.Context(), q); !fault.Is(err, fault.Unavailable) {
		h.Fatalf("got %v", err)
	}
}

// bringToWaiting requests a run and pauses it.
func (h *fixture) bringToWaiting(id string) {
	h.request(id, "deploy", "v1")
	h.request("p", "pause", id)
	h.polled(h.planned(id, 1))
}

// bringToQueue requests two runs: the first owns the lock, the second is queued.
func (h *fixture) bringToQueue(owner, id string) {
	h.request(owner, "deploy", "v1")
	h.planned(owner, 1)
	h.request(id, "deploy", "v1")
	h.planned(id, 1)
}

// endNotPassedOn cancels a run: its end is written, and then the function fails before it
// starts the next owner of the lock.
func (h *fixture) endNotPassedOn(id string) {
	h.Helper()
	h.request("x", "cancel", id)
	if err := h.Poll(h.Context(), engine.PollInput{Loop: engine.LoopState{Run: id, Epoch: 1, Wait: 60}, Token: "token", Entered: h.backend.Now()}); !fault.Is(err, fault.Unavailable) {
		h.Fatalf("got %v", err)
	}
	if s := h.stored(id).State; s != run.StateCancelled {
		h.Fatalf("run %s is %s", id, s)
	}
}

// The end of an execution restarts nothing if its epoch is an old one, or its run has
// expired.
func TestRecoverLate(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	h.must(h.Store.RaiseEpoch(t.Context(), run.Run{Request: run.Request{ID: "a"}, Epoch: 1}))
	h.ended["a-1"] = "TIMED_OUT"
	h.must(h.Recover(t.Context(), engine.ExecutionInput{Run: "a", Epoch: 1}))
	h.must(h.Recover(t.Context(), engine.ExecutionInput{Run: "none", Epoch: 1}))
	if !slices.Equal(h.started, []string{"a-1"}) {
		t.Errorf("started %v", h.started)
	}
}

// A run whose executions fail too often ends as failed: its message says why, and the
// next run gets the lock. A step that finishes in between resets the count.
func TestTooManyRestarts(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc db<vpc web<db")
	h.begin("a", "v1")
	fail := func() {
		epoch := h.stored("a").Epoch
		h.ended[fmt.Sprint("a-", epoch)] = "FAILED: Denied"
		h.must(h.Recover(t.Context(), engine.ExecutionInput{Run: "a", Epoch: epoch}))
		at := h.stored("a")
		if once := at.Epoch > epoch; once != (at.Restarts == 1 && once) {
			t.Errorf("restart %d did not wait", at.Restarts)
		}
		if at.Epoch > epoch || at.State.Over() {
			return
		}
		h.passTime(5*time.Minute<<(at.Restarts-1) - time.Second)
		h.must(h.Sweep(t.Context()))
		if h.stored("a").Epoch > epoch {
			t.Errorf("restart %d came too early", at.Restarts+1)
		}
		h.passTime(2 * time.Second)
		h.must(h.Sweep(t.Context()))
	}
	for range 5 {
		fail()
	}
	h.passTime(30e9)
	loop := h.polled(engine.LoopState{Run: "a", Epoch: h.stored("a").Epoch, Wait: 60})
	if r := h.stored("a"); r.Step("vpc/create").Status != run.Done {
		t.Fatalf("no step has finished: %+v", loop)
	}
	h.request("b", "destroy", "")
	h.planned("b", 1)
	for range 5 {
		fail()
		if s := h.stored("a").State; s != run.StateRunning {
			t.Fatalf("the run is %s", s)
		}
	}
	fail()
	r := h.stored("a")
	if r.State != run.StateFailed || len(r.Messages) != 1 || !strings.Contains(r.Messages[0], "engine error: 6 executions in a row") || !strings.Contains(r.Messages[0], "FAILED: Denied") {
		t.Errorf("the run is %s: %q", r.State, r.Messages)
	}
	if db, web := r.Step("db/create"), r.Step("web/create"); db.Status != run.Failed || web.Status != run.Skipped {
		t.Errorf("db is %s, web is %s", db.Status, web.Status)
	}
	if h.queue() != "b" || !slices.Contains(h.started, "b-2") {
		t.Errorf("the queue has %s, started %v", h.queue(), h.started)
	}
}

// An unlock ends the run that owns the lock. Its message names the user and the reason.
func TestUnlock(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.bringToQueue("a", "b")
	h.polled(engine.LoopState{Run: "a", Epoch: 1, Wait: 60})
	q := run.Request{ID: "u", Project: shop, Operation: "unlock", Of: "a", Who: "ann", Options: run.Options{Reason: "its account is closed"}}
	h.must(h.Start(t.Context(), q))
	h.must(h.Start(t.Context(), q))
	r := h.stored("a")
	if r.State != run.StateCancelled || r.Epoch != 2 || !slices.Equal(r.Messages, []string{"unlocked by ann: its account is closed"}) {
		t.Errorf("the run is %s, in epoch %d: %q", r.State, r.Epoch, r.Messages)
	}
	if h.queue() != "b" || !slices.Contains(h.started, "b-2") {
		t.Errorf("the queue has %s, started %v", h.queue(), h.started)
	}
	if _, err := h.Store.Run(t.Context(), "u"); !fault.Is(err, fault.Missing) {
		t.Errorf("the command made a run: %v", err)
	}
	h.request("c", "destroy", "")
	h.planned("c", 1)
	q.ID, q.Of = "v", "c"
	h.must(h.Start(t.Context(), q))
	if loop := h.planned("v", 1); loop.State != run.StateRefused || !strings.Contains(h.stored("v").Messages[0], "run c does not hold the lock") {
		t.Errorf("unlock of a queued run is %s: %q", loop.State, h.stored("v").Messages)
	}
}

// An unlock that finds no run, and then that the run has been created and has the lock,
// ends its steps, too.
func TestUnlockOfRunThatIsCreatedMeanwhile(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.store.beforeLock = func() { h.bringToQueue("a", "b") }
	h.must(h.Command(t.Context(), run.Request{ID: "u", Project: shop, Operation: "unlock", Of: "a", Who: "ann", Options: run.Options{Reason: "it is stuck"}}))
	r, err := h.Store.Load(t.Context(), "a")
	h.must(err)
	if r.State != run.StateCancelled || !slices.Equal(r.Messages, []string{"unlocked by ann: it is stuck"}) {
		t.Errorf("the run is %s: %q", r.State, r.Messages)
	}
	if len(r.Steps) != 1 || r.Steps[0].Status != run.Skipped {
		t.Errorf("its steps are %+v", r.Steps)
	}
}

// An unlock releases the lock of a run that cannot be read, says what could not be
// read, and lets the next run start.
func TestUnlockOfUnreadableRun(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.bringToQueue("a", "b")
	h.backend.Store.Lose("a")
	q := run.Request{ID: "u", Project: shop, Operation: "unlock", Of: "a", Who: "ann", Options: run.Options{Reason: "its item was deleted"}}
	h.must(h.Start(t.Context(), q))
	h.must(h.Start(t.Context(), q))
	if h.queue() != "b" || !slices.Contains(h.started, "b-2") {
		t.Errorf("the queue has %s, started %v", h.queue(), h.started)
	}
	if _, err := h.Store.Run(t.Context(), "u"); !fault.Is(err, fault.Missing) {
		t.Errorf("the command made a run: %v", err)
	}
	if !slices.Contains(h.notified, run.StateCancelled) {
		t.Errorf("notified: %v", h.notified)
	}
	q.ID, q.Of = "v", "none"
	h.must(h.Start(t.Context(), q))
	if loop := h.planned("v", 1); loop.State != run.StateRefused || !strings.Contains(h.stored("v").Messages[0], "there is no run none; and run none does not hold the lock on shop@default") {
		t.Errorf("unlock of a run that does not own the lock is %s: %q", loop.State, h.stored("v").Messages)
	}
}
