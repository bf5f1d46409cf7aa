package cdk_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/project"
)

// Reading an assembly never panics, ends, takes bounded memory, publishes nothing but files of the assembly, and gives the
// same project or the same problems again.
func FuzzRead(f *testing.F) {
	example, err := archive.Folder("../../../examples/cdk/cdk.out")
	if err != nil {
		f.Fatal(err)
	}
	const stage = "assembly-Beta/"
	assets := ""
	for _, name := range example.Paths() {
		if strings.HasPrefix(name, stage) && strings.HasSuffix(name, ".assets.json") {
			assets = name
			f.Add(example[stage+"manifest.json"], example[name], []byte("{targets: []}"))
		}
	}
	f.Add(example["manifest.json"], []byte(`{"version": "54.0.0", "files": {"a": {"source": {"path": "..", "packaging": "zip"}}}}`), []byte(`{project: x}`))
	f.Add([]byte(`{"version": "54.0.0", "artifacts": {"a": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "."}}, "b": {"dependencies": ["b"]}}}`), []byte("{}"), []byte("[]"))
	targets := map[string]project.Target{}
	for name, account := range map[string]string{project.DefaultTarget: "000000000000", "beta": "111111111111", "prod": "222222222222"} {
		targets[name] = project.Target{Name: name, Account: account, Region: "us-east-1"}
	}
	f.Fuzz(func(t *testing.T, manifest, asset, side []byte) {
		files := archive.Files{}
		for name, body := range example {
			files[name] = body
		}
		files[stage+"manifest.json"], files[assets], files["cdk.yaml"] = manifest, asset, side
		o := format.Options{Name: "shop", Targets: targets}
		var l format.Loaded
		var err error
		contract.Memory(t, len(manifest)+len(asset)+len(side), 64<<20, 10_000, func() { l, err = format.Read(files, o) })
		if n := len(fault.Messages(err)); err != nil && (!fault.Is(err, fault.Invalid) || n > problem.MaxReported+1) {
			t.Errorf("%q, %d messages: %v", fault.KindOf(err), n, err)
		}
		for _, n := range l.Project.Nodes {
			for _, a := range n.Assets {
				if _, ok := l.Objects[a.Digest]; !ok {
					t.Errorf("%s publishes %s, which is no file of the assembly", n.Name, a.Digest)
				}
			}
		}
		_, again := format.Read(files, o)
		if diff := cmp.Diff(fault.Messages(err), fault.Messages(again)); diff != "" {
			t.Errorf("read again it has other problems:\n%s", diff)
		}
	})
}
