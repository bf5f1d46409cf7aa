package convert_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/convert"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/project"
)

// reader reads a project that is called shop if its files do not say its name.
func reader(f archive.Files, environment string) (format.Loaded, error) {
	targets := map[string]project.Target{}
	for name, account := range map[string]string{project.DefaultTarget: "000000000000", "prod": "222222222222", "other": "111111111111", "team": "000000000000", "data": "222222222222"} {
		targets[name] = project.Target{Name: name, Account: account, Region: "us-east-1"}
	}
	o := format.Options{Name: "shop", Environment: environment, Targets: targets}
	l, err := format.Read(f, o)
	for i, name := range l.Unregistered {
		targets[name] = project.Target{Name: name, Account: strings.Repeat(string(rune('3'+i)), 12), Region: l.Required[name].Region}
	}
	if len(l.Unregistered) > 0 {
		return format.Read(f, o)
	}
	return l, err
}

func folder(t *testing.T, dir string, without ...string) archive.Files {
	t.Helper()
	files, err := archive.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range without {
		delete(files, name)
	}
	return files
}

// Every Sceptre project whose reading is compared with Sceptre's, and a folder of templates, becomes a project file
// whose stacks have the digests of before.
func TestSameDigests(t *testing.T) {
	all, err := filepath.Glob("../sceptre/testdata/trees/*")
	if err != nil || len(all) < 25 {
		t.Fatalf("%d trees, %v", len(all), err)
	}
	all = slices.DeleteFunc(all, func(dir string) bool { return filepath.Base(dir) == "http" }) // see TestRefused
	for _, dir := range append(all, "../testdata/accepted/plain", "../../../examples/sceptre") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			files := folder(t, dir, "want.json", ".options.json")
			c, err := convert.Project(files, reader)
			if err != nil {
				t.Fatalf("%v\n%s", err, c.Files[convert.Name])
			}
			path := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Template.Path" }, cmp.Ignore()) // only plans show it
			stacks := 0
			for _, p := range c.Projects {
				was, err := reader(files, p.Environment)
				if err != nil || was.Project.Kind == project.WithFile || p.Kind != project.WithFile {
					t.Fatal(err)
				}
				if d := cmp.Diff(was.Project.Nodes, p.Nodes, path); d != "" {
					t.Errorf("%s (- before, + converted)\n%s", p.ID(), d)
				}
				stacks += len(p.Nodes)
			}
			if stacks == 0 {
				t.Error("there are no stacks")
			}
		})
	}
}

// The project file has the comments of the configurations, lists and references, and what all stacks have in common once.
func TestFile(t *testing.T) {
	c, err := convert.Project(folder(t, "testdata/commented"), reader)
	if err != nil {
		t.Fatal(err)
	}
	golden.Same(t, "testdata/commented.yaml", string(c.Files[convert.Name]))
	want := []string{"stackwright.yaml", "templates/dev/queue.yaml", "templates/dev/queue2.yaml", "templates/topic.yaml"}
	if d := cmp.Diff(want, c.Files.Paths()); d != "" {
		t.Error(d)
	}
	if len(c.LeftOut) > 0 {
		t.Errorf("left out: %q", c.LeftOut)
	}
}

// A stack that Sceptre ignores is written as one that operations leave alone. One that cannot be read is left out and named.
func TestIgnored(t *testing.T) {
	files := archive.Files{
		"config/config.yaml": []byte("{project_code: shop, region: us-east-1}"), "config/a.yaml": []byte("{template: {path: t.yaml}, parameters: {A: a}}"),
		"config/b.yaml":    []byte("{template: {path: t.yaml}, parameters: {A: !stack_output a.yaml::O}, ignore: true}"),
		"config/c.yaml":    []byte("{template: {path: t.yaml}, parameters: {A: !stack_output b.yaml::O}}"),
		"templates/t.yaml": []byte("Parameters: {A: {Type: String}}\nResources: {T: {Type: AWS::SNS::Topic}}\nOutputs: {O: {Value: !Ref T}}\n"),
	}
	c, err := convert.Project(files, reader)
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Projects[0]; !slices.Equal(p.Ignored, []string{"b"}) || len(p.Nodes) != 3 || len(c.LeftOut) > 0 || !slices.Equal(p.Nodes["c"].Needs, []string{"b"}) {
		t.Errorf("%+v, left out %q", p, c.LeftOut)
	}
	files["config/b.yaml"] = []byte("{template: {path: t.yaml}, ignore: true}")
	_, err = convert.Project(files, reader)
	want := []string{"config/b.yaml: stack b: parameter A is missing: its template has no default for it: write it under parameters: in config/b.yaml"}
	if d := cmp.Diff(want, fault.Messages(err)); d != "" {
		t.Errorf("c uses what is ignored and not valid:\n%s", d)
	}
	delete(files, "config/c.yaml")
	c, err = convert.Project(files, reader)
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Projects[0]; len(p.Ignored) > 0 || len(p.Nodes) != 1 || !slices.Equal(c.LeftOut, []string{"b"}) {
		t.Errorf("%+v, left out %q", p, c.LeftOut)
	}
}

