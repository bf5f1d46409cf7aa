package format

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/cdk"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/project"
)

// assembly is that of examples/cdk, and how it is read with targets in the accounts and regions of its stages.
func assembly(t *testing.T) (archive.Files, Options) {
	t.Helper()
	all, err := archive.Folder("../../examples/cdk/cdk.out")
	if err != nil {
		t.Fatal(err)
	}
	targets := here()
	targets["eu"] = project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}
	return all, Options{Name: "shop", Targets: targets, Store: packages.Store{Bucket: "uploads", Region: "us-east-1"}}
}

// The golden file has what Read makes of the example, and the assets of each stack.
func TestCloudAssembly(t *testing.T) {
	all, o := assembly(t)
	l, err := Read(all, o)
	if err != nil {
		t.Fatal(err)
	}
	isConsistent(t, l)
	assets := map[string][]project.Asset{}
	for name, n := range l.Project.Nodes {
		assets[name] = n.Assets
		for _, a := range n.Assets {
			if l.Objects[a.Digest] == nil {
				t.Errorf("%s: %s has no bytes", name, a.Key)
			}
		}
		for _, digest := range l.Needs[n.Template.Digest] {
			if l.Objects[digest] == nil {
				t.Errorf("%s needs an object %s that is not there", name, digest)
			}
		}
	}
	got, err := json.MarshalIndent(map[string]any{"loaded": l, "assets": assets}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "testdata/cdk.json", string(got)+"\n")
}

// A newer assembly is read as an older one if its keys are known. What it has besides, and nothing to do with a
// deploy, is a warning.
func TestNewerCloudAssembly(t *testing.T) {
	all, o := assembly(t)
	before, err := Read(all, o)
	if err != nil {
		t.Fatal(err)
	}
	newer := maps.Clone(all)
	for name, body := range newer {
		if strings.HasSuffix(name, "manifest.json") || strings.HasSuffix(name, "assets.json") {
			newer[name] = versionOf.ReplaceAll(body, []byte(`"version": "99.0.0"`))
		}
	}
	newer["manifest.json"] = bytes.Replace(newer["manifest.json"], []byte(`"artifacts": {`),
		[]byte(`"hints": {}, "artifacts": {"Flags": {"type": "cdk:feature-flag-report", "properties": {"module": "x"}}, "Order": {"type": "cdk:order"},`), 1)
	after, err := Read(newer, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Project.Nodes, after.Project.Nodes); diff != "" {
		t.Errorf("the version alone changes the project:\n%s", diff)
	}
	want := []string{
		`manifest.json:3:3: the manifest has the key "hints", which this Stackwright does not know: it is not read`,
		`manifest.json:3:93: Order has the type "cdk:order", which this Stackwright does not know: it is left out`,
	}
	for i, w := range after.Project.Warnings {
		if i >= len(want) || !strings.HasSuffix(w, want[i][strings.Index(want[i], ": "):]) {
			t.Errorf("warnings %q, want %q", after.Project.Warnings, want)
		}
	}
	if len(after.Project.Warnings) != len(want) {
		t.Errorf("warnings %q, want %q", after.Project.Warnings, want)
	}
}

var versionOf = regexp.MustCompile(`"version": ?"[0-9.]+"`)

// Without a target in its account and region a stack is refused once for all stacks there, and validate knows which target it needs.
func TestRequiredTargets(t *testing.T) {
	all, o := assembly(t)
	delete(o.Targets, "eu")
	l, err := Read(all, o)
	want := map[string]project.Target{"aws-111111111111-eu-west-1": {Name: "aws-111111111111-eu-west-1", Account: "111111111111", Region: "eu-west-1"}}
	if diff := cmp.Diff(want, l.Required); diff != "" || err == nil || len(l.Unregistered) != 1 {
		t.Errorf("%v\n%s", err, diff)
	}
}

// A mapping chooses among targets in one account and region, and is uploaded with the files.
func TestMapOfEnvironments(t *testing.T) {
	all, o := assembly(t)
	o.Targets["twin"] = project.Target{Name: "twin", Account: "111111111111", Region: "eu-west-1"}
	mapped, err := cdk.Map(all, []string{"aws://111111111111/eu-west-1=twin"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(mapped, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Project.Nodes["Prod/App"].Target.Name; got != "twin" {
		t.Errorf("the target is %s", got)
	}
	again, err := cdk.Map(mapped, []string{"aws://111111111111/eu-west-1=eu"})
	if err != nil {
		t.Fatal(err)
	}
	if l, err = Read(again, o); err != nil || l.Project.Nodes["Prod/App"].Target.Name != "eu" {
		t.Errorf("a mapping that is given does not come before those that are there: %v", err)
	}
	for _, wrong := range []string{"prod", "=prod", "aws://unknown-account/unknown-region="} {
		if _, err := cdk.Map(all, []string{wrong}); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

// The bytes of an asset are in the digest of its object, and hidden files of an asset are part of it.
func TestAssetsOfAnAssembly(t *testing.T) {
	all, o := assembly(t)
	before, err := Read(all, o)
	if err != nil {
		t.Fatal(err)
	}
	changed := maps.Clone(all)
	for name := range all {
		if bytes.HasPrefix([]byte(name), []byte("asset.")) {
			changed[name[:len("asset.")+64]+"/.env"] = []byte("X=1\n")
		}
	}
	packed, err := archive.Pack(changed)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err = archive.Unpack("again.zip", packed); err != nil {
		t.Fatal(err)
	}
	after, err := Read(changed, o)
	if err != nil {
		t.Fatal(err)
	}
	one, two := before.Project.Nodes["Beta/Functions"].Assets[0], after.Project.Nodes["Beta/Functions"].Assets[0]
	if one.Digest == two.Digest || one.Key != two.Key {
		t.Errorf("%+v\n%+v", one, two)
	}
}
