package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// put writes a file of the project.
func (l *laptop) put(name, text string) {
	l.Helper()
	if err := os.WriteFile(filepath.Join(l.project, name), []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
}

// A rollback that fails is said with both reasons and the way out, the next runs say that it is the same failure, and
// --skip leaves the resource as it is.
func TestSkipWhatCannotBeRestored(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	l.put("stackwright.yaml", "project: sizes\nstacks:\n  a: { template: templates/a.yaml, parameters: { X: one } }\n")
	l.put("templates/a.yaml", "Parameters: { X: { Type: String } }\nResources:\n"+
		"  Size: { Type: AWS::SSM::Parameter, Properties: { Type: String, Value: !Ref X } }\n")
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	l.fail(h, cloudformation.Fault{Stack: "sizes-a", Operation: "update", Resource: "Size", Reason: "first cause", Times: 1})
	l.fail(h, cloudformation.Fault{Stack: "sizes-a", Operation: "rollback", Resource: "Size", Reason: "second cause"})
	l.edit("stackwright.yaml", "X: one", "X: two")
	way := "repair what Size needs, and retry; or leave it as it is, and correct it afterwards: stackwright deploy --skip a.Size"
	l.has(l.must(cli.ExitFailed, "deploy", l.project),
		"UPDATE_ROLLBACK_FAILED: Size (AWS::SSM::Parameter): first cause; and its rollback failed: "+
			"Size (AWS::SSM::Parameter): second cause: "+way)
	l.has(l.must(cli.ExitFailed, "deploy", l.project), "stack a: the rollback has failed because of Size since ",
		"; this run tries it once more: "+way, "the rollback has failed 2 times in the same way because of Size since ")
	l.has(l.must(cli.ExitFailed, "retry"), "the rollback has failed 3 times in the same way because of Size since ")
	l.has(l.must(cli.ExitRefused, "deploy", l.project, "--skip", "Size"), `skip: "Size": write STACK.RESOURCE`)
	l.has(l.must(cli.ExitOK, "plan", l.project, "--skip", "a.Size"), "its rollback skips Size: CloudFormation takes it for",
		"SKIPPED: a Size: CloudFormation takes it for restored")
	l.answers = "no\n"
	r := l.run("deploy", l.project, "--skip", "a.Size")
	l.has(r.err, "SKIPPED: a Size", "the answer was \"no\" and not yes")
	l.answers = "yes\n"
	l.has(l.must(cli.ExitOK, "deploy", l.project, "--skip", "a.Size"), "1 rolled back", "1 updated", "SKIPPED: a Size")
	l.has(l.must(cli.ExitOK, "audit"), "deploy, skips a.Size")
	l.must(cli.ExitOK, "refresh", l.project)
	refresh, _ := l.objects(l.must(cli.ExitOK, "runs", "-o", "json"))[0]["run"].(string)
	l.has(l.must(cli.ExitRefused, "retry", refresh, "--skip", "a.Size"), "which has no option skip: remove it")
}
