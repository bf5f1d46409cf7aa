package engine_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/revision"
	"github.com/stackwright/stackwright/pkg/run"
)

// back requests a rollback to a revision, and executes it.
func (h *fixture) back(id, operation string, o run.Options) run.Run {
	h.Helper()
	h.must(h.Start(h.Context(), run.Request{ID: id, Project: shop, Operation: operation, Who: "ann", Options: o}))
	r := h.planAndExecute(id)
	h.passTime(1)
	return r
}

// A rollback restores the values outside the project that the revision has read, whatever they are now, also when it is retried, and when the run of the
// revision is not recorded any more.
func TestRollbackToRestoresValues(t *testing.T) {
	h := fallingBack(t, "v1", "v2", "v3")
	size := func(want string) {
		t.Helper()
		if _, got := h.backend.Cloud.Template("shop-vpc"); got["P"] != want {
			t.Errorf("the parameters are %v, want %s", got, want)
		}
	}
	for i, now := range []string{"small", "large", "huge"} {
		h.backend.Cloud.Stored = map[string]project.StoredParameter{"/shop/size": {Value: now}}
		h.requestAndExecute([]string{"a", "b", "c"}[i], "deploy", []string{"v1", "v2", "v3"}[i])
	}
	h.backend.Cloud.Stored = nil
	h.backend.Cloud.Fail["shop-vpc/update"] = 1
	if r := h.back("d", "rollback-to", run.Options{}); r.State != run.StateFailed || r.Revision != "b" || r.Source.Version != "v2" {
		t.Errorf("the rollback is %s: %+v", r.State, r)
	}
	h.planAndExecute(engine.RollbackOf("d")) // the files say so
	size("huge")
	h.backend.Cloud.Stored = map[string]project.StoredParameter{"/shop/size": {Value: "small"}}
	h.requestAndExecute("again", "deploy", "v1") // so the previous revision is another one
	h.must(h.Start(t.Context(), run.Request{ID: "e", Project: shop, Operation: "retry", Of: "d", Options: run.Options{Force: true}}))
	if r := h.planAndExecute("e"); r.State != run.StateSucceeded || r.Revision != "b" || r.Operation != "rollback-to" {
		t.Errorf("the retry is %s: %q", r.State, r.Messages)
	}
	size("large")
	h.backend.Cloud.Stored = nil
	h.store.expired = []string{"a", "again", "b", "c", "d"}
	r := h.back("f", "rollback-to", run.Options{})
	if r.State != run.StateSucceeded || r.Revision != "again" || strings.Contains(strings.Join(r.Messages, " "), "read again") {
		t.Errorf("the rollback is %s: %q", r.State, r.Messages)
	}
	size("small")
}

// Values that the revision did not keep are read again, and the run says so; without them it is refused.
func TestRollbackToReadsAgain(t *testing.T) {
	h := fallingBack(t, "v1", "v2", "v3")
	h.requestAndExecute("a", "deploy", "v1")
	h.setVersion("v2", "vpc web")
	h.projects["v2"].Nodes["web"].Parameters["P"] = project.Text{{Source: &project.Source{Parameter: "/shop/other"}}}
	q := run.Request{ID: "b", Project: shop, Operation: "deploy", Source: run.Source{Version: "v2"}, Options: run.Options{Selection: plan.Selection{Only: []string{"vpc"}}}}
	h.must(h.Start(t.Context(), q))
	h.planAndExecute("b")
	refused := h.back("c", "rollback-to", run.Options{To: "b"})
	if refused.State != run.StateRefused || !strings.Contains(strings.Join(refused.Messages, " "), "/shop/other") {
		t.Errorf("the rollback is %s: %q", refused.State, refused.Messages)
	}
	h.backend.Cloud.Stored = map[string]project.StoredParameter{"/shop/other": {Value: "x"}}
	r := h.back("d", "rollback-to", run.Options{To: "b"})
	said := strings.Join(r.Messages, " ")
	if r.State != run.StateSucceeded || !strings.Contains(said, "read again, because the deploy that is restored did not keep them: ${ssm-value:/shop/other@}") || !strings.Contains(said, "deployed only some of their stacks") {
		t.Errorf("the rollback is %s: %q", r.State, r.Messages)
	}
}

