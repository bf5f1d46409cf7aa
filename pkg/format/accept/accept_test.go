package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/golden"
	"github.com/stackwright/stackwright/pkg/plan"
)

// stacks reads the findings of a case: STACK RESOURCE TYPE PROPERTY: EXPECTED → ACTUAL, or deleted, modified, PROPERTY: secret or PROPERTY: cut in place
// of the values. Lines "given NAME at FILE:LINE:COLUMN: VALUE" are parameters of all stacks.
func stacks(t *testing.T, text string) []Stack {
	t.Helper()
	var all []Stack
	given := map[string]declared.Entry{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		words := strings.SplitN(line, " ", 4)
		switch {
		case line == "" || line[0] == '#':
			continue
		case words[0] == "given" && len(words) == 4:
			given[words[1]] = entry(t, words[3])
			continue
		case len(words) < 4:
			t.Fatalf("%q: not understood", line)
		}
		if len(all) == 0 || all[len(all)-1].Name != words[0] {
			all = append(all, Stack{Name: words[0], Compared: true, Parameters: given})
		}
		s := &all[len(all)-1]
		s.Findings = append(s.Findings, finding(t, words[1], words[2], words[3]))
	}
	return all
}

func entry(t *testing.T, text string) declared.Entry {
	t.Helper()
	words := strings.SplitN(text, ":", 4)
	line, err := strconv.Atoi(words[1])
	column, wrong := strconv.Atoi(words[2])
	if err != nil || wrong != nil {
		t.Fatal(text)
	}
	part := declared.Part{Literal: strings.TrimSpace(words[3])}
	if strings.HasPrefix(part.Literal, "${") {
		part = declared.Part{Reference: &declared.Reference{Written: part.Literal}}
	}
	return declared.Entry{Value: declared.Value{At: problem.Position{File: words[0], Line: line, Column: column}, Items: [][]declared.Part{{part}}}}
}

func finding(t *testing.T, resource, kind, text string) plan.Finding {
	t.Helper()
	f := plan.Finding{Kind: plan.DriftModified, Resource: resource, Type: kind}
	property, both, values := strings.Cut(text, ": ")
	if !values {
		f.Kind = property
		return f
	}
	f.Property = property
	expected, actual, differ := strings.Cut(both, " → ")
	switch {
	case both == "secret":
		f.Secret = true
	case both == "cut":
		f.Cut, f.Expected, f.Actual = true, "a", "b"
	case !differ:
		t.Fatalf("%q: not understood", text)
	default:
		value := strings.NewReplacer("(none)", "", `\n`, "\n")
		f.Expected, f.Actual = value.Replace(expected), value.Replace(actual)
	}
	return f
}

// report is a done template in words.
func report(d Done) string {
	var b strings.Builder
	for _, v := range d.Written {
		fmt.Fprintf(&b, "%s: %s: %s %s\n", v.Position, strings.Join(v.Stacks, ", "), v.Resource, v.Property)
	}
	for _, v := range d.Already {
		fmt.Fprintf(&b, "%s: already: %s %s\n", v.Position, v.Resource, v.Property)
	}
	for _, l := range d.Left {
		fmt.Fprintf(&b, "left: %s\n", l)
		if l.Parameter != "" {
			fmt.Fprintf(&b, "  parameter %s at %s\n", l.Parameter, l.ParameterAt)
		}
	}
	return b.String()
}

// Each folder is a template, what was found in its stacks, the template with the live values, and what was left.
func TestTemplate(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/template.*")
	if err != nil || len(cases) < 4 {
		t.Fatal(cases, err)
	}
	for _, path := range cases {
		dir, file := filepath.Split(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			drift, err := os.ReadFile(filepath.Join(dir, "drift.txt"))
			if err != nil {
				t.Fatal(err)
			}
			all := stacks(t, string(drift))
			d := Template(file, body, all)
			golden.Same(t, filepath.Join(dir, "want"+filepath.Ext(file)), string(d.Body))
			golden.Same(t, filepath.Join(dir, "want.txt"), report(d))
			if n := strings.Count(string(body), "#"); filepath.Ext(file) == ".yaml" && strings.Count(string(d.Body), "#") < n-3 {
				t.Errorf("comments are lost")
			}
			crlf := Template(file, []byte(strings.ReplaceAll(string(body), "\n", "\r\n")), all)
			if want := strings.ReplaceAll(string(d.Body), "\n", "\r\n"); string(crlf.Body) != want {
				t.Errorf("with other ends of lines, it is\n%s", crlf.Body)
			}
		})
	}
}

// What was written once is there already the second time.
func TestAgain(t *testing.T) {
	for _, name := range []string{"yaml/template.yaml", "json/template.json"} {
		dir, file := filepath.Split(filepath.Join("testdata", name))
		body, err := os.ReadFile(dir + file)
		if err != nil {
			t.Fatal(err)
		}
		drift, err := os.ReadFile(filepath.Join(dir, "drift.txt"))
		if err != nil {
			t.Fatal(err)
		}
		all := stacks(t, string(drift))
		for i := range all { // what is removed from a list moves its other items
			all[i].Findings = slices.DeleteFunc(all[i].Findings, func(f plan.Finding) bool {
				return f.Actual == "" && strings.HasSuffix(f.Property, "]")
			})
		}
		once := Template(file, body, all)
		again := Template(file, once.Body, all)
		if len(again.Written) > 0 || string(again.Body) != string(once.Body) || len(again.Already) != len(once.Written) {
			t.Errorf("%s: written again: %s", name, report(again))
		}
		if _, err := document.Read(file, once.Body); err != nil {
			t.Error(err)
		}
	}
}
