package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// promote requests a promotion of the project's only environment to prod, and carries it out. The stacks of both have the same physical names, so somebody
// has deleted them before.
func (h *fixture) promote(id string, o run.Options) run.Run {
	h.Helper()
	h.backend.Cloud.Set("shop-vpc", "")
	o.FromEnvironment = "default"
	h.must(h.Start(h.Context(), run.Request{ID: id, Project: "shop@prod", Operation: "promote", Who: "ann", Options: o}))
	r := h.planAndExecute(id)
	h.passTime(1)
	return r
}

// A promotion reads values outside the project as they are now, and keeps them as a deploy does, for a rollback.
func TestPromotionReadsValues(t *testing.T) {
	h := fallingBack(t, "v1", "v2")
	h.requestAndExecute("a", "deploy", "v1")
	h.backend.Cloud.Stored = map[string]project.StoredParameter{"/shop/size": {Value: "large"}}
	r := h.promote("b", run.Options{})
	if _, got := h.backend.Cloud.Template("shop-vpc"); r.State != run.StateSucceeded || got["P"] != "large" || r.Revision != "a" || r.Source.Version != "v1" {
		t.Fatalf("the promotion is %s: %q, parameters %v", r.State, r.Messages, got)
	}
	if r.Values == "" || r.Values == h.stored("a").Values {
		t.Errorf("it keeps the values %q", r.Values)
	}
}

// Templates without a project file are not promoted to an environment that was deployed with one: nothing else deploys them there either.
func TestPromotionOfLostFile(t *testing.T) {
	h := newFixture(t)
	for version, kind := range map[string]project.Kind{"v1": project.WithFile, "v2": project.Templates} {
		h.setVersion(version, "vpc")
		p := h.projects[version]
		p.Kind = kind
		h.projects[version] = p
	}
	h.must(h.Start(t.Context(), run.Request{ID: "a", Project: "shop@prod", Operation: "deploy", Source: run.Source{Version: "v1"}, Who: "ann"}))
	h.planAndExecute("a")
	h.backend.Cloud.Set("shop-vpc", "")
	h.requestAndExecute("b", "deploy", "v2")
	if r := h.promote("c", run.Options{}); r.State != run.StateRefused || !strings.Contains(strings.Join(r.Messages, " "), "with the project file if there was one") {
		t.Errorf("the promotion is %s: %q", r.State, r.Messages)
	}
}

// What is wrong with the files is said together with what is wrong with the revision.
func TestPromotionRefusedAtOnce(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setVersion("v2", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	h.backend.Cloud.Fail["shop-vpc/update"] = 1
	h.requestAndExecute("b", "deploy", "v2")
	delete(h.projects, "v1")
	r := h.promote("c", run.Options{})
	want := []string{
		"the newest deploy of shop@default has not succeeded: run b (deploy, failed), requested by ann: correct it and deploy again, or name the revision before it with --revision a",
		"the files of run a of shop@default cannot be deployed to shop@prod: correct them, deploy them to shop@default, and promote that", "there is no version v1",
	}
	if r.State != run.StateRefused || !slices.Equal(r.Messages, want) {
		t.Errorf("the promotion is %s: %q", r.State, r.Messages)
	}
}

// A retry of a promotion that was refused before it had found a revision would promote one that its requester has not been allowed to read.
func TestRetryOfRefusedPromotion(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	if r := h.promote("a", run.Options{}); r.State != run.StateRefused || r.Revision != "" {
		t.Fatalf("the promotion of an environment without a deploy is %s, of revision %q", r.State, r.Revision)
	}
	h.requestAndExecute("b", "deploy", "v1")
	h.must(h.Start(t.Context(), run.Request{ID: "c", Project: "shop@prod", Operation: "retry", Who: "bob", Of: "a"}))
	if r := h.planAndExecute("c"); r.State != run.StateRefused || !slices.Equal(r.Messages, []string{"run a was to promote from default and was refused before it had found a revision: request the promotion again"}) {
		t.Errorf("the retry is %s: %q", r.State, r.Messages)
	}
}

// A promotion of a run that is not recorded any more finds its revision in the history. What cannot be read now is tried again.
func TestPromotionOfExpiredRun(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	h.store.expired = []string{"a"}
	if r := h.promote("b", run.Options{}); r.State != run.StateSucceeded || r.Revision != "a" {
		t.Errorf("the promotion is %s: %q", r.State, r.Messages)
	}
}
