package format

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/project"
)

// Templates that were written for other tools get their edges from their imports
// and exports. STACKWRIGHT_INPUTS is the folder of the templates of
// widdix/aws-cf-templates.
func TestEdgesOfImports(t *testing.T) {
	inputs := os.Getenv("STACKWRIGHT_INPUTS")
	if inputs == "" {
		t.Skip("STACKWRIGHT_INPUTS names no folder of templates")
	}
	all, err := archive.Folder(inputs)
	if err != nil {
		t.Fatal(err)
	}
	if all["stackwright.yaml"], err = os.ReadFile("../../testdata/widdix/stackwright.yaml"); err != nil {
		t.Fatal(err)
	}
	l, err := Read(all, Options{Targets: here()})
	if err != nil {
		t.Fatal(err)
	}
	isConsistent(t, l)
	want := map[string]string{
		"access-log":        "",
		"alert":             "",
		"bastion":           "alert vpc zone",
		"cache":             "alert bastion client key vpc zone",
		"client":            "vpc",
		"ecs/cluster":       "access-log alert bastion client vpc",
		"ecs/service":       "alert ecs/cluster zone",
		"endpoint/dynamodb": "vpc",
		"endpoint/s3":       "vpc",
		"fargate/cluster":   "access-log alert vpc zone",
		"fargate/service":   "alert client fargate/cluster vpc zone",
		"flow-logs":         "vpc",
		"key":               "alert",
		"nat-a":             "alert vpc",
		"nat-b":             "alert vpc",
		"secret":            "key",
		"table":             "alert key",
		"trail":             "alert key",
		"vpc":               "",
		"wordpress":         "alert bastion vpc zone",
		"zone":              "vpc",
	}
	got := map[string]string{}
	large := 0
	for name, n := range l.Project.Nodes {
		got[name] = strings.Join(n.Needs, " ")
		if n.Template.Bytes > project.MaxInline {
			large++
		}
		if !n.Template.Pinned {
			t.Errorf("%s: its template is not pinned, so every deploy would update it", name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(- want, + got):\n%s", diff)
	}
	if len(got) < 18 || large < 2 {
		t.Errorf("%d stacks with %d large templates, want 18 with 2 at least", len(got), large)
	}
	for _, e := range l.Edges {
		if e.Cause != resolve.Imported {
			t.Errorf("an edge that is not from an import: %s", e)
		}
	}
	if names := slices.Sorted(maps.Keys(all)); len(names) < 18 {
		t.Errorf("%d files", len(names))
	}
}
