package template_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// Whatever the bytes, Parse ends with a template or with errors that have their
// places, and whatever the template, all of it can be evaluated knowing nothing,
// something or all: twice alike, and in bounded memory.
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
	f.Add([]byte("Resources: {R: {Type: 'A::B::C', Properties: {X: " + strings.Repeat("!Sub ['${a}${a}', {a: ", 30) + "x" + strings.Repeat("}]", 30) + "}}}"))
	f.Add([]byte("Transform: AWS::LanguageExtensions\nResources: {R: {Type: 'A::B::C', Properties: {X: " + strings.Repeat("{'Fn::ToJsonString': {'\\\\': ", 30) + "'\"'" + strings.Repeat("}}", 30) + "}}}"))
	f.Add([]byte("Resources: {A: {Type: 'A::B::C', DependsOn: B}, B: {Type: 'A::B::C', DependsOn: A}}"))
	f.Add([]byte("Conditions: {A: !Not [!Condition B], B: !Not [!Condition A]}\nResources: {R: {Type: 'A::B::C'}}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var read *template.Template
		var err error
		contract.Memory(t, len(body), 8<<20, 5000, func() { read, err = template.Parse("t", body) })
		if (read == nil) == (err == nil) {
			t.Fatalf("template %v, error %v", read, err)
		}
		again, second := template.Parse("t", body)
		if diff := cmp.Diff(fmt.Sprint(err), fmt.Sprint(second)); diff != "" {
			t.Fatalf("read again it has other errors:\n%s", diff)
		}
		if err != nil {
			placed(t, err, len(body))
			return
		}
		sorted(t, read)
		read.Capabilities()
		for _, scope := range []template.Scope{{}, {Parameters: read.Defaults(), StackName: "s", Region: "r"}, known()} {
			scope.Room = template.NewRoom(1 << 20)
			var one, two string
			// What is made is counted when it is there, and JSON and text are made in some copies.
			contract.Memory(t, len(body), 32<<20, 5000, func() { one = all(t, read.In(scope)) })
			scope.Room = template.NewRoom(1 << 20)
			if two = all(t, again.In(scope)); one != two {
				t.Fatalf("evaluated again it is another:\n%s", cmp.Diff(one, two))
			}
		}
	})
}

// placed says that errors are some, and have their places.
func placed(t *testing.T, err error, size int) {
	t.Helper()
	list := (document.Errors)(nil)
	if !errors.As(err, &list) || len(list) == 0 || len(list) > 100 {
		t.Fatalf("%T has %d errors", err, len(list))
	}
	for _, e := range list {
		if e.File != "t" || e.Text == "" || e.Line > size+2 || len(e.Text) > 1000+5*size {
			t.Errorf("%.300v has no place", e)
		}
	}
}

// sorted says that each resource has its place, and comes after those it needs.
func sorted(t *testing.T, read *template.Template) {
	t.Helper()
	at := map[string]int{}
	for i, name := range read.Order() {
		at[name] = i
	}
	if len(at) != len(read.ResourceNames()) {
		t.Fatalf("order %v of %v", read.Order(), read.ResourceNames())
	}
	for _, name := range read.ResourceNames() {
		for _, need := range read.Needs(name) {
			if i, ok := at[need]; ok && i >= at[name] {
				t.Errorf("%s comes before %s, which it needs", name, need)
			}
		}
		if r := read.Resources[name]; r.Line < 1 || r.Column < 1 || r.Name != name {
			t.Errorf("resource %s is %s, at %d:%d", name, r.Name, r.Line, r.Column)
		}
	}
}

// all evaluates everything that a template has, and tells what it is.
func all(t *testing.T, e *template.Evaluation) string {
	t.Helper()
	var b strings.Builder
	tell := func(v any, err error) {
		text, broken := json.Marshal(v)
		if broken != nil {
			t.Fatalf("%v cannot be written: %v", v, broken)
		}
		fmt.Fprintf(&b, "%.1000s %v\n", text, err)
	}
	tell(e.Exports(), e.Err())
	tell(e.Imports(), nil)
	for _, r := range e.Resources() {
		v, err := e.Value(r.Properties)
		tell(v, err)
	}
	for _, o := range e.Outputs() {
		v, err := e.Value(o.Value)
		tell(v, err)
	}
	return b.String()
}

// wrong lists what goes wrong when everything is evaluated.
func wrong(e *template.Evaluation) (errs document.Errors) {
	errs.Join("t", e.Err())
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
		if errs := wrong(e); len(errs) > 0 {
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
