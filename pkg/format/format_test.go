package format

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/remote"
)

// A format is one function that yields a declared project, and one row of the
// table: this one has a line for each stack, with its template and its
// parameters.
func TestToyFormat(t *testing.T) {
	const file = "toy.txt"
	toy := reader{"toy", func(f archive.Files) bool { return f[file] != nil }, func(f archive.Files, _ *remote.Files, list *problem.List) (declared.Project, bool) {
		d := declared.Project{File: file, Name: "toy"}
		lines := bufio.NewScanner(bytes.NewReader(f[file]))
		for n := 1; lines.Scan(); n++ {
			at := problem.Position{File: file, Line: n, Column: 1}
			words := strings.Fields(lines.Text())
			s := declared.Stack{Name: words[0], At: at, Template: &declared.Template{At: at, Path: words[1]}}
			s.Settings.Parameters = map[string]declared.Entry{}
			for _, word := range words[2:] {
				name, written, _ := strings.Cut(word, "=")
				parts, err := reference.Parse(written)
				if err != nil {
					list.Add(at, "%v", err)
				}
				s.Settings.Parameters[name] = declared.Entry{At: at, Value: declared.Value{At: at, Items: [][]declared.Part{parts}}}
			}
			d.Stacks = append(d.Stacks, s)
		}
		return d, true
	}, nil}
	load := func(text string) (Loaded, error) {
		return readAs(append([]reader{toy}, formats...), archive.Files{
			file: []byte(text), "a.yaml": []byte(small), "b.yaml": []byte("Parameters:\n  P: {Type: String}\n" + small),
		}, Options{Targets: here()})
	}
	l, err := load("a a.yaml\nb b.yaml P=${a.Arn}\n")
	if err != nil {
		t.Fatal(err)
	}
	isConsistent(t, l)
	if b := l.Project.Nodes["b"]; len(l.Project.Nodes) != 2 || b.Stack != "toy-b" || len(b.Needs) != 1 || b.Needs[0] != "a" {
		t.Errorf("%+v", l.Project)
	}
	_, err = load("a a.yaml\nb b.yaml P=${a.Arm} Q=1\n")
	want := "toy.txt:2:1: stack b: parameter Q: b.yaml has no such parameter: available: P\ntoy.txt:2:1: stack b: parameter P: ${a.Arm}: stack a has no output Arm: did you mean Arn?"
	if got := strings.Join(fault.Messages(err), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Of a pattern, a name is read that fits it and nothing better.
func TestEnvironmentsOfPatterns(t *testing.T) {
	file := "project: shop\nstacks: { a: { template: a.yaml } }\nenvironments: { prod: {}, 'pr-*': {}, 'pr-1*': {}, '*': {}, 'qa-1': {}, 'qa-*': {} }\n"
	if got := Environments(archive.Files{"stackwright.yaml": []byte(file)}); !slices.Equal(got, []string{"prod", "pr-2", "pr-11", "1", "qa-1", "qa-2"}) {
		t.Errorf("%v", got)
	}
}
