package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/engine"
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
	want := "these values outside the project were read again, because the last successful deploy did not keep them: ${ssm-value:/shop/none@}, ${ssm-value:/shop/size@}"
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
