package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A project uses the outputs of a stack of another project: they are read for each plan, so that a change of one updates its stack, and
// a plan without the stack is refused, or has the default.
func TestExternalOutputs(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(0.05)
	write := func(name, body string) string { return projectOf(t, name, body) }
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

// An export of a stack of the project makes an edge and has its new value; one of another project is read for each plan.
func TestExports(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.serve(0.05)
	vpc := "    template:\n      Resources: {T: {Type: AWS::SNS::Topic, Properties: {DisplayName: VALUE}}}\n      Outputs: {Name: {Value: VALUE, Export: {Name: !Sub '${AWS::StackName}:Name'}}}\n"
	legacy := func(value string) string {
		return projectOf(t, "legacy", "project: legacy\nstacks:\n  vpc:\n"+strings.ReplaceAll(vpc, "VALUE", value))
	}
	shop := func(value string) string {
		return projectOf(t, "shop", "project: shop\nstacks:\n  vpc:\n"+strings.ReplaceAll(vpc, "VALUE", value)+`  app:
    template:
      Parameters: {P: {Type: String}, D: {Type: String}}
      Resources: {T: {Type: AWS::SNS::Topic, Properties: {DisplayName: !Ref P}}}
      Outputs: {P: {Value: !Ref P}, D: {Value: !Ref D}}
    parameters:
      P: ${export:shop-vpc:Name}-${upper(export:legacy-vpc:Name)}
      D: ${export:nobody ?? 'none'}
`)
	}
	r := l.run("deploy", shop("a"))
	if r.code != cli.ExitRefused {
		t.Errorf("deploy without the export ended with %d", r.code)
	}
	l.has(r.out+r.err, "stack app: parameter P: ${export:legacy-vpc:Name@default}: there is no export legacy-vpc:Name in target default")
	l.must(cli.ExitOK, "deploy", legacy("one"))
	l.has(l.must(cli.ExitOK, "graph", shop("a")), "app  (import shop-vpc:Name)")
	l.has(l.must(cli.ExitOK, "deploy", shop("a")), "2 created")
	l.project = shop("a")
	l.has(l.must(cli.ExitOK, "outputs"), "a-ONE", "none")
	l.has(l.must(cli.ExitOK, "deploy", shop("a")), "2 unchanged")
	l.must(cli.ExitOK, "deploy", legacy("two"))
	l.has(l.must(cli.ExitOK, "deploy", shop("b")), "2 updated")
	l.has(l.must(cli.ExitOK, "outputs"), "b-TWO")
}

// A plain parameter of the parameter store is read for each plan, so that a change of it updates the stack.
func TestStoredParameters(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	base := func(value string) string {
		return projectOf(t, "base", "project: base\nstacks:\n  p:\n    template:\n      Resources: {P: {Type: AWS::SSM::Parameter, Properties: {Name: /base/size, Type: String, Value: "+value+"}}}\n")
	}
	shopFile := `project: shop
stacks:
  app:
    template:
      Parameters: {P: {Type: String}, D: {Type: String}}
      Resources: {T: {Type: AWS::SNS::Topic, Properties: {DisplayName: !Ref P}}}
      Outputs: {P: {Value: !Ref P}, D: {Value: !Ref D}}
    parameters:
      P: ${upper(ssm-value:/base/size)}-${ssm-value:/base/size:1@default}
      D: ${ssm-value:/base/none ?? 'none'}
    tags: {size: "${ssm-value:/base/size}"}
`
	shop := projectOf(t, "shop", shopFile)
	r := l.run("deploy", shop)
	if r.code != cli.ExitRefused {
		t.Errorf("deploy without the parameter ended with %d", r.code)
	}
	l.has(r.out+r.err, "stack app: parameter P: ${ssm-value:/base/size@default}: there is no parameter /base/size in target default")
	l.must(cli.ExitOK, "deploy", base("small"))
	l.has(l.must(cli.ExitOK, "deploy", shop), "1 created")
	l.project = shop
	l.has(l.must(cli.ExitOK, "outputs"), "SMALL-small", "none")
	l.has(l.must(cli.ExitOK, "deploy", shop), "1 unchanged")
	l.must(cli.ExitOK, "deploy", base("large"))
	l.has(l.must(cli.ExitOK, "plan", shop), "LARGE-large")
	l.has(l.must(cli.ExitOK, "deploy", shop), "1 updated")

	wrong := projectOf(t, "wrong", strings.NewReplacer("project: shop", "project: wrong", "P: {Type: String}", "P: {Type: Number}").Replace(shopFile))
	r = l.run("deploy", wrong)
	l.has(r.out+r.err, "stack app: Parameter 'P' must be a number: the value is that of ${upper(ssm-value:/base/size@default)}-${ssm-value:/base/size:1@default}")

	// A rollback restores what the last successful deploy has read.
	l.must(cli.ExitOK, "deploy", base("huge"))
	l.fail(h, cloudformation.Fault{Stack: "shop-bad", Operation: "create", Times: 1})
	l.edit("stackwright.yaml", "stacks:\n", "stacks:\n  bad:\n    template:\n      Resources: {T: {Type: AWS::SNS::Topic}}\n")
	l.has(l.must(cli.ExitFailed, "deploy", shop, "--rollback"), "it restores the last successful deploy")
	l.has(l.must(cli.ExitOK, "outputs"), "LARGE-large")
}

// projectOf writes a project file into a folder of its own.
func projectOf(t *testing.T, name, body string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "stackwright.yaml"), []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}
