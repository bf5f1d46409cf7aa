package format

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/lib/graph"
	"github.com/stackwright/stackwright/pkg/project"
)

// Each folder in testdata/accepted is a project, and want.json is what Read makes
// of it. The file .options.json is as in testdata/refused.
func TestAcceptedProjects(t *testing.T) {
	for _, dir := range folders(t, "testdata/accepted", 8) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			all, err := archive.Folder(dir)
			if err != nil {
				t.Fatal(err)
			}
			delete(all, "want.json")
			l, err := Read(all, options(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(l, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Same(t, filepath.Join(dir, "want.json"), string(got)+"\n")
			isConsistent(t, l)

			packed, err := archive.Pack(all)
			if err != nil {
				t.Fatal(err)
			}
			unpacked, err := archive.Unpack("again.zip", packed)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Read(unpacked, options(t, dir))
			if diff := cmp.Diff(l, again); diff != "" || err != nil {
				t.Errorf("the project changed when it was packed and unpacked: %v\n%s", err, diff)
			}
		})
	}
}

// isConsistent checks what holds for every project that was read.
func isConsistent(t *testing.T, l Loaded) {
	t.Helper()
	var order graph.Graph[string]
	for name, n := range l.Project.Nodes {
		order.Add(name, n.Needs...)
	}
	if _, err := order.Order(); err != nil || len(order.Keys()) != len(l.Project.Nodes) {
		t.Errorf("%d nodes, and %d in the order: %v", len(l.Project.Nodes), len(order.Keys()), err)
	}
	if !slices.IsSortedFunc(l.Edges, resolve.Edge.Compare) {
		t.Error("the edges are not sorted")
	}
	needs := map[string]map[string]bool{}
	for _, e := range l.Edges {
		if needs[e.Node] == nil {
			needs[e.Node] = map[string]bool{}
		}
		needs[e.Node][e.Needs] = true
	}
	names := map[string]string{}
	for name, n := range l.Project.Nodes {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(needs[name])), n.Needs); diff != "" {
			t.Errorf("%s: its needs and its edges differ (- edges, + needs):\n%s", name, diff)
		}
		for _, source := range n.Sources() {
			if !slices.Contains(n.Needs, source) {
				t.Errorf("%s uses an output of %s and does not need it", name, source)
			}
		}
		body, ok := l.Templates[n.Template.Digest]
		sum := sha256.Sum256(body)
		if !ok || hex.EncodeToString(sum[:]) != n.Template.Digest || len(body) != n.Template.Bytes {
			t.Errorf("%s: its template does not have its digest", name)
		}
		if l.Sources[name] == "" {
			t.Errorf("%s: its template has no position", name)
		}
		at := n.Target.Where() + " " + n.Stack
		if other, taken := names[at]; taken {
			t.Errorf("%s and %s are both %s", name, other, at)
		}
		names[at] = name
	}
}

// The text that is made of an inline template means the same.
func TestInlineTemplateKeepsItsMeaning(t *testing.T) {
	all, err := archive.Folder("testdata/accepted/one-file")
	if err != nil {
		t.Fatal(err)
	}
	delete(all, "want.json")
	l, err := Read(all, Options{Targets: here()})
	if err != nil {
		t.Fatal(err)
	}
	vpc, twin := l.Project.Nodes["vpc"], l.Project.Nodes["twin"]
	if vpc.Template.Digest != twin.Template.Digest {
		t.Error("one template has two digests")
	}
	body := string(l.Templates[vpc.Template.Digest])
	root, err := document.Read("vpc", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	parameters, _ := document.Lookup(root, "Parameters")
	octal, _ := document.Lookup(parameters, "Octal")
	if value, ok := document.Lookup(octal, "Default"); !ok || value.Value != "010" {
		t.Errorf("the default is %v, want 010", value)
	}
	if strings.Contains(body, "#") || !strings.Contains(body, "!Sub") {
		t.Errorf("want tags and no comments:\n%s", body)
	}
}

// Nothing depends on the order of maps.
func TestReadIsDeterministic(t *testing.T) {
	for _, dir := range append(folders(t, "testdata/accepted", 1), folders(t, "testdata/refused", 1)...) {
		all, err := archive.Folder(dir)
		if err != nil {
			t.Fatal(err)
		}
		one, firstErr := Read(all, options(t, dir))
		for range 5 {
			two, err := Read(all, options(t, dir))
			if diff := cmp.Diff(one, two); diff != "" {
				t.Errorf("%s:\n%s", dir, diff)
			}
			if (err == nil) != (firstErr == nil) || err != nil && err.Error() != firstErr.Error() {
				t.Errorf("%s: the first error is\n%v\nthe next\n%v", dir, firstErr, err)
			}
		}
	}
}

func TestDefaultTargetIsRequired(t *testing.T) {
	all := archive.Files{"stackwright.yaml": []byte("project: shop\nstacks:\n  a: {template: {Resources: {T: {Type: AWS::SNS::Topic}}}}\n")}
	if _, err := Read(all, Options{Targets: map[string]project.Target{"eu": {Name: "eu"}}}); err == nil {
		t.Error("a project is read without the default target")
	}
	if _, err := Read(all, Options{Targets: here()}); err != nil {
		t.Error(err)
	}
}
