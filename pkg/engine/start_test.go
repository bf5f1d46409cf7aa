package engine_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

func TestRunID(t *testing.T) {
	id := engine.RunID("bucket", "projects/shop/prod.zip", "v1")
	if !regexp.MustCompile(`^[a-z2-7]{20}$`).MatchString(id) || id != engine.RunID("bucket", "projects/shop/prod.zip", "v1") {
		t.Errorf("got %s", id)
	}
	for _, words := range [][]string{{"bucket", "projects/shop/prod.zip", "v2"}, {"bucket", "projects/shop/prod.zip"}, {"bucketprojects/shop/prod.zip", "v1"}, nil} {
		if engine.RunID(words...) == id {
			t.Errorf("%q gives the same ID", words)
		}
	}
}

// A request that is delivered twice makes one run, with one execution for each
// epoch.
func TestStartTwice(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	q := h.request("a", "deploy", "v1")
	h.must(h.Start(t.Context(), q))
	if !slices.Equal(h.started, []string{"a-1", "a-1"}) {
		t.Errorf("started %v", h.started)
	}
	h.planned("a", 1)
	h.must(h.Start(t.Context(), q))
	if runs, err := h.Store.List(t.Context(), shop, 0); err != nil || len(runs) != 1 || len(h.started) != 2 || h.stored("a").Epoch != 1 {
		t.Errorf("there are %d runs (%v), started %v", len(runs), err, h.started)
	}
}

// A repeated request starts the execution, if the function that raised the epoch could
// not start it. A run is started too if the answer to raising the epoch was lost.
func TestStartAfterFault(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.machineErr = fault.New(fault.Unavailable, "no answer")
	q := run.Request{ID: "a", Project: shop, Operation: "deploy", Source: run.Source{Version: "v1"}}
	if err := h.Start(t.Context(), q); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	h.machineErr = nil
	h.must(h.Start(t.Context(), q))
	if !slices.Equal(h.started, []string{"a-1"}) {
		t.Errorf("started %v", h.started)
	}
	h.store.raise = repeatedWrite
	h.request("b", "deploy", "v1")
	if !slices.Contains(h.started, "b-1") {
		t.Errorf("run b has no execution: started %v", h.started)
	}
}

// The next poll obeys a command. A waiting run gets a new execution, and the token of a
// running one is answered.
func TestCommand(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc db<vpc")
	h.request("a", "deploy", "v1")
	h.request("p", "pause", "a")
	loop := h.planned("a", 1)
	if loop.State != run.StatePoll {
		t.Fatalf("paused before its plan, the run is %s", loop.State)
	}
	if got := h.polled(loop); got.State != run.StateWaiting || h.stored("a").State != run.StateWaiting {
		t.Fatalf("paused, the run is %s", got.State)
	}
	h.store.raise = repeatedWrite
	h.request("c", "continue", "a")
	h.store.raise = nil
	if r := h.stored("a"); r.Epoch != 2 || r.State != run.StateRunning || !slices.Contains(h.started, "a-2") {
		t.Errorf("continued, the run is %s in epoch %d, started %v", r.State, r.Epoch, h.started)
	}
	answers := len(h.answers)
	h.registerToken("a", 2, "waits", 10)
	h.request("x", "cancel", "a")
	if len(h.answers) != answers+1 || h.answers[answers].State != run.StatePoll || h.answers[answers].Epoch != 2 {
		t.Errorf("the cancel wakes no execution: %v", h.answers)
	}
	if got := h.polled(engine.LoopState{Run: "a", Epoch: 2, Wait: 60}); got.State != run.StateCancelled {
		t.Errorf("cancelled, the run is %s", got.State)
	}
}

// A refused command, requested by an event, is a refused run whose message says why. It says the same of a run of
// another project as of one that does not exist.
func TestRefusedCommandBecomesRun(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	h.must(h.Start(t.Context(), run.Request{ID: "z", Project: "other@default", Operation: "cancel", Of: "a"}))
	for id, q := range map[string]run.Request{
		"b": {Operation: "pause", Of: "a"}, "c": {Operation: "cancel", Of: "none"}, "z": {},
	} {
		if q.Operation != "" {
			h.request(id, q.Operation, q.Of)
		}
		if loop := h.planned(id, 1); loop.State != run.StateRefused || len(h.stored(id).Messages) != 1 {
			t.Errorf("run %s is %s: %q", id, loop.State, h.stored(id).Messages)
		}
	}
	if got, unknown := h.stored("z").Messages[0], h.stored("c").Messages[0]; got != strings.ReplaceAll(unknown, "none", "a") {
		t.Errorf("the run of another project is refused with %q, and one that does not exist with %q", got, unknown)
	}
}

