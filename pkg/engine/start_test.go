package engine_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

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
			t.Errorf("%q makes the same run", words)
		}
	}
}

// A request that is delivered twice makes one run, with one execution for each
// epoch.
func TestStartTwice(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	q := h.ask("a", "deploy", "v1")
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

// If the function that raised the epoch crashes, or gets no answer, the run gets its
// execution all the same.
func TestStartAfterALoss(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.down = fault.New(fault.Unavailable, "no answer")
	q := run.Request{ID: "a", Project: shop, Operation: "deploy", Source: run.Source{Version: "v1"}}
	if err := h.Start(t.Context(), q); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	h.down = nil
	h.must(h.Start(t.Context(), q))
	if !slices.Equal(h.started, []string{"a-1"}) {
		t.Errorf("started %v", h.started)
	}
	h.store.raise = twice
	h.ask("b", "deploy", "v1")
	if !slices.Contains(h.started, "b-1") {
		t.Errorf("b has no execution: started %v", h.started)
	}
}

// A command is obeyed by anyone who polls next; what is waiting gets a new execution.
func TestCommand(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc db<vpc")
	h.ask("a", "deploy", "v1")
	h.ask("p", "pause", "a")
	loop := h.planned("a", 1)
	if loop.State != run.StatePoll {
		t.Fatalf("paused before it began, it is %s", loop.State)
	}
	if got := h.polled(loop); got.State != run.StateWaiting || h.stored("a").State != run.StateWaiting {
		t.Fatalf("paused, it is %s", got.State)
	}
	h.store.raise = twice
	h.ask("c", "continue", "a")
	h.store.raise = nil
	if r := h.stored("a"); r.Epoch != 2 || r.State != run.StateRunning || !slices.Contains(h.started, "a-2") {
		t.Errorf("continued, it has epoch %d, started %v", r.Epoch, h.started)
	}
	answers := len(h.answers)
	h.registered("a", 2, "waits", 10)
	h.ask("x", "cancel", "a")
	if len(h.answers) != answers+1 || h.answers[answers].State != run.StatePoll || h.answers[answers].Epoch != 2 {
		t.Errorf("no execution is woken: %v", h.answers)
	}
	if got := h.polled(engine.LoopState{Run: "a", Epoch: 2, Wait: 60}); got.State != run.StateCancelled {
		t.Errorf("cancelled, it is %s", got.State)
	}
}

// What cannot be requested is a run that is refused and says why.
func TestCommandRefused(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.executed("a", "deploy", "v1")
	h.must(h.Start(t.Context(), run.Request{ID: "z", Project: "other@default", Operation: "cancel", Of: "a"}))
	for id, q := range map[string]run.Request{
		"b": {Operation: "pause", Of: "a"}, "c": {Operation: "cancel", Of: "none"}, "z": {},
	} {
		if q.Operation != "" {
			h.ask(id, q.Operation, q.Of)
		}
		if loop := h.planned(id, 1); loop.State != run.StateRefused || len(h.stored(id).Messages) != 1 {
			t.Errorf("%s is %s: %q", id, loop.State, h.stored(id).Messages)
		}
	}
	if got := h.stored("z").Messages[0]; !strings.Contains(got, "run a is of shop@default, not of other@default") {
		t.Errorf("got %s", got)
	}
}

func TestRetryRefused(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.desire("v2", "vpc")
	h.executed("old", "deploy", "v1")
	h.executed("preview", "plan", "v1")
	h.executed("seen", "refresh", "")
	h.executed("new", "deploy", "v2")
	h.desire("v3", "db")
	h.ask("late", "deploy", "v3")
	for _, c := range []struct {
		of, want string
		force    bool
		project  string
	}{
		{of: "none", want: "there is no run none"},
		{of: "old", project: "other@default", want: "run old is of shop@default, not of other@default"},
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
		if c.want == "" { // its lock is wanted
			h.must(h.Start(t.Context(), run.Request{ID: "stop-" + id, Project: shop, Operation: "cancel", Of: id}))
			for loop.Ready = nil; !loop.State.Over(); loop = h.polled(loop) {
				h.pass(60_000_000_000)
			}
		}
	}
}

// Who steers a run and may not is reported so, and no run is made of that.
func TestCommandOnARun(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.ask("a", "deploy", "v1")
	pause := run.Request{ID: "p", Project: shop, Operation: "pause", Of: "a", Who: "ann"}
	h.must(h.Engine.Command(t.Context(), pause))
	if r := h.stored("a"); r.Command != run.Pause || r.Generation != 1 {
		t.Errorf("%s is wished, with news %d", r.Command, r.Generation)
	}
	h.must(h.Engine.Command(t.Context(), run.Request{ID: "c", Project: shop, Operation: "cancel", Of: "a"}))
	h.must(h.Engine.Command(t.Context(), pause)) // it was obeyed before
	for kind, q := range map[fault.Kind]run.Request{
		fault.Refused: {ID: "x", Project: shop, Operation: "continue", Of: "a"},
		fault.Missing: {ID: "x", Project: shop, Operation: "pause", Of: "b"},
		fault.Invalid: {ID: "x", Project: shop, Operation: "deploy", Of: "a"},
	} {
		if err := h.Engine.Command(t.Context(), q); !fault.Is(err, kind) {
			t.Errorf("%s: %v", q.Operation, err)
		}
		if _, known := run.ControlNamed(q.Operation); known != (kind != fault.Invalid) {
			t.Errorf("%s: it steers, or does not", q.Operation)
		}
	}
	if runs, err := h.Store.List(t.Context(), shop, 0); err != nil || len(runs) != 1 || h.stored("a").Command != run.Cancel {
		t.Errorf("there are %d runs (%v)", len(runs), err)
	}
}
