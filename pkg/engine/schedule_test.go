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
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// fired asks for what a schedule does.
func (h *fixture) fired(id, schedule, operation string) {
	h.Helper()
	h.must(h.Start(h.Context(), run.Request{ID: id, Project: shop, Operation: operation, Schedule: schedule, Who: "schedule " + schedule}))
	h.pass(time.Second)
}

// scheduled gives a version of the project schedules, as in nightly or
// evening=destroy; they deploy if it is not said.
func (h *fixture) scheduled(version string, names ...string) {
	p := h.projects[version]
	p.Schedules = make(map[string]project.Schedule)
	for _, n := range names {
		name, operation, _ := strings.Cut(n, "=")
		p.Schedules[name] = project.Schedule{Operation: cmp.Or(operation, "deploy"), Expression: "rate(1 day)", Zone: "UTC", Every: 24 * time.Hour}
	}
	h.projects[version] = p
}

// arranged lists the project's schedules.
func (h *fixture) arranged() string {
	var names []string
	for name := range h.backend.Schedules.Of(shop) {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// What a person asks for says which schedules there are, if it is about all
// stacks; what a schedule asks for does too, but it does not remove them.
func TestSchedulesAreThoseOfWhatIsDeployed(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.scheduled("v1", "nightly")
	h.desire("v2", "vpc")
	h.scheduled("v2", "weekly", "evening=destroy")
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
			h.fired(id, c.schedule, c.operation)
		} else {
			h.ask(id, c.operation, c.version)
		}
		if r := h.end(id); r.State != run.StateSucceeded {
			t.Fatalf("%s of %s: %s %v", c.operation, c.version, r.State, r.Messages)
		}
		if got := h.arranged(); got != c.want {
			t.Errorf("after %s of %s by %q there are %q, want %q", c.operation, c.version, c.schedule, got, c.want)
		}
	}
}

// What is about some stacks only leaves the schedules as they are.
func TestSchedulesAreLeftByWhatIsOnlyAboutSome(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.scheduled("v1", "nightly")
	for id, q := range map[string]run.Request{
		"a": {Operation: "deploy", Source: run.Source{Version: "v1"}, Options: run.Options{Only: []string{"vpc"}}},
		"b": {Operation: "destroy", Options: run.Options{Only: []string{"vpc"}}},
	} {
		q.ID, q.Project = id, shop
		h.must(h.Start(t.Context(), q))
		h.end(id)
		if got := h.arranged(); got != "" {
			t.Errorf("%s: there are %q", q.Operation, got)
		}
	}
}

// A schedule deploys what was last deployed, or tried to be; if there is nothing
// it is refused, and holds no lock.
func TestScheduledDeploy(t *testing.T) {
	h := newFixture(t)
	refused := func(id string) {
		t.Helper()
		h.fired(id, "nightly", "deploy")
		if r := h.end(id); r.State != run.StateRefused || !strings.Contains(strings.Join(r.Messages, " "), "schedule nightly deploys what was last deployed to shop@default, and nothing was yet") || h.waits() != "" {
			t.Errorf("%s %v; the lock is %q's", r.State, r.Messages, h.waits())
		}
	}
	refused("a")
	h.desire("v1", "vpc")
	h.desire("v2", "vpc db")
	h.scheduled("v2", "nightly")
	h.executed("b", "deploy", "v1")
	h.executed("c", "deploy", "v2")
	h.backend.Cloud.Set("shop-db", "DELETE_COMPLETE")
	h.fired("d", "nightly", "deploy")
	if r := h.end("d"); r.State != run.StateSucceeded || r.Source.Version != "v2" || len(r.Steps) != 1 || r.Steps[0].Node != "db" {
		t.Errorf("%s of %s: %v", r.State, r.Source.Version, r.Steps)
	}
	h.executed("e", "destroy", "")
	refused("f")
}

// What a schedule deploys is reported when it owns the lock: an upload that was
// deployed while it waited is it.
func TestScheduledDeployWaits(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.desire("v2", "vpc db")
	h.scheduled("v2", "nightly")
	h.executed("a", "deploy", "v1")
	h.ask("b", "deploy", "v2")
	first := h.planned("b", 1)
	h.fired("c", "nightly", "deploy")
	if loop := h.planned("c", 1); loop.State != run.StateWaiting || h.waits() != "b c" {
		t.Errorf("the answer is %s; the queue has %s", loop.State, h.waits())
	}
	h.through(first)
	if r := h.end("c"); r.State != run.StateSucceeded || r.Source.Version != "v2" {
		t.Errorf("%s of %s", r.State, r.Source.Version)
	}
}

// While a run of a schedule is under way, it does not come up again.
func TestScheduledAgain(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.scheduled("v1", "nightly=destroy")
	h.ask("a", "deploy", "v1")
	first := h.planned("a", 1)
	for _, id := range []string{"b", "c"} {
		h.fired(id, "nightly", "destroy")
		h.planned(id, 1)
	}
	if r := h.stored("c"); r.State != run.StateSuperseded || !strings.HasPrefix(strings.Join(r.Messages, " "), "run b of schedule nightly is not over yet") || h.waits() != "a b" {
		t.Errorf("%s %v; the queue has %s", r.State, r.Messages, h.waits())
	}
	h.through(first)
	h.end("b")
	h.fired("d", "nightly", "destroy")
	if r := h.end("d"); r.State != run.StateSucceeded {
		t.Errorf("when that is over, it is %s", r.State)
	}
}

