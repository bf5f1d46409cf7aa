package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// approve answers step of run a, as the given person.
func (h *fixture) approve(step, who string) {
	h.Helper()
	h.must(h.Engine.Answer(h.Context(), "a", step, run.Answer{ID: step, Yes: true, Who: who, Subject: who, Digest: h.stored("a").Digest, At: h.backend.Now()}))
}

// If the last approval arrives while an execution has the run, the execution passes the run on to a planner: only
// the planner replaces schedules and names.
func TestLastApprovalDuringAnExecution(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc=shop-net")
	h.setSchedules("v1", "nightly")
	h.requestAndExecute("z", "deploy", "v1")
	h.setVersion("v2", "net=shop-net db")
	h.setSchedules("v2", "weekly")
	p := h.projects["v2"]
	p.Approval = project.Approval{Plan: true, Approvals: 2, Expires: project.Timeout(time.Hour)}
	h.projects["v2"] = p
	if r := h.requestAndExecute("a", "deploy", "v2"); r.State != run.StateWaiting {
		t.Fatalf("the run is %s", r.State)
	}
	h.approve("approve", "ann")
	loop := h.planned("a", 2)
	h.approve("approve:2", "bob")
	if h.executeToEnd(loop); h.schedules() != "nightly" || h.records() != "vpc" || h.stored("a").Epoch != 3 {
		t.Fatalf("before the planner continues the run: schedules %s, records %s, epoch %d", h.schedules(), h.records(), h.stored("a").Epoch)
	}
	if r := h.planAndExecute("a"); r.State != run.StateSucceeded || h.schedules() != "weekly" || h.records() != "db net" {
		t.Errorf("the run is %s, schedules %s, records %s", r.State, h.schedules(), h.records())
	}
}

// If AWS refuses the schedules of a plan that was approved, the run fails before its first step, and does not count.
func TestApprovedSchedulesRefused(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setSchedules("v1", "nightly")
	p := h.projects["v1"]
	p.Approval = project.Approval{Plan: true}
	h.projects["v1"] = p
	h.requestAndExecute("a", "deploy", "v1")
	h.approve("approve", "ann")
	h.Schedules = refusedSchedules{fault.New(fault.Invalid, "no such time")}
	if r := h.planAndExecute("a"); r.State != run.StateFailed || !strings.Contains(r.Step("approve").Why, "no such time") || h.records() != "" || h.queue() != "" {
		t.Errorf("the run is %s: %q, records %q, queue %q", r.State, r.Step("approve").Why, h.records(), h.queue())
	}
	l, err := h.Store.Lock(t.Context(), shop)
	if h.must(err); l.LastFull != (run.Source{}) {
		t.Errorf("the run counts as the last full deployment: %+v", l.LastFull)
	}
}

// If nobody could approve a run, because AWS does not say who its author is, it is refused when it is planned. The author of
// a scheduled run is the schedule.
func TestRunThatNobodyCouldApproveIsRefused(t *testing.T) {
	for _, c := range []struct {
		rule    project.Approval
		subject string
		want    run.State
	}{
		{project.Approval{Plan: true, NotByAuthor: true}, "", run.StateRefused},
		{project.Approval{Plan: true, NotByAuthor: true}, "arn:aws:iam::111122223333:role/dev", run.StateRunning},
		{project.Approval{Plan: true}, "", run.StateRunning},
		{project.Approval{NotByAuthor: true}, "", run.StateRunning},
	} {
		h := newFixture(t)
		h.setVersion("v1", "vpc")
		p := h.projects["v1"]
		p.Approval = c.rule
		h.projects["v1"] = p
		h.must(h.Start(t.Context(), run.Request{ID: "a", Project: shop, Operation: "deploy", Source: run.Source{Version: "v1"}, Subject: c.subject}))
		h.planned("a", 1)
		if r := h.stored("a"); r.State != c.want || (c.want == run.StateRefused) != strings.Contains(strings.Join(r.Messages, ""), "not_by_author") {
			t.Errorf("%+v: the run is %s: %q", c, r.State, r.Messages)
		}
	}
}
