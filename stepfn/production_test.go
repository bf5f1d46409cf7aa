package stepfn_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stackwright/stackwright/infra/local/cloud"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Production templates that depend on one another only by exports are deployed in
// order, are unchanged the second time, and are destroyed. Two are too large to be
// sent inline. STACKWRIGHT_INPUTS names the folder with the templates.
func TestProductionTemplates(t *testing.T) {
	inputs := os.Getenv("STACKWRIGHT_INPUTS")
	if inputs == "" {
		t.Skip("STACKWRIGHT_INPUTS names no folder of templates")
	}
	files := productionProject(t, inputs)
	synctest.Test(t, func(t *testing.T) {
		r := newEmulators(t, func(o *cloud.Options) {
			o.ResolveDynamic = func(template.Dynamic) (string, bool) { return "stored-value", true }
		})
		body, err := archive.Pack(files)
		if err != nil {
			t.Fatal(err)
		}
		deploy := func() run.Run {
			key := "projects/widdix/default.zip"
			id := engine.RunID("stackwright", key, r.put(key, body))
			r.requested = append(r.requested, id)
			if !r.WaitIdle() {
				t.Fatal("the deploy never ends")
			}
			got := r.ExecutionStatus(id)
			if got.State != run.StateSucceeded {
				t.Fatalf("deploy %s: %v", got.State, got.Messages)
			}
			return got
		}
		first := deploy()
		if len(first.Steps) < 18 {
			t.Errorf("the project has %d stacks, want at least 18", len(first.Steps))
		}
		for _, s := range first.Steps {
			for _, n := range s.After {
				if a := first.Steps[n]; s.Claimed.Before(a.Ended) {
					t.Errorf("%s started before %s ended", s.ID, a.ID)
				}
			}
		}
		before := calls(r)
		t.Logf("%d stacks, %d mutating calls", len(first.Steps), before)
		again := deploy()
		if len(again.Steps) != 0 || again.Unchanged != len(first.Steps) || calls(r) != before {
			t.Errorf("deployed again: %d steps, %d unchanged, %d mutating calls", len(again.Steps), again.Unchanged, calls(r)-before)
		}
		key := "requests/widdix/default/destroy.json"
		id := engine.RunID("stackwright", key, r.put(key, []byte(`{"operation":"destroy"}`)))
		r.requested = append(r.requested, id)
		r.WaitIdle()
		if got := r.ExecutionStatus(id); got.State != run.StateSucceeded || len(got.Steps) != len(first.Steps) {
			t.Errorf("destroy %s %v: %d steps", got.State, got.Messages, len(got.Steps))
		}
	})
}

// calls counts the requests to CloudFormation that change something.
func calls(r *emulators) int {
	n := 0
	for _, k := range r.cloud.Stacks.Calls() {
		n += k
	}
	return n
}

// productionProject returns the project of the templates in a folder. Its edges follow
// from imports alone.
func productionProject(t *testing.T, inputs string) archive.Files {
	t.Helper()
	files, err := archive.Folder(inputs)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "testdata", "widdix", "stackwright.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files["stackwright.yaml"] = text
	loaded, err := format.Read(files, format.Options{Targets: map[string]project.Target{
		project.DefaultTarget: {Name: project.DefaultTarget, Account: "000000000000", Region: "us-east-1"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	large, edges := 0, 0
	for _, n := range loaded.Project.Nodes {
		if n.Template.Bytes > project.MaxInline {
			large++
		}
	}
	for _, e := range loaded.Edges {
		if edges++; e.Cause != resolve.Imported {
			t.Errorf("an edge does not follow from an import: %s", e)
		}
	}
	if t.Logf("%d stacks, %d edges, %d large templates", len(loaded.Project.Nodes), edges, large); large < 2 || edges < 18 {
		t.Error("want at least 2 large templates and 18 edges")
	}
	return files
}
