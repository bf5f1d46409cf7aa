package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/lib/budget"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// fallingBack is a project that goes back when a deploy fails. Its stack has a plain parameter, and one that may not exist.
func fallingBack(t *testing.T, versions ...string) *fixture {
	h := newFixture(t)
	h.backend.Cloud.Stored = map[string]project.StoredParameter{"/shop/size": {Value: "small"}}
	h.setSize(versions...)
	return h
}

// setSize stores versions of the project that fallingBack has.
func (h *fixture) setSize(versions ...string) {
	for _, version := range versions {
		h.setVersion(version, "vpc")
		p := h.projects[version]
		p.Rollback = true
		p.Nodes["vpc"].Parameters["P"] = project.Text{{Source: &project.Source{Parameter: "/shop/size"}}}
		p.Nodes["vpc"].Parameters["Q"] = project.Text{{Expression: &project.Expression{Function: "??", Arguments: []project.Term{{Source: &project.Source{Parameter: "/shop/none"}}, {Known: "none"}}}}}
		h.projects[version] = p
	}
}

// A rollback restores the values outside the project that the last successful deploy read, whatever they are now.
func TestRollbackRestoresValues(t *testing.T) {
	h := fallingBack(t, "v1", "v2", "v3")
	if r := h.requestAndExecute("a", "deploy", "v1"); r.State != run.StateSucceeded {
		t.Fatalf("the run is %s: %q", r.State, r.Messages)
	}
	for i, now := range []map[string]project.StoredParameter{{"/shop/size": {Value: "large"}, "/shop/none": {Value: "some"}}, {}} {
		id, version := []string{"b", "c"}[i], []string{"v2", "v3"}[i]
		h.backend.Cloud.Fail["shop-vpc/update"] = 1
		if i == 1 {
			h.setVersion(version, "vpc web") // it uses no values outside the project
			p := h.projects[version]
			p.Rollback = true
			h.projects[version] = p
			h.backend.Cloud.Fail["shop-web/create"] = 1
		}
		h.backend.Cloud.Stored = now
		h.requestAndExecute(id, "deploy", version)
		back := h.planAndExecute(engine.RollbackOf(id))
		if _, got := h.backend.Cloud.Template("shop-vpc"); back.State != run.StateSucceeded || got["P"] != "small" || got["Q"] != "none" {
			t.Errorf("the rollback of %s is %s: %q, parameters %v", id, back.State, back.Messages, got)
		}
		if strings.Contains(strings.Join(back.Messages, " "), "read again") {
			t.Errorf("the rollback of %s says %q", id, back.Messages)
		}
	}
}

// Before this version no deploy kept its values: the rollback reads them again and says so.
func TestRollbackWithoutKeptValues(t *testing.T) {
	h := fallingBack(t, "v1", "v2")
	h.requestAndExecute("a", "deploy", "v1")
	h.store.forgetful = true
	h.backend.Cloud.Fail["shop-vpc/update"] = 1
	h.backend.Cloud.Stored = map[string]project.StoredParameter{"/shop/size": {Value: "large"}}
	h.requestAndExecute("b", "deploy", "v2")
	back := h.planAndExecute(engine.RollbackOf("b"))
	want := "these values outside the project were read again, because the deploy that is restored did not keep them: ${ssm-value:/shop/none@}, ${ssm-value:/shop/size@}"
	if _, got := h.backend.Cloud.Template("shop-vpc"); back.State != run.StateSucceeded || got["P"] != "large" || !slices.Contains(back.Messages, want) {
		t.Errorf("the rollback is %s: %q, parameters %v", back.State, back.Messages, got)
	}
}

// What a rollback has read again is kept with it: the next rollback restores that.
func TestRollbackKeepsValues(t *testing.T) {
	h := fallingBack(t, "v1", "v2", "v3")
	h.requestAndExecute("a", "deploy", "v1")
	before, err := h.Store.Lock(t.Context(), shop)
	h.must(err)
	for _, id := range []string{"b", "c"} {
		h.backend.Cloud.Fail["shop-vpc/update"] = 1
		h.requestAndExecute(id, "deploy", "v2")
		h.planAndExecute(engine.RollbackOf(id))
		h.setSize("v2")
	}
	after, err := h.Store.Lock(t.Context(), shop)
	h.must(err)
	if before.Values == "" || after.Values != before.Values {
		t.Errorf("the values are %q, and were %q", after.Values, before.Values)
	}
}

