package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A stack is never known to be unchanged if CloudFormation resolves a reference without a version in one of its parameters, also
// if the reference is computed or is the output of a stack.
func TestComputedDynamicReferences(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.project = t.TempDir()
	for name, body := range map[string]string{
		"stackwright.yaml": `project: pinned
stacks:
  name: { template: name.yaml }
  early: { template: t.yaml, parameters: { P: "${join('', ['{{resol', 've:secretsmanager:size}}'])}" } }
  late: { template: t.yaml, parameters: { P: "${join('', ['{{resol', 've:secretsmanager:', name.Name, '}}'])}" } }
  output: { template: t.yaml, parameters: { P: "${name.Reference}" } }
  version: { template: t.yaml, parameters: { P: "${join('', ['{{resol', 've:ssm:/', name.Name, ':3}}'])}" } }
`,
		"name.yaml": "Resources: { T: { Type: AWS::SNS::Topic } }\nOutputs: { Name: { Value: size }, Reference: { Value: \"{{resolve:secretsmanager:size}}\" } }\n",
		"t.yaml":    "Parameters: { P: { Type: String } }\nResources: { T: { Type: AWS::SNS::Topic } }\n",
	} {
		if err := os.WriteFile(filepath.Join(l.project, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l.serve(0.05)
	l.has(l.must(cli.ExitOK, "deploy", l.project), "5 created")
	l.has(l.must(cli.ExitOK, "plan", l.project), "~? early  may change", "~? late  may change", "~? output  may change", "without a version in its parameters or tags", "2 unchanged")
	l.has(l.must(cli.ExitOK, "deploy", l.project), "late/update  (unchanged", "output/update  (unchanged", "5 unchanged")
}