// A retry is refused if its run cannot be repeated, has not ended, or is older than what
// was deployed since.
func TestRetryRefused(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setVersion("v2", "vpc")
	h.requestAndExecute("old", "deploy", "v1")
	h.requestAndExecute("preview", "plan", "v1")
	h.requestAndExecute("seen", "refresh", "")
	h.requestAndExecute("new", "deploy", "v2")
	h.setVersion("v3", "db")
	h.request("late", "deploy", "v3")
	for _, c := range []struct {
		of, want string
		force    bool
		project  string
	}{
		{of: "none", want: "there is no run none"},
		{of: "old", project: "other@default", want: "there is no run old"},
		{of: "late", want: "run late has not ended (pending): wait until it ends, or cancel it"},
		{of: "preview", want: "run preview was a plan, which cannot be retried: request it again"},
		{of: "old", want: "run old is not retried: run new has deployed something newer since: deploy that again, or retry with --force"},
		{of: "seen"},
		{of: "new"},
		{of: "old", force: true},
	} {
		id := "retry-" + c.of + c.project + map[bool]string{true: "!"}[c.force]
		q := run.Request{ID: id, Project: shop, Operation: "retry", Of: c.of, Options: run.Options{Force: c.force}}
		if c.project != "" {
			q.Project = c.project
		}
		h.must(h.Start(t.Context(), q))
		loop := h.planned(id, 1)
		if got := strings.Join(h.stored(id).Messages, "\n"); got != c.want || (loop.State == run.StateRefused) != (c.want != "") {
			t.Errorf("retry of %s is %s: %s", c.of, loop.State, got)
		}
		if c.want == "" { // free the lock for the next case
			h.must(h.Start(t.Context(), run.Request{ID: "stop-" + id, Project: shop, Operation: "cancel", Of: id}))
			for !loop.State.Over() {
				loop = h.polled(loop)
			}
		}
	}
}

// Engine.Command returns why a command is refused, and makes no run of it.
func TestRefusedCommandIsAnError(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	pause := run.Request{ID: "p", Project: shop, Operation: "pause", Of: "a", Who: "ann"}
	h.must(h.Engine.Command(t.Context(), pause))
	if r := h.stored("a"); r.Command != run.Pause || r.Generation != 1 {
		t.Errorf("the command is %s, the generation %d", r.Command, r.Generation)
	}
	h.must(h.Engine.Command(t.Context(), run.Request{ID: "c", Project: shop, Operation: "cancel", Of: "a"}))
	h.must(h.Engine.Command(t.Context(), pause)) // it was given before
	for kind, q := range map[fault.Kind]run.Request{
		fault.Refused: {ID: "x", Project: shop, Operation: "continue", Of: "a"},
		fault.Missing: {ID: "x", Project: shop, Operation: "pause", Of: "b"},
		fault.Invalid: {ID: "x", Project: shop, Operation: "deploy", Of: "a"},
	} {
		if err := h.Engine.Command(t.Context(), q); !fault.Is(err, kind) {
			t.Errorf("%s: %v", q.Operation, err)
		}
		if _, known := run.ControlNamed(q.Operation); known != (kind != fault.Invalid) {
			t.Errorf("%s: known as a command: %t", q.Operation, known)
		}
	}
	if runs, err := h.Store.List(t.Context(), shop, 0); err != nil || len(runs) != 1 || h.stored("a").Command != run.Cancel {
		t.Errorf("there are %d runs (%v), and the command is %s", len(runs), err, h.stored("a").Command)
	}
}

// A user of one project learns nothing of another by a command for its run: each is refused in the words for a run that does not exist.
func TestCommandToTheRunOfAnotherProject(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	for _, c := range run.Controls() {
		refusal := func(of string) string {
			err := h.Command(t.Context(), run.Request{ID: "x" + of, Project: "other@default", Operation: c.Name, Of: of, Options: run.Options{Reason: "test"}})
			if err == nil {
				t.Fatalf("%s to run %s is carried out", c.Name, of)
			}
			return string(fault.KindOf(err)) + strings.ReplaceAll(err.Error(), "run "+of, "run ID")
		}
		if got, unknown := refusal("a"), refusal("none"); got != unknown {
			t.Errorf("%s is refused with %q, and for an unknown run with %q", c.Name, got, unknown)
		}
	}
	if got := h.stored("a"); got.Command != run.Continue {
		t.Errorf("the run has the command %s", got.Command)
	}
}

// Each run has a key of its own, also a rollback that follows one, so nobody can compute the
// token of a step that has not started: a stack that somebody else creates is never taken for that of a step.
func TestRunsHaveKeys(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	p := h.projects["v1"]
	p.Rollback = true
	h.projects["v1"] = p
	h.backend.Cloud.Fail["shop-vpc/create"] = 1
	failed := h.requestAndExecute("a", "deploy", "v1")
	keys := make(map[string]bool)
	for _, id := range []string{"a", engine.RollbackOf("a")} {
		keys[h.stored(id).TokenKey] = true
	}
	if failed.State != run.StateFailed || keys[""] || len(keys) != 2 {
		t.Errorf("the run is %s, and the keys are %v", failed.State, keys)
	}
	if got := h.recorded("vpc").Token; got != action.Token("a", failed.TokenKey, 0, 1) || got == action.Token("a", "", 0, 1) {
		t.Errorf("the token is %s", got)
	}
}