// A stack that is obsolete in Sceptre is obsolete in the project file. One that cannot be read is left out and named.
func TestObsolete(t *testing.T) {
	files := archive.Files{
		"config/config.yaml": []byte("{project_code: shop, region: us-east-1}"), "config/a.yaml": []byte("{template: {path: t.yaml}, parameters: {A: !stack_output b.yaml::O}}"),
		"config/b.yaml":    []byte("{template: {path: t.yaml}, parameters: {A: a}, obsolete: true, ignore: true}"),
		"templates/t.yaml": []byte("Parameters: {A: {Type: String}}\nResources: {T: {Type: AWS::SNS::Topic}}\nOutputs: {O: {Value: !Ref T}}\n"),
	}
	c, err := convert.Project(files, reader)
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Projects[0]; len(p.Ignored) > 0 || !slices.Equal(p.Obsolete, []string{"b"}) || !slices.Equal(p.Nodes["a"].Needs, []string{"b"}) || len(c.LeftOut) > 0 {
		t.Errorf("%+v, left out %q", p, c.LeftOut)
	}
	files["config/a.yaml"] = []byte("{template: {path: t.yaml}, parameters: {A: a}}")
	files["config/b.yaml"] = []byte("{template: {path: t.yaml}, obsolete: true}")
	c, err = convert.Project(files, reader)
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Projects[0]; len(p.Obsolete) > 0 || len(p.Nodes) != 1 || !slices.Equal(c.LeftOut, []string{"b"}) {
		t.Errorf("%+v, left out %q", p, c.LeftOut)
	}
}

// Literal $ before a reference stay: a project file reads $${ as a literal ${.
func TestDollarBeforeReference(t *testing.T) {
	files := archive.Files{
		"config/config.yaml": []byte("{project_code: shop, region: us-east-1}"),
		"config/a.yaml":      []byte("{template: {path: t.yaml}, parameters: {A: !sub [\"$${b}\", {b: !stack_output b.yaml::O}]}}"),
		"config/b.yaml":      []byte("{template: {path: t.yaml}, parameters: {A: \"$${a}\"}}"),
		"templates/t.yaml":   []byte("Parameters: {A: {Type: String}}\nResources: {T: {Type: AWS::SNS::Topic}}\nOutputs: {O: {Value: !Ref T}}\n"),
	}
	c, err := convert.Project(files, reader)
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Files[convert.Name])
	}
	want := map[string]project.Text{"a": {{Literal: "$$"}, {Node: "b", Output: "O"}}, "b": project.Literal("$${a}")}
	for name, text := range want {
		if d := cmp.Diff(text, c.Projects[0].Nodes[name].Parameters["A"]); d != "" {
			t.Errorf("%s (- want, + got)\n%s\n%s", name, d, c.Files[convert.Name])
		}
	}
}

// A project file that would have another effect is not written.
func TestAnotherEffect(t *testing.T) {
	other := func(f archive.Files, environment string) (format.Loaded, error) {
		l, err := reader(f, environment)
		if n, ok := l.Project.Nodes["db"]; ok && l.Project.Kind == project.WithFile {
			n.Parameters = map[string]project.Text{"Size": project.Literal("large")}
			l.Project.Nodes["db"] = n
		}
		return l, err
	}
	template := "Parameters: {Size: {Type: String, Default: small}}\nResources: {T: {Type: AWS::SNS::Topic}}\n"
	files := archive.Files{"db.yaml": []byte(template), "parameters/db.json": []byte(`["Size=small"]`)}
	c, err := convert.Project(files, other)
	want := []string{"shop@default: stack db: parameter Size cannot be written in a project file with the same effect: write the project by hand"}
	if d := cmp.Diff(want, fault.Messages(err)); d != "" {
		t.Errorf("%s%v", d, c.Files.Paths())
	}
}

// What cannot be converted is refused, with all reasons.
func TestRefused(t *testing.T) {
	sceptre := func(config string) archive.Files {
		return archive.Files{
			"config/config.yaml": []byte("{project_code: shop, region: us-east-1}"), "config/a.yaml": []byte(config),
			"templates/t.yaml": []byte("Parameters: {A: {Type: String}}\nResources: {T: {Type: AWS::SNS::Topic}}\nOutputs: {O: {Value: !Ref T}}\n"),
		}
	}
	for name, c := range map[string]struct {
		files archive.Files
		want  string
	}{
		"a project file": {folder(t, "../testdata/accepted/minimal", "want.json", ".options.json"), "stackwright.yaml is a project file already: there is nothing to convert"},
		"an assembly":    {archive.Files{"manifest.json": []byte(`{"version": "38.0.0", "artifacts": {}}`)}, "a CDK cloud assembly is not converted, because a project file cannot name assets to publish: deploy the folder cdk.out itself"},
		"not valid":      {sceptre("{template: {path: t.yaml}}"), "config/a.yaml: stack a: parameter A is missing: its template has no default for it: write it under parameters: in config/a.yaml"},
		"from elsewhere": {sceptre("{template: {type: http, url: 'https://example.com/t.yaml'}}"), "the project uses https://example.com/t.yaml, which is not in it: save the file in the project, and write its path"},
		"no project":     {archive.Files{}, "there is no stackwright.yaml at the top of the project, and no CloudFormation template: write one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := convert.Project(c.files, reader)
			if got := fault.Messages(err); len(got) != 1 || got[0] != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// Hooks that are not the same are named.
func TestOtherHooks(t *testing.T) {
	files, reads := folder(t, "../sceptre/testdata/trees/hooks", "want.json"), 0
	_, err := convert.Project(files, func(f archive.Files, environment string) (format.Loaded, error) {
		l, err := reader(f, environment)
		if reads++; reads == 2 {
			n := l.Project.Nodes["inherits"]
			n.Hooks = n.Hooks[:1]
			l.Project.Nodes["inherits"] = n
		}
		return l, err
	})
	want := "shop@default: stack inherits: hooks cannot be written in a project file with the same effect: write the project by hand"
	if got := fault.Messages(err); !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
}
