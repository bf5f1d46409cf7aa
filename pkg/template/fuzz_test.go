package template_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/document"
	"github.com/stackwright/stackwright/pkg/template"
)

// Whatever the bytes, Parse ends with a template or with errors, and whatever
// the template, all of it can be evaluated knowing nothing, something or all.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"network.yaml", "service.json"} {
		body, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, expression := range []string{
		"!Sub ['${a}${Made.Arn}', {a: !Ref Text}]", "!Select [0, !Split ['-', 'a-b']]", "!FindInMap [M, !Ref Text, a, {DefaultValue: 1}]",
		"!If [Dark, !ImportValue x, {'Fn::Transform': {Name: y}}]", "!Cidr [10.0.0.0/16, 2]", "{'Fn::ForEach::X': [a, [b], {}]}", "!Ref", "!If", "{'Fn::ToJsonString': {a: [1]}}",
	} {
		f.Add(fmt.Appendf(nil, around, "!Or [!Condition Dark, !Equals [!Ref P, '']]", expression))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		read, err := template.Parse("t", body)
		if (read == nil) == (err == nil) {
			t.Fatalf("template %v, error %v", read, err)
		}
		if err != nil {
			if list := (document.Errors)(nil); !errors.As(err, &list) || len(list) == 0 {
				t.Fatalf("%T has no errors", err)
			}
			return
		}
		if len(read.Order()) != len(read.ResourceNames()) {
			t.Fatalf("order %v of %v", read.Order(), read.ResourceNames())
		}
		read.Capabilities()
		for _, scope := range []template.Scope{{}, {Parameters: read.Defaults(), StackName: "s", Region: "r"}, known()} {
			all(read.In(scope))
		}
	})
}

// all evaluates everything that a template has.
func all(e *template.Evaluation) (errs document.Errors) {
	errs.Join("t", e.Err())
	e.Exports()
	e.Imports()
	for _, r := range e.Resources() {
		_, err := e.Value(r.Properties)
		errs.Join("t", err)
	}
	for _, o := range e.Outputs() {
		_, err := e.Value(o.Value)
		errs.Join("t", err)
	}
	return errs
}

// Templates from the field, where some are at hand: all below the folder that
// STACKWRIGHT_INPUTS names are read and evaluated with their defaults.
func TestTemplatesFromTheField(t *testing.T) {
	folder := os.Getenv("STACKWRIGHT_INPUTS")
	if folder == "" {
		t.Skip("STACKWRIGHT_INPUTS does not name a folder of templates")
	}
	count := 0
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") || !strings.Contains(path, "/templates/") {
			return err
		}
		count++
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read, err := template.Parse(path, body)
		if err != nil {
			t.Error(err)
			return nil
		}
		scope := template.Scope{Parameters: read.Defaults(), StackName: "stack", Region: "us-east-1", AccountID: "000000000000", StackID: "id"}
		for _, name := range read.ParameterNames() {
			if p := read.Parameters[name]; p.Default != nil {
				if err := p.Check(*p.Default); err != nil {
					t.Errorf("%s: default: %v", path, err)
				}
			} else if len(p.AllowedValues) > 0 {
				scope.Parameters[name] = p.AllowedValues[0]
			} else {
				scope.Parameters[name] = strings.ToLower(name)
			}
		}
		e := read.In(scope)
		if errs := all(e); len(errs) > 0 {
			t.Error(errs)
		}
		if hidden := e.HiddenImports(); len(hidden) > 0 {
			t.Errorf("%s: hidden imports %v", path, hidden)
		}
		if diff := cmp.Diff(len(read.OutputNames()) > 0, len(e.Outputs()) > 0); diff != "" {
			t.Errorf("%s: outputs %s", path, diff)
		}
		return nil
	})
	if err != nil || count == 0 {
		t.Errorf("%d templates, %v", count, err)
	}
}