// evening gives a version of the project a schedule that destroys it.
func (h *fixture) evening(version string, once time.Time) {
	p := h.projects[version]
	p.Schedules = map[string]project.Schedule{"evening": {Operation: "destroy", Expression: "cron(0 20 * * ? *)", Zone: "UTC", Once: once}}
	h.projects[version] = p
}

// What was deployed while a schedule's run waited, or was late, has the last word:
// a schedule that it no longer has, that is for something else by then, or that it
// has put off, does nothing.
func TestScheduleIsOvertaken(t *testing.T) {
	for name, change := range map[string]func(*fixture){
		"it is no longer in the files": func(*fixture) {},
		"it is for something else":     func(h *fixture) { h.scheduled("v2", "evening") },
		"it is put off":                func(h *fixture) { h.evening("v2", h.Now().Add(24*time.Hour)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.desire("v1", "vpc")
			h.evening("v1", time.Time{})
			h.executed("a", "deploy", "v1")
			h.desire("v2", "vpc db")
			change(h)
			h.ask("b", "deploy", "v2")
			first := h.planned("b", 1)
			h.fired("c", "evening", "destroy")
			h.planned("c", 1)
			h.through(first)
			if r := h.end("c"); r.State != run.StateSuperseded || strings.Join(r.Messages, " ") != "schedule evening came up, but what was deployed since has no such destroy, or at a later time: nothing is done" || h.records() == "" || h.waits() != "" {
				t.Errorf("%s %v; there are %q, and the lock is %q's", r.State, r.Messages, h.records(), h.waits())
			}
		})
	}
}

// A schedule that comes up when its time has come does its work, though the clocks
// of those that call and are called differ by a little.
func TestScheduleOnce(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.evening("v1", h.Now().Add(2*time.Minute))
	h.executed("a", "deploy", "v1")
	h.fired("b", "evening", "destroy")
	if r := h.end("b"); r.State != run.StateSucceeded || h.records() != "" {
		t.Errorf("%s %v; there are %q", r.State, r.Messages, h.records())
	}
}

// A retry of a scheduled run keeps the schedule: it repeats the same files, and
// leaves the schedules alone.
func TestScheduledRetried(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.scheduled("v1", "evening=destroy", "morning")
	h.executed("a", "deploy", "v1")
	h.backend.Cloud.Fail["shop-vpc/delete"] = 1
	h.fired("b", "evening", "destroy")
	if r := h.end("b"); r.State != run.StateFailed {
		t.Fatal(r.State)
	}
	if r := h.executed("c", "retry", "b"); r.State != run.StateSucceeded || r.Schedule != "evening" || r.Who != "ann" || h.arranged() != "evening morning" {
		t.Errorf("%s, of schedule %q, by %s; there are %q", r.State, r.Schedule, r.Who, h.arranged())
	}
	h.fired("d", "morning", "deploy")
	if r := h.end("d"); r.State != run.StateSucceeded || r.Source.Version != "v1" {
		t.Errorf("then it is deployed: %s of %q", r.State, r.Source.Version)
	}
}

// no refuses schedules as AWS may.
type no struct{ err error }

func (n no) SetSchedules(context.Context, string, map[string]project.Schedule, time.Time) error {
	return n.err
}

// If AWS refuses the schedules, nothing is deployed and no record changes. If AWS
// does not answer, the plan is tried again.
func TestSchedulesRefused(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.Schedules = no{fault.New(fault.Invalid, "schedule nightly: no such expression")}
	if r := h.executed("a", "deploy", "v1"); r.State != run.StateRefused || len(r.Messages) != 1 || r.Messages[0] != "schedules: schedule nightly: no such expression" || h.waits() != "" {
		t.Errorf("%s %v; the lock is %q's", r.State, r.Messages, h.waits())
	}
	h.Schedules = no{fault.New(fault.Throttled, "too many")}
	h.ask("b", "deploy", "v1")
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "b", Epoch: 1}); !fault.Is(err, fault.Throttled) || h.stored("b").State != run.StatePending {
		t.Errorf("%v, and it is %s", err, h.stored("b").State)
	}
	h.Schedules = h.backend.Schedules
	if r := h.end("b"); r.State != run.StateSucceeded {
		t.Errorf("when the run is repeated, it is %s", r.State)
	}
}

// shut are specs that may not be kept.
type shut struct{ engine.Specs }

func (shut) SaveSpec(context.Context, project.Node) (string, error) {
	return "", fault.New(fault.Denied, "the key may not be used")
}

// A deploy that is refused, for any reason, leaves the schedules as they are.
func TestWhatIsRefusedLeavesTheSchedules(t *testing.T) {
	h := newFixture(t)
	h.desire("v1", "vpc")
	h.scheduled("v1", "nightly")
	h.executed("a", "deploy", "v1")
	h.desire("v2", "vpc db")
	h.scheduled("v2", "evening=destroy")
	h.Specs = shut{h.Specs}
	if r := h.executed("b", "deploy", "v2"); r.State != run.StateRefused || h.arranged() != "nightly" {
		t.Errorf("%s %v; there are %q", r.State, r.Messages, h.arranged())
	}
}
