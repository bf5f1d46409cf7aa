package term_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/lib/golden"
)

// aDifference has one of each.
func aDifference() report.Difference {
	return report.Difference{
		From: report.ComparedRevision{Run: "aaaaaaaaaaaaaaaaaaaa"}, To: report.ComparedRevision{Run: "bbbbbbbbbbbbbbbbbbbb"},
		Files: []report.NamedChange{{Name: "db.yaml", Change: report.Changed}, {Name: "new\x1b[31m.yaml", Change: report.Added}},
		Stacks: []report.StackDifference{
			{Stack: "app", Change: report.Removed},
			{
				Stack: "db", Change: report.Changed, Template: true, Parameters: []report.NamedChange{{Name: "Size", Change: report.Changed}},
				Tags: []report.NamedChange{{Name: "team", Change: report.Added}}, Other: []string{"needs", "protect"},
			},
			{Stack: "web", Change: report.Added},
		},
		Templates: []report.TemplateDifference{
			{Stacks: []string{"db", "log"}, Text: "@@ -1,2 +1,2 @@\n Resources:\n-  A: 1\n+  A: \"````\"\n"},
			{Stacks: []string{"key"}, Omitted: "parameter Password is NoEcho and has a default, which is secret"},
		},
	}
}

// A difference is drawn for people, and as Markdown. Nothing of a template ends its block, or controls the terminal.
func TestDifference(t *testing.T) {
	d := aDifference()
	golden.Same(t, filepath.Join("testdata", "difference.txt"), strings.Join(term.Difference(d, false), "\n")+"\n")
	golden.Same(t, filepath.Join("testdata", "difference.md"), term.DifferenceMarkdown(d))
	coloured := strings.Join(term.Difference(d, true), "\n")
	for _, want := range []string{"\x1b[31m  - stack app\x1b[0m", "\x1b[32m+  A: \"````\"\x1b[0m", "\x1b[36m@@ -1,2 +1,2 @@\x1b[0m"} {
		if !strings.Contains(coloured, want) {
			t.Errorf("%q is not in %q", want, coloured)
		}
	}
	none := report.Difference{From: d.From, To: d.From}
	if got := term.Difference(none, false); len(got) != 2 || got[1] != "nothing differs" {
		t.Errorf("%q", got)
	}
	if got := term.DifferenceMarkdown(none); strings.Contains(got, "````") || !strings.Contains(got, "nothing differs") {
		t.Errorf("%q", got)
	}
	none.Messages = []string{"the stacks cannot be compared"}
	if got := strings.Join(term.Difference(none, false), "\n"); strings.Contains(got, "nothing differs") || !strings.Contains(got, "cannot be compared") {
		t.Errorf("%q", got)
	}
}

// A difference that is too long for a comment leaves templates out, and says how many.
func TestLongDifference(t *testing.T) {
	d := aDifference()
	for range 100 {
		d.Templates = append(d.Templates, report.TemplateDifference{Stacks: []string{"a"}, Text: "@@ -1 +1 @@\n+" + strings.Repeat("x", 2000) + "\n"})
	}
	got := term.DifferenceMarkdown(d)
	if n := len([]rune(got)); n > 65_536 || !strings.Contains(got, "more templates, for which there is no room here") {
		t.Errorf("%d characters: %s", n, got[len(got)-200:])
	}
}
