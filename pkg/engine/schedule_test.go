package engine_test

import (
	"cmp"
	"context"
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

// requestBySchedule requests what a schedule does at its time.
func (h *fixture) requestBySchedule(id, schedule, operation string) {
	h.Helper()
	h.must(h.Start(h.Context(), run.Request{ID: id, Project: shop, Operation: operation, Schedule: schedule, Who: "schedule " + schedule}))
	h.passTime(time.Second)
}

// setSchedules gives a version of the project schedules: "nightly" deploys, and
// "evening=destroy" destroys.
func (h *fixture) setSchedules(version string, names ...string) {
	p := h.projects[version]
	p.Schedules = make(map[string]project.Schedule)
	for _, n := range names {
		name, operation, _ := strings.Cut(n, "=")
		p.Schedules[name] = project.Schedule{Operation: cmp.Or(operation, "deploy"), Expression: "rate(1 day)", Zone: "UTC", Every: 24 * time.Hour}
	}
	h.projects[version] = p
}

// schedules lists the schedules that are set for the project.
func (h *fixture) schedules() string {
	var names []string
	for name := range h.backend.Schedules.Of(shop) {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// A deploy of all stacks sets the schedules of its files. A destroy that a person
// requests removes them; a destroy by a schedule does not.
func TestDeploySetsSchedules(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setSchedules("v1", "nightly")
	h.setVersion("v2", "vpc")
	h.setSchedules("v2", "weekly", "evening=destroy")
	for i, c := range []struct{ operation, version, schedule, want string }{
		{"plan", "v1", "", ""},
		{"deploy", "v1", "", "nightly"},
		{"plan", "v2", "", "nightly"},
		{"refresh", "", "", "nightly"},
		{"deploy", "v2", "", "evening weekly"},
		{"deploy", "", "weekly", "evening weekly"},
		{"destroy", "", "evening", "evening weekly"},
		{"deploy", "", "weekly", "evening weekly"},
		{"destroy", "", "", ""},
	} {
		id := string(rune('a' + i))
		if c.schedule != "" {
			h.requestBySchedule(id, c.schedule, c.operation)
		} else {
			h.request(id, c.operation, c.version)
		}
		if r := h.planAndExecute(id); r.State != run.StateSucceeded {
			t.Fatalf("%s of %s is %s: %v", c.operation, c.version, r.State, r.Messages)
		}
		if got := h.schedules(); got != c.want {
			t.Errorf("after %s of %s by schedule %q the schedules are %q, want %q", c.operation, c.version, c.schedule, got, c.want)
		}
	}
}

// A run of some stacks only does not change the schedules.
func TestPartialRunKeepsSchedules(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setSchedules("v1", "nightly")
	for id, q := range map[string]run.Request{
		"a": {Operation: "deploy", Source: run.Source{Version: "v1"}, Options: run.Options{Selection: plan.Selection{Only: []string{"vpc"}}}},
		"b": {Operation: "destroy", Options: run.Options{Selection: plan.Selection{Only: []string{"vpc"}}}},
	} {
		q.ID, q.Project = id, shop
		h.must(h.Start(t.Context(), q))
		h.planAndExecute(id)
		if got := h.schedules(); got != "" {
			t.Errorf("after a partial %s the schedules are %q", q.Operation, got)
		}
	}
}

// A schedule deploys the files of the last full deployment, even if that failed. If
// there is none, the run is refused and does not keep the lock.
func TestScheduledDeploy(t *testing.T) {
	h := newFixture(t)
	refused := func(id string) {
		t.Helper()
		h.requestBySchedule(id, "nightly", "deploy")
		if r := h.planAndExecute(id); r.State != run.StateRefused || !strings.Contains(strings.Join(r.Messages, " "), "schedule nightly deploys the files of the last full deployment of shop@default, and there is none") || h.queue() != "" {
			t.Errorf("the run is %s: %v; the queue has %q", r.State, r.Messages, h.queue())
		}
	}
	refused("a")
	h.setVersion("v1", "vpc")
	h.setVersion("v2", "vpc db")
	h.setSchedules("v2", "nightly")
	h.requestAndExecute("b", "deploy", "v1")
	h.requestAndExecute("c", "deploy", "v2")
	h.backend.Cloud.Set("shop-db", "DELETE_COMPLETE")
	h.requestBySchedule("d", "nightly", "deploy")
	if r := h.planAndExecute("d"); r.State != run.StateSucceeded || r.Source.Version != "v2" || len(r.Steps) != 1 || r.Steps[0].Node != "db" {
		t.Errorf("the deploy of %s is %s: %v", r.Source.Version, r.State, r.Steps)
	}
	h.requestAndExecute("e", "destroy", "")
	refused("f")
}

// A scheduled deploy finds its files when it owns the lock: it deploys an upload that was
// deployed while it was queued.
func TestScheduledDeployOfNewerUpload(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setVersion("v2", "vpc db")
	h.setSchedules("v2", "nightly")
	h.requestAndExecute("a", "deploy", "v1")
	h.request("b", "deploy", "v2")
	first := h.planned("b", 1)
	h.requestBySchedule("c", "nightly", "deploy")
	if loop := h.planned("c", 1); loop.State != run.StateWaiting || h.queue() != "b c" {
		t.Errorf("the state is %s; the queue has %s", loop.State, h.queue())
	}
	h.executeToEnd(first)
	if r := h.planAndExecute("c"); r.State != run.StateSucceeded || r.Source.Version != "v2" {
		t.Errorf("the deploy of %s is %s", r.Source.Version, r.State)
	}
}

// A schedule has one run at a time: while that run is queued or running, another one is
// superseded.
func TestScheduleHasOneRun(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setSchedules("v1", "nightly=destroy")
	h.request("a", "deploy", "v1")
	first := h.planned("a", 1)
	for _, id := range []string{"b", "c"} {
		h.requestBySchedule(id, "nightly", "destroy")
		h.planned(id, 1)
	}
	if r := h.stored("c"); r.State != run.StateSuperseded || !strings.HasPrefix(strings.Join(r.Messages, " "), "run b of schedule nightly has not ended: a schedule has one run at a time") || h.queue() != "a b" {
		t.Errorf("the second run is %s: %v; the queue has %s", r.State, r.Messages, h.queue())
	}
	h.executeToEnd(first)
	h.planAndExecute("b")
	h.requestBySchedule("d", "nightly", "destroy")
	if r := h.planAndExecute("d"); r.State != run.StateSucceeded {
		t.Errorf("after the end of the first, the next run is %s", r.State)
	}
}

// setEveningDestroy gives a version of the project one schedule, which destroys it: every
// evening, or once at the given time.
func (h *fixture) setEveningDestroy(version string, once time.Time) {
	p := h.projects[version]
	p.Schedules = map[string]project.Schedule{"evening": {Operation: "destroy", Expression: "cron(0 20 * * ? *)", Zone: "UTC", Once: once}}
	h.projects[version] = p
}

// A deploy that ends while the run of a schedule is queued decides about that run: it
// does nothing if the schedule was removed, has another operation now, or was moved to a
// later time.
func TestScheduleChangedWhileQueued(t *testing.T) {
	for name, change := range map[string]func(*fixture){
		"removed":           func(*fixture) {},
		"another operation": func(h *fixture) { h.setSchedules("v2", "evening") },
		"later":             func(h *fixture) { h.setEveningDestroy("v2", h.Now().Add(24*time.Hour)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.setVersion("v1", "vpc")
			h.setEveningDestroy("v1", time.Time{})
			h.requestAndExecute("a", "deploy", "v1")
			h.setVersion("v2", "vpc db")
			change(h)
			h.request("b", "deploy", "v2")
			first := h.planned("b", 1)
			h.requestBySchedule("c", "evening", "destroy")
			h.planned("c", 1)
			h.executeToEnd(first)
			if r := h.planAndExecute("c"); r.State != run.StateSuperseded || strings.Join(r.Messages, " ") != "schedule evening requested this run, but the files deployed since then schedule no destroy at this time: nothing was done" || h.records() == "" || h.queue() != "" {
				t.Errorf("the run is %s: %v; the records are of %q, the queue has %q", r.State, r.Messages, h.records(), h.queue())
			}
		})
	}
}

// A schedule for one time may be called some minutes early, because clocks differ.
func TestScheduleOnce(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setEveningDestroy("v1", h.Now().Add(2*time.Minute))
	h.requestAndExecute("a", "deploy", "v1")
	h.requestBySchedule("b", "evening", "destroy")
	if r := h.planAndExecute("b"); r.State != run.StateSucceeded || h.records() != "" {
		t.Errorf("the run is %s: %v; the records are of %q", r.State, r.Messages, h.records())
	}
}

// A retry of a schedule's run is of the same schedule and the same files, and changes no
// schedules.
func TestScheduledRetried(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setSchedules("v1", "evening=destroy", "morning")
	h.requestAndExecute("a", "deploy", "v1")
	h.backend.Cloud.Fail["shop-vpc/delete"] = 1
	h.requestBySchedule("b", "evening", "destroy")
	if r := h.planAndExecute("b"); r.State != run.StateFailed {
		t.Fatalf("the destroy is %s", r.State)
	}
	if r := h.requestAndExecute("c", "retry", "b"); r.State != run.StateSucceeded || r.Schedule != "evening" || r.Who != "ann" || h.schedules() != "evening morning" {
		t.Errorf("the retry is %s, of schedule %q, by %s; the schedules are %q", r.State, r.Schedule, r.Who, h.schedules())
	}
	h.requestBySchedule("d", "morning", "deploy")
	if r := h.planAndExecute("d"); r.State != run.StateSucceeded || r.Source.Version != "v1" {
		t.Errorf("the next deploy of %q is %s", r.Source.Version, r.State)
	}
}

// refusedSchedules are schedules that AWS refuses with err.
type refusedSchedules struct{ err error }

func (n refusedSchedules) SetSchedules(context.Context, string, map[string]project.Schedule, []string, time.Time) error {
	return n.err
}

// If AWS refuses the schedules, the deploy is refused. If AWS throttles the request, the
// run is planned again.
func TestSchedulesRefused(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.Schedules = refusedSchedules{fault.New(fault.Invalid, "schedule nightly: no such expression")}
	if r := h.requestAndExecute("a", "deploy", "v1"); r.State != run.StateRefused || len(r.Messages) != 1 || r.Messages[0] != "schedules: schedule nightly: no such expression" || h.queue() != "" {
		t.Errorf("the run is %s: %v; the queue has %q", r.State, r.Messages, h.queue())
	}
	h.Schedules = refusedSchedules{fault.New(fault.Throttled, "too many")}
	h.request("b", "deploy", "v1")
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "b", Epoch: 1}); !fault.Is(err, fault.Throttled) || h.stored("b").State != run.StatePending {
		t.Errorf("got %v, and the run is %s", err, h.stored("b").State)
	}
	h.Schedules = h.backend.Schedules
	if r := h.planAndExecute("b"); r.State != run.StateSucceeded {
		t.Errorf("planned again, the run is %s", r.State)
	}
}

// deniedSpecs are specs that may not be stored.
type deniedSpecs struct{ engine.Specs }

func (deniedSpecs) SaveSpecs(context.Context, []project.Node) ([]string, error) {
	return nil, fault.New(fault.Denied, "the key may not be used")
}

// A refused deploy does not change the schedules.
func TestRefusedDeployKeepsSchedules(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setSchedules("v1", "nightly")
	h.requestAndExecute("a", "deploy", "v1")
	h.setVersion("v2", "vpc db")
	h.setSchedules("v2", "evening=destroy")
	h.Specs = deniedSpecs{h.Specs}
	if r := h.requestAndExecute("b", "deploy", "v2"); r.State != run.StateRefused || h.schedules() != "nightly" {
		t.Errorf("the run is %s: %v; the schedules are %q", r.State, r.Messages, h.schedules())
	}
}
