package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/enginetest/sim"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// If the function that claimed a step crashed before it sent the request, a poll does not
// send it once the permission is gone. The step fails after an hour without one.
func TestPollStartsNothingWithoutPermission(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.cloud.beginErr = fault.New(fault.Unavailable, "the request is lost")
	loop := h.begin("a", "v1")
	h.cloud.beginErr = nil
	h.backend.Permits[""] = nil
	h.passTime(2 * action.MaxStartTime)
	const why = "is not for project shop@default"
	h.polled(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Running || !strings.Contains(s.Why, why) || len(h.backend.Cloud.Requests) > 0 {
		t.Errorf("without the permission the step is %s (%s), and %d requests were sent", s.Status, s.Why, len(h.backend.Cloud.Requests))
	}
	h.passTime(time.Hour)
	got := h.polled(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Failed || !strings.Contains(s.Why, why) || len(h.backend.Cloud.Requests) > 0 {
		t.Errorf("after an hour the run is %s, the step %s (%s), and %d requests were sent", got.State, s.Status, s.Why, len(h.backend.Cloud.Requests))
	}
}

// An operation that has started is followed to its end without a permission.
func TestPollFollowsWithoutPermission(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	loop := h.begin("a", "v1")
	h.backend.Permits[""] = nil
	h.passTime(time.Minute)
	if got := h.polled(loop); got.State != run.StateSucceeded || h.records() != "vpc" {
		t.Errorf("the run is %s, with records of %q", got.State, h.records())
	}
}

// The record of a stack that is gone is dropped without a permission: no request is sent
// to the target.
func TestPermissionIsNotNeededToForget(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	h.backend.Cloud.Set("shop-vpc", "DELETE_COMPLETE")
	h.request("b", "destroy", "")
	loop := h.planned("b", 1)
	h.backend.Permits[""] = nil
	if r := h.executeToEnd(loop); r.State != run.StateSucceeded || h.records() != "" || r.Steps[0].Verb != "forget" {
		t.Errorf("the run is %s, with records of %q: %+v", r.State, h.records(), r.Steps)
	}
}

// If the permission cannot be read, the plan is made and the step is started later.
func TestPermissionCannotBeRead(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.request("a", "deploy", "v1")
	permits := h.Permits
	h.Permits = unreadable{}
	if _, err := h.Plan(t.Context(), engine.ExecutionInput{Run: "a", Epoch: 1}); !fault.Is(err, fault.Throttled) {
		t.Errorf("the plan ends with %v", err)
	}
	h.Permits = permits
	loop := h.planned("a", 1)
	h.Permits = unreadable{}
	loop = h.executed(loop)
	if s := h.stored("a").Steps[0]; s.Status != run.Pending || s.Why != "slow down" {
		t.Errorf("the step is %s (%s)", s.Status, s.Why)
	}
	h.Permits = permits
	h.passTime(time.Minute)
	h.polled(loop)
	h.passTime(time.Minute)
	if got := h.polled(loop); got.State != run.StateSucceeded {
		t.Errorf("afterwards the run is %s", got.State)
	}
}

// In a target whose account was left out of its unit after the plan was made, no stack is created or updated, and one is deleted.
func TestStepsOfALeftOutAccount(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	for _, c := range []struct {
		id, operation, version string
		verb                   plan.Verb
		left                   bool
		want                   run.Status
	}{
		{"a", "deploy", "v1", plan.Create, true, run.Failed},
		{"b", "deploy", "v1", plan.Create, false, run.Done},
		{"c", "destroy", "", plan.Delete, true, run.Done},
	} {
		h.backend.Permits[""] = project.Grants{"*@*"}
		h.request(c.id, c.operation, c.version)
		loop := h.planned(c.id, 1)
		if c.left {
			h.backend.Permits[""] = project.Grants{"*@*", sim.NoDeploys}
		}
		h.executeToEnd(loop)
		if s := h.stored(c.id).Steps[0]; s.Verb != c.verb || s.Status != c.want || c.want == run.Failed && !strings.Contains(s.Why, "is left out of its unit") {
			t.Errorf("%s: step %s is %s (%s), want %s", c.id, s.ID, s.Status, s.Why, c.want)
		}
	}
}

// unreadable is permissions that cannot be read.
type unreadable struct{}

func (unreadable) Deploys(context.Context, project.Target) error { return nil }

func (unreadable) Permit(context.Context, string, project.Target) error {
	return fault.New(fault.Throttled, "slow down")
}

// The output of a stack outside the project is read with a permission for its target, and with its value the plan is made.
// Without the permission the plan is refused.
func TestSourcesNeedPermission(t *testing.T) {
	h := newFixture(t)
	h.setVersion("base", "other=legacy")
	h.requestAndExecute("base", "deploy", "base")
	for version, target := range map[string]string{"here": "", "there": "eu"} {
		h.setVersion(version, "other=legacy vpc")
		source := project.Source{Stack: "legacy", Output: "Value", Target: project.Target{Name: target}}
		h.projects[version].Nodes["vpc"].Parameters["P"] = project.Text{{Source: &source}}
	}
	h.backend.Permits["eu"] = project.Grants{"other@*"}
	h.request("a", "deploy", "there")
	h.planned("a", 1)
	if r := h.stored("a"); r.State != run.StateRefused || !strings.Contains(strings.Join(r.Messages, " "), "target eu is not for project shop@default") {
		t.Errorf("without the permission the run is %s: %q", r.State, r.Messages)
	}
	want := h.backend.Cloud.Output("legacy", "Value") // which the run changes later
	h.request("b", "deploy", "here")
	loop := h.planned("b", 1)
	if loop.State == run.StateRefused {
		t.Fatalf("the run is refused: %q", h.stored("b").Messages)
	}
	h.executeToEnd(loop)
	_, parameters := h.backend.Cloud.Template("shop-vpc")
	if parameters["P"] != want || want == "" {
		t.Errorf("the parameter is %q, and the output was %q", parameters["P"], want)
	}
}

// A project gets the exports of the stacks that the installation lists for it. One of its own stacks is refused: the run may change it.
func TestExportsNeedPermission(t *testing.T) {
	for name, c := range map[string]struct {
		export    string
		target    string
		externals project.Externals
		stacks    string
		want      string // of the messages, if the run is refused
	}{
		"listed":                     {"legacy-Name", "", project.Externals{"shop@*=leg*"}, "vpc", ""},
		"not listed":                 {"legacy-Name", "", project.Externals{"shop@*=net", "other@*=*"}, "vpc", "stack vpc: parameter P: ${export:legacy-Name@}: project shop@default may not read the outputs of stack legacy: ask the owner of the installation to add shop@default=legacy to the setting external"},
		"nothing is listed":          {"legacy-Name", "", nil, "vpc", "may not read the outputs of stack legacy"},
		"it does not exist":          {"gone-Name", "", project.Externals{"*@*=*"}, "vpc", "there is no export gone-Name in target"},
		"of the project":             {"legacy-Name", "", project.Externals{"*@*=*"}, "vpc old=legacy", "stack old of this project makes the export, and its template does not say so with a name that is known before the deploy: write the output, as in ${old.Output}"},
		"a target of other projects": {"legacy-Name", "eu", project.Externals{"*@*=*"}, "vpc", "target eu is not for project shop@default"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.backend.Facts.Externals = c.externals
			h.Facts = h.backend.Facts.All()
			h.backend.Permits["eu"] = project.Grants{"other@*"}
			h.backend.Cloud.Make("legacy", "v1", nil)
			h.setVersion("v1", c.stacks)
			source := project.Source{Export: c.export, Target: project.Target{Name: c.target}}
			h.projects["v1"].Nodes["vpc"].Parameters["P"] = project.Text{{Source: &source}}
			h.request("a", "deploy", "v1")
			loop := h.planned("a", 1)
			if c.want != "" {
				if r := h.stored("a"); r.State != run.StateRefused || !strings.Contains(strings.Join(r.Messages, " "), c.want) {
					t.Errorf("the run is %s: %q", r.State, r.Messages)
				}
				return
			}
			h.executeToEnd(loop)
			if _, parameters := h.backend.Cloud.Template("shop-vpc"); parameters["P"] != "legacy" {
				t.Errorf("the parameters are %v", parameters)
			}
		})
	}
}

// A plain parameter is read when the plan is made. A secure string is not, not even in the place of a default.
func TestStoredParameters(t *testing.T) {
	eu := project.Target{Name: "eu"}
	or := project.Text{{Expression: &project.Expression{Function: "??", Arguments: []project.Term{{Source: &project.Source{Parameter: "/shop/key"}}, {Known: "none"}}}}}
	for name, c := range map[string]struct {
		text project.Text
		want string // the parameter, or of the messages if the run is refused
		ok   bool
	}{
		"plain":                      {project.Text{{Literal: "a-"}, {Source: &project.Source{Parameter: "/shop/size:3"}}}, "a-large", true},
		"none":                       {project.Text{{Source: &project.Source{Parameter: "/shop/none"}}}, "there is no parameter /shop/none in target", false},
		"secure":                     {project.Text{{Source: &project.Source{Parameter: "/shop/key"}}}, "stack vpc: parameter P: ${ssm-value:/shop/key@}: the parameter is a secure string, which Stackwright does not read: write ${ssm-secure:/shop/key}", false},
		"secure, with a default":     {or, "the parameter is a secure string", false},
		"a target of other projects": {project.Text{{Source: &project.Source{Parameter: "/shop/size", Target: eu}}}, "target eu is not for project shop@default", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.backend.Permits["eu"] = project.Grants{"other@*"}
			h.backend.Cloud.Stored = map[string]project.StoredParameter{"/shop/size:3": {Value: "large"}, "/shop/key": {Secure: true}}
			h.setVersion("v1", "vpc")
			h.projects["v1"].Nodes["vpc"].Parameters["P"] = c.text
			h.request("a", "deploy", "v1")
			loop := h.planned("a", 1)
			if r := h.stored("a"); !c.ok {
				if r.State != run.StateRefused || !strings.Contains(strings.Join(r.Messages, " "), c.want) {
					t.Errorf("the run is %s: %q", r.State, r.Messages)
				}
				return
			}
			h.executeToEnd(loop)
			if _, parameters := h.backend.Cloud.Template("shop-vpc"); parameters["P"] != c.want {
				t.Errorf("the parameters are %v", parameters)
			}
		})
	}
}

// The export of a stack that the project no longer has does not exist: the run deletes the stack.
func TestExportsOfRemovedStacks(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "old=legacy")
	h.requestAndExecute("a", "deploy", "v1")
	h.setVersion("v2", "vpc")
	h.projects["v2"].Nodes["vpc"].Parameters["P"] = project.Text{{Source: &project.Source{Export: "legacy-Name"}}}
	h.request("b", "deploy", "v2")
	h.planned("b", 1)
	if r := h.stored("b"); r.State != run.StateRefused || !strings.Contains(strings.Join(r.Messages, " "), "stack old, which makes the export, is no longer in the project") {
		t.Errorf("the run is %s: %q", r.State, r.Messages)
	}
}
