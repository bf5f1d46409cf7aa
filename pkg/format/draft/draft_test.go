package draft_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/draft"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/project"
)

func read(t *testing.T, files archive.Files) (format.Loaded, error) {
	t.Helper()
	home := project.Target{Name: project.DefaultTarget, Account: "000000000000", Region: "us-east-1"}
	return format.Read(files, format.Options{Name: "shop", Targets: map[string]project.Target{home.Name: home}})
}

// A folder of templates that gets a project file stays the same project: names, templates, values and dependencies. Only
// the capabilities are those that the templates need.
func TestTemplates(t *testing.T) {
	files, err := archive.Folder(filepath.Join("..", "testdata", "accepted", "plain"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".options.json", "want.json"} {
		delete(files, name)
	}
	files["odd.yaml"] = []byte("Parameters: {A: {Type: String}, B: {Type: CommaDelimitedList}, C: {Type: String}, D: {Type: Number}}\nResources: {T: {Type: AWS::SNS::Topic}}\n")
	values := map[string]any{"Parameters": map[string]any{"A": "${not.reference} $${x} \"'\\ # :\n\ttext ", "B": "a,b", "C": "yes", "D": "007"}, "Tags": map[string]string{"a b": "null", "~": ""}}
	if files["odd.params.json"], err = json.Marshal(values); err != nil {
		t.Fatal(err)
	}
	was, err := read(t, files)
	if err != nil {
		t.Fatal(err)
	}
	var list problem.List
	stacks := draft.Of(files, &list)
	files["stackwright.yaml"] = draft.File(draft.Project{Name: "shop", Stacks: stacks})
	golden.Same(t, "testdata/templates.yaml", string(files["stackwright.yaml"]))
	is, err := read(t, files)
	if err != nil || list.Err() != nil {
		t.Fatalf("%v %v\n%s", err, list.Err(), files["stackwright.yaml"])
	}
	was.Project.Kind = project.WithFile
	for _, p := range []project.Project{was.Project, is.Project} {
		for name, n := range p.Nodes {
			n.Capabilities = nil
			p.Nodes[name] = n
		}
	}
	if d := cmp.Diff(was.Project, is.Project); d != "" {
		t.Errorf("(- without a project file, + with it)\n%s\n%s", d, files["stackwright.yaml"])
	}
}

// Parameters without a value, and templates that cannot be read, are reported: the first in comments of the project file.
func TestIncompleteTemplates(t *testing.T) {
	files := archive.Files{
		"a.yaml": []byte("Parameters:\n  Key: {Type: String, NoEcho: true}\n  Zone: {Type: String, Description: '" + strings.Repeat("where # it is. ", 20) + "'}\n  Size: {Type: Number, Default: 1}\nResources: {R: {Type: AWS::IAM::Role, Properties: {AssumeRolePolicyDocument: {}}}}\n"),
	}
	var list problem.List
	files["stackwright.yaml"] = draft.File(draft.Project{Name: "shop", Stacks: draft.Of(files, &list)})
	golden.Same(t, "testdata/incomplete.yaml", string(files["stackwright.yaml"]))
	if _, err := read(t, files); list.Err() != nil || len(fault.Messages(err)) != 2 || !strings.Contains(err.Error(), "parameter Zone is missing") {
		t.Errorf("%v, %v", list.Err(), err)
	}
	draft.Of(archive.Files{"a.yaml": []byte("Resources: [")}, &list)
	if list.Err() == nil {
		t.Error("a template that cannot be read is accepted")
	}
}

// The example is a valid project.
func TestExample(t *testing.T) {
	files, stacks := draft.Example()
	files["stackwright.yaml"] = draft.File(draft.Project{Name: "shop", Stacks: stacks})
	golden.Same(t, "testdata/example.yaml", string(files["stackwright.yaml"]))
	p, err := read(t, files)
	if err != nil || len(p.Edges) != 1 {
		t.Errorf("%v %v", p.Edges, err)
	}
}

// Live stacks keep their names, values, tags and protection.
func TestLive(t *testing.T) {
	topic := []byte("Parameters: {P: {Type: String, Default: x}, Secret: {Type: String, NoEcho: true, Default: x}}\nResources: {T: {Type: AWS::SNS::Topic}}\n")
	files, stacks := draft.From("shop", "shop-", []draft.Live{
		{Name: "shop-vpc", Template: topic, Parameters: map[string]string{"P": "${x}", "Secret": "****"}, Tags: map[string]string{"team": "a", "aws:x": "1", "stackwright:stack": "y"}, Capabilities: []string{"CAPABILITY_IAM"}, Protected: true, Notifications: []string{"arn:aws:sns:us-east-1:111122223333:events"}, Triggers: project.RollbackTriggers{Alarms: []string{"arn:aws:cloudwatch:us-east-1:111122223333:alarm:errors"}, Minutes: 5}},
		{Name: "shop-", Template: topic}, {Name: "shop-DB", Template: []byte(` {"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}`)},
		{Name: "shop--db", Template: topic},
	})
	files["stackwright.yaml"] = draft.File(draft.Project{Name: "shop", Stacks: stacks})
	golden.Same(t, "testdata/live.yaml", string(files["stackwright.yaml"]))
	p, err := read(t, files)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range p.Project.Nodes {
		names = append(names, n.Stack)
	}
	slices.Sort(names)
	if d := cmp.Diff([]string{"shop-", "shop--db", "shop-DB", "shop-vpc"}, names); d != "" {
		t.Error(d)
	}
}
