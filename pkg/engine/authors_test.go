package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

const (
	bob   = "arn:aws:iam::111122223333:role/bob"
	alice = "arn:aws:iam::111122223333:role/alice"
)

// by requests an operation as a person, and returns the run when it has ended, or waits.
func (h *fixture) by(who, id, operation, version string) run.Run {
	h.Helper()
	q := run.Request{ID: id, Project: shop, Operation: operation, Who: who, Subject: who}
	if operation == "retry" {
		q.Of = version
	} else {
		q.Source = run.Source{Version: version}
	}
	h.must(h.Start(h.Context(), q))
	h.passTime(time.Second)
	return h.planAndExecute(id)
}

// Nobody destroys an environment alone by a schedule that he has deployed: not if others deploy the same schedule after him,
// and not by a retry that somebody else requests.
func TestScheduleDoesNotBypassNotByAuthor(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setSchedules("v1", "evening=destroy")
	h.setVersion("v2", "vpc db")
	h.setSchedules("v2", "evening=destroy", "morning")
	for _, v := range []string{"v1", "v2"} {
		p := h.projects[v]
		p.Approval = project.Approval{NotByAuthor: true}
		h.projects[v] = p
	}
	h.by(bob, "deploy", "deploy", "v1")
	h.by(alice, "later", "deploy", "v2")
	authors := h.backend.Schedules.Authors(shop)
	if !slices.Equal(authors["evening"], []string{bob}) || !slices.Equal(authors["morning"], []string{alice}) {
		t.Errorf("the authors are %v", authors)
	}
	for _, v := range []string{"v1", "v2"} {
		p := h.projects[v]
		p.Approval.Plan = true
		h.projects[v] = p
	}
	h.by(alice, "rule", "deploy", "v2")
	h.must(h.Answer(t.Context(), "rule", "approve", yes(h, "rule", bob)))
	if r := h.planAndExecute("rule"); r.State != run.StateSucceeded {
		t.Fatalf("the rule is %s: %v", r.State, r.Messages)
	}

	h.must(h.Start(t.Context(), run.Request{
		ID: "evening", Project: shop, Operation: "destroy", Schedule: "evening", Who: "schedule evening", Subject: "schedule evening", Authors: authors["evening"],
	}))
	h.passTime(time.Second)
	if r := h.planAndExecute("evening"); r.State != run.StateWaiting {
		t.Fatalf("the destroy is %s: %v", r.State, r.Messages)
	}
	if err := h.Answer(t.Context(), "evening", "approve", yes(h, "evening", bob)); err == nil || !strings.Contains(err.Error(), "another person has to") {
		t.Errorf("the author of the schedule approves: %v", err)
	}
	h.must(h.Answer(t.Context(), "evening", "approve", run.Answer{ID: "no", Who: alice, Subject: alice, Why: "not now", Digest: h.stored("evening").Digest, At: h.backend.Now()}))
	h.planAndExecute("evening")
	if r := h.by(alice, "again", "retry", "evening"); r.State != run.StateWaiting {
		t.Fatalf("the retry is %s: %v", r.State, r.Messages)
	}
	if err := h.Answer(t.Context(), "again", "approve", yes(h, "again", bob)); err == nil || !strings.Contains(err.Error(), "another person has to") {
		t.Errorf("the author of the schedule approves the retry: %v", err)
	}
}

// yes approves the plan of a run.
func yes(h *fixture, id, who string) run.Answer {
	return run.Answer{ID: "yes " + who, Yes: true, Who: who, Subject: who, Digest: h.stored(id).Digest, At: h.backend.Now()}
}

// Who has set the lifetime of an environment is an author of its destroy.
func TestAuthorsOfExpiry(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		h := newFixture(t)
		h.setVersion("v1", "vpc")
		p := h.projects["v1"]
		p.TTL, p.Pattern = project.TTL(time.Hour), "def*"
		h.projects["v1"] = p
		h.by(bob, "deploy", "deploy", "v1")
		if deleted {
			l := h.lifetime()
			l.Run = "deleted"
			h.must(h.Store.SetLifetime(t.Context(), l))
		}
		h.passTime(2 * time.Hour)
		h.must(h.Sweep(t.Context()))
		r := h.planAndExecute(h.open().ID)
		if want := map[bool]string{false: bob, true: ""}[deleted]; r.State != run.StateSucceeded || !slices.Contains(r.AllAuthors(), want) {
			t.Errorf("the destroy is %s, and its authors %q lack %q: %v", r.State, r.AllAuthors(), want, r.Messages)
		}
	}
}
