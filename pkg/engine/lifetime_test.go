package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// ephemeral deploys an environment that lives for an hour.
func (h *fixture) ephemeral() {
	h.Helper()
	h.setVersion("v1", "vpc")
	p := h.projects["v1"]
	p.TTL, p.Pattern = project.TTL(time.Hour), "def*"
	h.projects["v1"] = p
	h.requestAndExecute("deploy", "deploy", "v1")
}

// lifetime returns the stored lifetime of the environment.
func (h *fixture) lifetime() project.Lifetime {
	h.Helper()
	l, err := h.Store.Lifetime(h.Context(), shop)
	h.must(err)
	return l
}

// extend requests that the environment lives longer, and returns the run.
func (h *fixture) extend(id string, d time.Duration) run.Run {
	h.Helper()
	h.must(h.Start(h.Context(), run.Request{ID: id, Project: shop, Operation: "extend", Who: "ann", Options: run.Options{For: project.TTL(d)}}))
	_, err := h.Plan(h.Context(), engine.ExecutionInput{Run: id, Epoch: 1})
	h.must(err)
	return h.stored(id)
}

// open returns the only run that has not ended.
func (h *fixture) open() run.Run {
	h.Helper()
	ids, err := h.Store.Open(h.Context())
	h.must(err)
	if len(ids) != 1 {
		h.Fatalf("%v have not ended", ids)
	}
	return h.stored(ids[0])
}

// An extension that comes between the check under the lock and the first step of the destroy is refused, so that no extension succeeds of an environment which is
// destroyed.
func TestExtendWhileDestroyIsPlanned(t *testing.T) {
	h := newFixture(t)
	h.ephemeral()
	h.passTime(2 * time.Hour)
	h.must(h.Sweep(t.Context()))
	destroy := h.open()
	h.Store = &hookedRecords{Store: h.store, before: func() {
		if r := h.extend("late", 2*time.Hour); r.State != run.StateRefused {
			t.Errorf("the extension is %s: %v", r.State, r.Messages)
		}
	}}
	if r := h.planAndExecute(destroy.ID); r.State != run.StateSucceeded {
		t.Errorf("the destroy is %s: %v", r.State, r.Messages)
	}
	if l := h.lifetime(); l.Known() {
		t.Errorf("it lives until %s", l.Expires)
	}
}

// A sweep that crashes after it has requested a destroy, or the next sweep, requests no second one.
func TestSweepRequestsOnce(t *testing.T) {
	h := newFixture(t)
	h.ephemeral()
	h.passTime(2 * time.Hour)
	h.Store = &failingLifetimes{Store: h.store, err: fault.New(fault.Unavailable, "the function crashes")}
	if err := h.Sweep(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the sweep ends with %v", err)
	}
	destroy := h.open()
	h.Store = h.store
	for range 3 {
		h.must(h.Sweep(t.Context()))
		if r := h.open(); r.ID != destroy.ID || r.Who != engine.Expiry || !r.Expiry.Equal(h.lifetime().Expires) {
			t.Errorf("requested is %+v", r.Request)
		}
		h.passTime(2 * time.Hour) // the next attempt would be due
	}
	if l := h.lifetime(); l.Attempts != 1 || l.Attempt != destroy.ID {
		t.Errorf("%+v", l)
	}
}

// A lifetime that changes while a run ends is read again: neither the end of the run nor the change is lost.
func TestLifetimeChangesAtEnd(t *testing.T) {
	h := newFixture(t)
	h.ephemeral()
	h.request("again", "deploy", "v1")
	until := h.backend.Now().Add(9 * time.Hour)
	h.store.end = func(end func() error) error {
		h.store.end = nil
		if r := h.extend("extend", 9*time.Hour); r.State != run.StateSucceeded {
			t.Errorf("the extension is %s: %v", r.State, r.Messages)
		}
		return end()
	}
	if r := h.planAndExecute("again"); r.State != run.StateSucceeded {
		t.Errorf("the deploy is %s: %v", r.State, r.Messages)
	}
	if l := h.lifetime(); l.Run != "extend" || l.Expires.Before(until.Truncate(time.Second)) {
		t.Errorf("it lives until %s, since %s", l.Expires, l.Run)
	}
}

// A lifetime that cannot be written does not stop the sweep of the others.
func TestSweepOfOtherLifetimes(t *testing.T) {
	h := newFixture(t)
	for _, id := range []string{"a@x", "b@x", "c@x"} {
		h.must(h.Store.SetLifetime(t.Context(), project.Lifetime{Project: id}.Until(h.Now().Add(-time.Hour), "deploy", "ann", h.Now().Add(-2*time.Hour))))
	}
	h.Store = &failingLifetimes{Store: h.store, err: fault.New(fault.Unavailable, "no answer"), of: "b@x"}
	if err := h.Sweep(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the sweep ends with %v", err)
	}
	for _, id := range []string{"a@x", "c@x"} {
		if l, err := h.store.Lifetime(t.Context(), id); err != nil || l.Attempts != 1 {
			t.Errorf("%+v, %v", l, err)
		}
	}
}

// A hookedRecords calls before once, before the records are read.
type hookedRecords struct {
	engine.Store
	before func()
}

func (s *hookedRecords) Records(ctx context.Context, id string) (map[string]plan.Record, error) {
	if do := s.before; do != nil {
		s.before = nil
		do()
	}
	return s.Store.Records(ctx, id)
}

// failingLifetimes cannot write the lifetime of an environment, or of any.
type failingLifetimes struct {
	engine.Store
	err error
	of  string
}

func (s *failingLifetimes) SetLifetime(ctx context.Context, l project.Lifetime) error {
	if s.of == "" || s.of == l.Project {
		return s.err
	}
	return s.Store.SetLifetime(ctx, l)
}

var _ engine.Lifetimes = (*sim.Store)(nil)
