package packages

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// run packages a template of files.
func run(files archive.Files, name string) (Packed, *Packager, []string) {
	p := &Packager{Files: files, Store: Store{"uploads", "eu-west-1"}, Project: "shop", List: &problem.List{}, Admit: func([]byte) bool { return true }}
	packed, _ := p.Template(name, files[name], func(line, column int) problem.Position {
		return problem.Position{File: name, Line: line, Column: column}
	})
	return packed, p, fault.Messages(p.List.Err())
}

// Each place of the table is packaged, in YAML and in JSON, and nothing else of the template changes.
func TestPlaces(t *testing.T) {
	child := "Resources: {T: {Type: AWS::SNS::Topic}}\n"
	for _, p := range places {
		for _, kind := range []string{"yaml", "json"} {
			keys := strings.Split(p.property, ".")
			properties := map[string]any{"Other": "./f.txt"}
			inner := properties
			for _, k := range keys[:len(keys)-1] {
				inner[k] = map[string]any{}
				inner = inner[k].(map[string]any)
			}
			path := "./f.txt"
			if p.template {
				path = "../child.yaml"
			}
			inner[keys[len(keys)-1]] = path
			entry := map[string]any{"Type": p.of, "Properties": properties}
			name := "Thing"
			if p.section != "Resources" {
				entry, name = properties, p.of
			}
			whole := map[string]any{"Resources": map[string]any{"Any": map[string]any{"Type": "AWS::SNS::Topic", "Properties": map[string]any{"Path": "./f.txt"}}}}
			if p.section == "Resources" {
				whole["Resources"].(map[string]any)[name] = entry
			} else {
				whole[p.section] = map[string]any{name: entry}
			}
			body, err := json.MarshalIndent(whole, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if kind == "yaml" { // plain scalars instead of quoted ones
				body = bytes.ReplaceAll(body, []byte(fmt.Sprintf("%q", path)), []byte(path))
			}
			files := archive.Files{"sub/t." + kind: body, "sub/f.txt": []byte("text"), "child.yaml": []byte(child)}
			packed, packager, problems := run(files, "sub/t."+kind)
			if len(problems) > 0 || len(packed.Objects) != 1 {
				t.Errorf("%s %s in %s: %d objects, %v", p.of, p.property, kind, len(packed.Objects), problems)
				continue
			}
			digest := packed.Objects[0]
			want := strings.Replace(string(body), written(body, keys[len(keys)-1], path), written(body, keys[len(keys)-1], path)[:len(keys[len(keys)-1])+4]+p.form(packager.Store, Key(packager.Project, digest)), 1)
			if d := cmp.Diff(want, string(packed.Body)); d != "" {
				t.Errorf("%s %s in %s (- want, + got):\n%s", p.of, p.property, kind, d)
			}
			if root, err := document.Read("t", packed.Body); err != nil || root == nil {
				t.Errorf("%s %s in %s: %v", p.of, p.property, kind, err)
			}
			object := packager.Objects[digest]
			switch {
			case p.template && string(object) != child:
				t.Errorf("%s: the nested template is %q", p.of, object)
			case p.zip:
				r, err := zip.NewReader(bytes.NewReader(object), int64(len(object)))
				if err != nil || len(r.File) != 1 || r.File[0].Name != "f.txt" || r.File[0].Mode() != 0o755 {
					t.Errorf("%s: %v, %v", p.of, r, err)
				}
			case !p.template && string(object) != "text":
				t.Errorf("%s: the object is %q", p.of, object)
			}
			if (len(packed.Regional) == 1) != p.regional {
				t.Errorf("%s: %v is regional", p.of, packed.Regional)
			}
		}
	}
}

// written returns a key with its value as it is written in JSON or in YAML.
func written(body []byte, key, value string) string {
	quotedKey := fmt.Sprintf("%q: ", key)
	if quoted := quotedKey + fmt.Sprintf("%q", value); bytes.Contains(body, []byte(quoted)) {
		return quoted
	}
	return quotedKey + value
}

// Nested templates are packaged from the innermost outwards, each once, with paths that are relative to their own folders.
func TestNestedTemplates(t *testing.T) {
	files := archive.Files{
		"a.yaml":        []byte("Resources:\n  B: { Type: AWS::CloudFormation::Stack, Properties: { TemplateURL: nested/b.yaml } }\n  C: { Type: AWS::CloudFormation::Stack, Properties: { TemplateURL: 'nested/c.yaml' } }\n"),
		"nested/b.yaml": []byte("Resources:\n  C:\n    Type: AWS::CloudFormation::Stack\n    Properties:\n      TemplateURL: \"./c.yaml\" # the child\n"),
		"nested/c.yaml": []byte("Resources:\n  F:\n    Type: AWS::Lambda::Function\n    Properties:\n      Code: ../src\n"),
		"src/main.py":   []byte("print(1)\n"), "src/lib/x.py": []byte("x = 1\n"), "srcs/other.py": []byte(""),
	}
	packed, p, problems := run(files, "a.yaml")
	if len(problems) > 0 || len(packed.Objects) != 3 || len(p.Objects) != 3 || len(packed.Regional) != 2 {
		t.Fatalf("%d objects, %v regional, %v", len(packed.Objects), packed.Regional, problems)
	}
	parsed, err := template.Parse("a.yaml", files["a.yaml"])
	if err != nil || !packed.Pinned(parsed) {
		t.Errorf("a template whose nested templates are packaged is not pinned: %v", err)
	}
	var inner []string
	for _, body := range p.Objects {
		if r, err := zip.NewReader(bytes.NewReader(body), int64(len(body))); err == nil {
			for _, f := range r.File {
				inner = append(inner, f.Name)
			}
		}
	}
	if d := cmp.Diff([]string{"lib/x.py", "main.py"}, inner); d != "" {
		t.Error(d)
	}
	again, _, _ := run(maps.Clone(files), "a.yaml")
	if d := cmp.Diff(packed, again); d != "" {
		t.Errorf("the same files make another package:\n%s", d)
	}
	files["src/main.py"] = []byte("print(2)\n")
	changed, _, _ := run(files, "a.yaml")
	if bytes.Equal(changed.Body, packed.Body) {
		t.Error("the code has changed, and the template has not")
	}
	for _, o := range packed.Objects {
		if slices.Contains(changed.Objects, o) {
			t.Errorf("object %s has not changed", o)
		}
	}
}

// What a stack deploys follows from the project alone only if that is so for its nested templates.
func TestNestedTemplatesThatAreNotPinned(t *testing.T) {
	for body, want := range map[string]bool{
		"Resources: {T: {Type: AWS::SNS::Topic}}":                                                                     true,
		"Resources: {T: {Type: AWS::SNS::Topic, Properties: {DisplayName: '{{resolve:ssm:/x}}'}}}":                    false,
		"Transform: AWS::Serverless-2016-10-31\nResources: {F: {Type: AWS::Serverless::Function}}":                    true,
		"Transform: Ours\nResources: {T: {Type: AWS::SNS::Topic}}":                                                    false,
		"Resources: {S: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: https://b.s3.amazonaws.com/k}}}": false,
	} {
		files := archive.Files{"a.yaml": []byte("Resources: {B: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: b.yaml}}}"), "b.yaml": []byte(body)}
		packed, _, problems := run(files, "a.yaml")
		parsed, err := template.Parse("a.yaml", files["a.yaml"])
		if err != nil || len(problems) > 0 || packed.Pinned(parsed) != want {
			t.Errorf("%s: pinned is %t: %v %v", body, packed.Pinned(parsed), err, problems)
		}
	}
}

// A template without paths keeps its bytes, and so do values that are no paths.
func TestNothingToPackage(t *testing.T) {
	for _, body := range []string{
		"Resources: {F: {Type: AWS::Lambda::Function, Properties: {Code: {ZipFile: x}}}}",
		"Resources: {F: {Type: AWS::Serverless::Function, Properties: {CodeUri: s3://b/k}}}",
		"Resources: {F: {Type: AWS::Serverless::Function, Properties: {CodeUri: !Sub '${X}'}}}",
		"Resources: {F: {Type: AWS::Lambda::Function}}", "Resources: {F: {Type: AWS::Lambda::Function, Properties: {Code: }}}",
		"Resources: {S: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: https://b.s3.amazonaws.com/k}}}",
		"Resources: {S: {Type: AWS::Serverless::Application, Properties: {Location: {ApplicationId: a, SemanticVersion: 1.0.0}}}}",
		"Resources: {S: {Type: AWS::SNS::Topic, Properties: {Code: ./x, TemplateURL: ./y}}}",
		"Resources: {S: {Type: X, Fn::Transform: {Name: Other, Parameters: {Location: ./x}}}} # AWS::Include",
	} {
		packed, _, problems := run(archive.Files{"t.yaml": []byte(body)}, "t.yaml")
		if string(packed.Body) != body || len(problems)+len(packed.Objects) > 0 {
			t.Errorf("%s: %s, %v", body, packed.Body, problems)
		}
	}
}

// The macro AWS::Include gets its file from S3, in its three forms.
func TestIncludes(t *testing.T) {
	body := `Transform: { Name: AWS::Include, Parameters: { Location: ./a.yaml } }
Resources:
  T: { Type: AWS::SNS::Topic, Fn::Transform: { Name: AWS::Include, Parameters: { Location: "b.yaml" } } }
  Fn::ForEach::Each: [X, [a], { "Q${X}": { Type: AWS::Serverless::Function, Properties: { CodeUri: src, Tags: !Transform { Name: AWS::Include, Parameters: { Location: c.yaml } } } } }]
`
	files := archive.Files{"t.yaml": []byte(body), "a.yaml": []byte("a"), "b.yaml": []byte("b"), "c.yaml": []byte("c"), "src/x": []byte("x")}
	packed, p, problems := run(files, "t.yaml")
	if len(problems) > 0 || len(p.Objects) != 4 || strings.Count(string(packed.Body), `"s3://uploads/artifacts/shop/`) != 4 {
		t.Errorf("%v\n%s", problems, packed.Body)
	}
}

// The objects of a project are limited, however its folders contain one another.
func TestLimit(t *testing.T) {
	body := "Resources:\n"
	files := archive.Files{}
	folder := ""
	for i := range 6 {
		folder += "d/"
		body += fmt.Sprintf("  F%d: { Type: AWS::Lambda::Function, Properties: { Code: %s } }\n", i, folder)
	}
	files[folder+"large"] = bytes.Repeat([]byte("x"), 6<<20)
	files["t.yaml"] = []byte(body)
	_, p, problems := run(files, "t.yaml")
	if len(problems) != 1 || !strings.Contains(problems[0], "t.yaml:7:58: resource F5: Code: with it, the files that templates and hooks name make objects of more than 32 MB") {
		t.Errorf("%v", problems)
	}
	size := 0
	for _, o := range p.Objects {
		size += len(o)
	}
	if size > MaxBytes {
		t.Errorf("%d bytes", size)
	}
}

// A template that is not in the project names no file of it, however many folders its path goes up.
func TestTemplatesFromElsewhereNameNoFiles(t *testing.T) {
	const url = "https://example.com/a/t.yaml"
	list := &problem.List{}
	p := &Packager{
		Files: archive.Files{"src/main.py": []byte("x = 1\n")}, Store: Store{Bucket: "uploads", Region: "us-east-1"}, List: list,
		Admit: func([]byte) bool { return true },
	}
	body := []byte("Resources:\n  F: { Type: AWS::Lambda::Function, Properties: { Code: ../../../src } }\n")
	_, ok := p.Template(url, body, func(line, column int) problem.Position {
		return problem.Position{File: url, Line: line, Column: column}
	})
	if err := list.Err(); ok || len(p.Objects) > 0 || err == nil || !strings.Contains(err.Error(), "the template is not in the project, so it cannot name files of the project") {
		t.Errorf("packaged: %v, %d objects, %v", ok, len(p.Objects), err)
	}
}

// A folder that hooks use is a zip of its own, and has a limit of files. The whole project is none.
func TestFolder(t *testing.T) {
	p := &Packager{Files: archive.Files{"site/a": []byte("1"), "site/b/c": []byte("2"), "site-b/d": []byte("3"), "site.txt": []byte("4"), "site0": []byte("5")}, List: &problem.List{}}
	one, err := p.Folder("site", 2)
	if err != nil || len(p.Objects[one]) == 0 {
		t.Fatal(one, err)
	}
	if again, err := p.Folder("./site/", 2); err != nil || again != one {
		t.Errorf("%s, %v", again, err)
	}
	if file, err := p.Folder("site/a", 1); err != nil || file == one {
		t.Errorf("%s, %v", file, err)
	}
	for written, want := range map[string]string{"site": "site has 2 files: at most 1 are allowed: divide it into several folders", ".": ". is the whole project, with its project file: write the path of a file or a folder in it"} {
		if _, err := p.Folder(written, 1); err == nil || err.Error() != want {
			t.Errorf("%s: %v", written, err)
		}
	}
}
