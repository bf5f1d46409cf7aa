package term_test

import (
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A plan of some stacks says which are added and left out, and why, as text and in Markdown. Nothing in that can end a block of Markdown.
func TestPlanOfSomeStacks(t *testing.T) {
	c := manyChanges(1, 0)
	c.Selection = &plan.ShownSelection{
		Selected: 2, Others: 7,
		Added:   []plan.ChosenFor{{Stack: "network/vpc", Why: "app/web depends on it"}},
		LeftOut: []plan.ChosenFor{{Stack: "data/db", Why: "excluded by --exclude 'data/*'"}, {Stack: "x", Why: "```` @team"}},
	}
	text := strings.Join(term.Plan(c, 80, false), "\n")
	for _, want := range []string{"  added: network/vpc (app/web depends on it)", "  left out: data/db (excluded by --exclude 'data/*')", "  left out: 7 stacks (not selected)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
		if markdown := term.Markdown(c); !strings.Contains(markdown, want) || strings.Count(markdown, "````")%2 != 0 {
			t.Errorf("no %q in\n%s", want, markdown)
		}
	}
}