// Files that are not in the bucket any more are refused before anything is changed, with what to do.
func TestRollbackToLostFiles(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.setVersion("v2", "vpc web")
	h.requestAndExecute("a", "deploy", "v1")
	h.requestAndExecute("b", "deploy", "v2")
	delete(h.projects, "v1")
	for _, operation := range []string{"plan-rollback-to", "rollback-to"} {
		r := h.back(operation, operation, run.Options{})
		want := []string{"the files of run a cannot be deployed again: provide what they need, or choose another revision: stackwright revisions lists them", "there is no version v1"}
		if r.State != run.StateRefused || !slices.Equal(r.Messages, want) {
			t.Errorf("the %s is %s: %q", operation, r.State, r.Messages)
		}
	}
	if l, err := h.Store.Lock(t.Context(), shop); err != nil || l.Owner.Run != "" || l.LastAttempted.Run != "b" {
		t.Errorf("%+v, %v", l, err)
	}
}

// A project without a project file comes back, though a deploy of it would be refused: no file was lost.
func TestRollbackToTemplates(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	p := h.projects["v1"]
	p.Kind = project.Templates
	h.projects["v1"] = p
	h.setVersion("v2", "vpc")
	p = h.projects["v2"]
	p.Kind = project.WithFile
	h.projects["v2"] = p
	h.requestAndExecute("a", "deploy", "v1")
	h.requestAndExecute("b", "deploy", "v2")
	if r := h.requestAndExecute("c", "deploy", "v1"); r.State != run.StateRefused {
		t.Fatalf("the deploy is %s: %q", r.State, r.Messages)
	}
	if r := h.back("d", "rollback-to", run.Options{}); r.State != run.StateSucceeded {
		t.Errorf("the rollback is %s: %q", r.State, r.Messages)
	}
}

// What cannot be read now is no revision that does not exist.
func TestFindRevisionFails(t *testing.T) {
	h := newFixture(t)
	h.setVersion("v1", "vpc")
	h.requestAndExecute("a", "deploy", "v1")
	for what, store := range map[string]revision.Store{"run": failingRevisions{h.store, "run"}, "lock": failingRevisions{h.store, "lock"}, "list": failingRevisions{h.store, "list"}} {
		if _, err := revision.Find(t.Context(), store, shop, "previous"); err == nil || fault.Is(err, fault.Missing) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := revision.Files(t.Context(), store, shop, "previous"); err == nil || fault.Is(err, fault.Missing) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if r, err := revision.Files(t.Context(), h.store, shop, "a"); err != nil || r.Source.Version != "v1" || r.Project != shop {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := revision.Find(t.Context(), h.store, "other@prod", "a"); !fault.Is(err, fault.Missing) {
		t.Errorf("a run of another project is found: %v", err)
	}
}

// failingRevisions is a store of which one thing cannot be read.
type failingRevisions struct {
	revision.Store
	what string
}

func (s failingRevisions) Run(ctx context.Context, id string) (run.Run, error) {
	if s.what == "run" {
		return run.Run{}, io.ErrUnexpectedEOF
	}
	return s.Store.Run(ctx, id)
}

func (s failingRevisions) Lock(ctx context.Context, project string) (run.Lock, error) {
	if s.what == "lock" {
		return run.Lock{}, io.ErrUnexpectedEOF
	}
	return s.Store.Lock(ctx, project)
}

func (s failingRevisions) List(ctx context.Context, project string, most int) ([]run.Run, error) {
	if s.what == "list" {
		return nil, io.ErrUnexpectedEOF
	}
	return s.Store.List(ctx, project, most)
}
