package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A project uses the outputs of a stack of another project: they are read for each plan, so that a change of one updates its stack, and
// a plan without the stack is refused, or has the default.
func TestExternalOutputs(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(0.05)
	write := func(project, body string) string {
		folder := filepath.Join(t.TempDir(), project)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "stackwright.yaml"), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	legacy := func(value string) string {
		return write("legacy", "project: legacy\nstacks:\n  vpc:\n    template:\n      Resources: {T: {Type: AWS::SNS::Topic, Properties: {DisplayName: "+value+"}}}\n      Outputs: {Name: {Value: "+value+"}}\n")
	}
	shop := write("shop", `project: shop
stacks:
  app:
    template:
      Parameters: {P: {Type: String}, D: {Type: String}}
      Resources: {T: {Type: AWS::SNS::Topic, Properties: {DisplayName: !Ref P}}}
      Outputs: {P: {Value: !Ref P}, D: {Value: !Ref D}}
    parameters:
      P: ${upper(external:legacy-vpc.Name)}-${external:legacy-vpc.Name@default}
      D: ${external:legacy-vpc.Nope ?? 'none'}
`)
	r := l.run("deploy", shop)
	if r.code != cli.ExitRefused {
		t.Errorf("deploy without the stack ended with %d", r.code)
	}
	l.has(r.out+r.err, "stack app: parameter P: ${external:legacy-vpc.Name@default}: there is no stack legacy-vpc in target default")
	l.must(cli.ExitOK, "deploy", legacy("one"))
	l.has(l.must(cli.ExitOK, "deploy", shop), "1 created")
	l.project = shop
	l.has(l.must(cli.ExitOK, "outputs"), "ONE-one", "none")
	l.has(l.must(cli.ExitOK, "deploy", shop), "1 unchanged")
	l.must(cli.ExitOK, "deploy", legacy("two"))
	l.has(l.must(cli.ExitOK, "plan", shop), "TWO-two")
	l.has(l.must(cli.ExitOK, "deploy", shop), "1 updated")
	l.has(l.must(cli.ExitOK, "outputs"), "TWO-two")
}