// A run of some stacks reads only the values that these and their dependencies need.
func TestOnlyReadsWhatItDeploys(t *testing.T) {
	none := project.Text{{Source: &project.Source{Parameter: "/shop/none"}}}
	for only, want := range map[string]run.State{"b": run.StateSucceeded, "c": run.StateRefused, "a": run.StateRefused} {
		h := newFixture(t)
		h.setVersion("v1", "a b c<a")
		h.projects["v1"].Nodes["a"].Parameters["P"] = none
		h.must(h.Start(t.Context(), run.Request{ID: "a", Project: shop, Operation: "deploy", Source: run.Source{Version: "v1"}, Options: run.Options{Selection: plan.Selection{Only: []string{only}}}}))
		if r := h.planAndExecute("a"); r.State != want {
			t.Errorf("deploy --only %s is %s: %q", only, r.State, r.Messages)
		}
	}
}

// A value outside the project that the template does not allow is refused before anything is changed.
func TestValuesFitTheirParameters(t *testing.T) {
	size, out := project.Part{Source: &project.Source{Parameter: "/shop/size"}}, project.Part{Node: "a", Output: "Value"}
	upper := project.Part{Expression: &project.Expression{Function: "upper", Arguments: []project.Term{{Source: size.Source}}}}
	const template = "Parameters: {N: {Type: Number}, A: {Type: String, AllowedValues: [1, 2]}, U: {Type: String, AllowedPattern: '[A-Z]+'}, L: {Type: String, MaxLength: 3}}\nResources: {T: {Type: 'AWS::SNS::Topic'}}\nOutputs: {Value: {Value: x}}"
	for _, c := range []struct {
		parameter, value string
		text             project.Text
		want             string // of the message; empty if the value is good
	}{
		{"N", "many", project.Text{size}, "stack b: Parameter 'N' must be a number: the value is that of ${ssm-value:/shop/size@}"},
		{"N", "5", project.Text{size}, ""},
		{"A", "3", project.Text{size}, "stack b: Parameter 'A' must be one of AllowedValues"},
		{"A", "2", project.Text{size}, ""},
		{"U", "a-", project.Text{upper}, "stack b: Parameter 'U' must match pattern [A-Z]+: the value is that of ${upper(ssm-value:/shop/size@)}"},
		{"U", "a", project.Text{upper}, ""},
		{"L", "four", project.Text{size}, "must contain at most 3 characters"},
		{"L", "four", project.Text{size, out}, ""}, // the rest is not known yet: CloudFormation checks it
		{"Other", "four", project.Text{size}, ""},
	} {
		h := newFixture(t)
		h.backend.Cloud.Stored = map[string]project.StoredParameter{"/shop/size": {Value: c.value}}
		h.setVersion("v1", "a b<a")
		b := h.projects["v1"].Nodes["b"]
		b.Template.Digest, b.Parameters[c.parameter] = template, c.text
		h.projects["v1"].Nodes["b"] = b
		h.request("a", "deploy", "v1")
		h.planned("a", 1)
		r := h.stored("a")
		if refused := r.State == run.StateRefused; refused != (c.want != "") || !strings.Contains(strings.Join(r.Messages, " "), c.want) {
			t.Errorf("%s of %q: the run is %s: %q", c.parameter, c.value, r.State, r.Messages)
		}
	}
}

// Each request for a page of exports takes its share of the budget.
func TestExportsTakeFromTheBudget(t *testing.T) {
	h := newFixture(t)
	shares := &sharesTaken{Budgets: h.Budgets}
	h.Budgets, h.Engine.Clouds = shares, paging{h.Clouds}
	h.setVersion("v1", "vpc")
	h.projects["v1"].Nodes["vpc"].Parameters["P"] = project.Text{{Source: &project.Source{Export: "net", Target: project.Target{Name: "far", Account: "111122223333", Region: "eu-west-1"}}}}
	h.request("a", "deploy", "v1")
	h.planned("a", 1)
	if r := h.stored("a"); r.State == run.StateRefused || shares.far != 3 {
		t.Errorf("%d shares for 3 pages; the run is %s: %q", shares.far, r.State, r.Messages)
	}
}

// paging sends three requests for exports.
type paging struct{ engine.Clouds }

func (paging) Exports(_ context.Context, _ project.Target, _ []string, count func()) (map[string]plan.Export, error) {
	for range 3 {
		count()
	}
	return map[string]plan.Export{"net": {Stack: "net", Value: "x"}}, nil
}

// sharesTaken counts the shares for one account and region.
type sharesTaken struct {
	engine.Budgets
	far int
}

func (s *sharesTaken) Take(ctx context.Context, where, id string, asks []budget.Demand, now time.Time) (int, time.Time, error) {
	if where == "111122223333#eu-west-1" {
		s.far += len(asks)
	}
	return s.Budgets.Take(ctx, where, id, asks, now)
}
