package term_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/plan"
)

// manyChanges is a plan that changes n stacks, and some resources in each. Every 50th loses
// data.
func manyChanges(n, resources int) plan.Changes {
	c := plan.Changes{Operation: "plan", Project: "shop", Environment: "prod", Summary: plan.Summary{Update: n}, Seconds: 90}
	for i := range n {
		s := plan.StackChange{Stack: fmt.Sprintf("app/service-%03d", i), Action: plan.ActionUpdate, Certainty: plan.Certain, Steps: []string{"s/update"}, Reasons: []string{"changed here: template"}}
		for j := range resources {
			before, after := "`````", strings.Repeat("</details>", 100)
			s.Resources = append(s.Resources, plan.ResourceChange{
				ID: fmt.Sprintf("Function%d", j), Type: "AWS::Lambda::Function", Action: difference.Modify, Replacement: resource.Never,
				Properties: []plan.PropertyChange{{Path: "Description", Before: &before, After: &after, Replacement: resource.Never}},
			})
		}
		if i%50 == 49 {
			s.DataLoss, s.Replaces = true, true
			s.Resources = append(s.Resources, plan.ResourceChange{ID: "Table", Type: "AWS::DynamoDB::Table", Action: difference.Replace, Replacement: resource.Always, DataLoss: true, Loses: "a table"})
			c.Summary.DataLoss++
		}
		c.Stacks = append(c.Stacks, s)
	}
	return c
}

// A plan in Markdown has room in a comment on GitHub, whatever it changes: stacks are left
// out as a whole, and counted, and last those that lose data.
func TestMarkdownFits(t *testing.T) {
	large := manyChanges(3, 1)
	large.Stacks[1].Resources = manyChanges(1, 2000).Stacks[0].Resources
	lossy := manyChanges(2000, 0)
	for i := range lossy.Stacks {
		lossy.Stacks[i].DataLoss = true
		lossy.Stacks[i].Resources = manyChanges(50, 0).Stacks[49].Resources
	}
	talkative := manyChanges(3, 1)
	for i := range 500 {
		talkative.Messages = append(talkative.Messages, fmt.Sprintf("message %d: ```` @team %s", i, strings.Repeat("long ", 1000)))
	}
	for _, c := range []struct {
		name    string
		changes plan.Changes
		want    []string
	}{
		{"few stacks", manyChanges(3, 1), []string{"### `plan` of shop@prod"}},
		{"500 stacks", manyChanges(500, 1), []string{"> DATA LOSS: app/service-499 Table, replaced (a table)<br>", "more stacks, 0 of them with data loss, or"}},
		{"a stack of 2,000 resources", large, []string{"… and 1 more stack, 0 of them"}},
		{"2,000 stacks with data loss", lossy, []string{"more lines<br>", "of them with data loss, or with a possible or unknown one: there is no room"}},
		{"long messages", talkative, []string{"more messages", "message 0: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := term.Markdown(c.changes)
			if n := utf8.RuneCountInString(text); n > 60_000 {
				t.Errorf("%d characters", n)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%.2000s", want, text)
				}
			}
			blocks, left := wholeBlocks(t, text), 0
			if _, tail, ok := strings.Cut(text, "\n… and "); ok {
				if _, err := fmt.Sscanf(tail, "%d more stack", &left); err != nil {
					t.Error(err)
				}
			}
			if blocks+left != len(c.changes.Stacks) {
				t.Errorf("%d stacks are shown and %d left out, of %d", blocks, left, len(c.changes.Stacks))
			}
			if c.name == "500 stacks" {
				for i := 49; i < 500; i += 50 {
					if !strings.Contains(text, fmt.Sprintf("app/service-%03d  update</code> — <b>DATA LOSS</b>", i)) {
						t.Errorf("the block of app/service-%03d is missing", i)
					}
				}
			}
		})
	}
}

// A possible and an unknown loss are in the totals, and mark the block of their stack.
func TestPossibleAndUnknownLossesAreShown(t *testing.T) {
	c := manyChanges(3, 0)
	c.Summary.PossibleDataLoss, c.Summary.UnknownDataLoss = 2, 1
	c.Stacks[0].PossibleDataLoss, c.Stacks[1].UnknownDataLoss = true, true
	c.Stacks[0].Resources = []plan.ResourceChange{
		{ID: "DB", Type: "AWS::RDS::DBInstance", Action: difference.Modify, Replacement: resource.Conditional, PossibleDataLoss: true, Loses: "a database"},
		{ID: "Old", Type: "AWS::S3::Bucket", Action: difference.Dynamic, Possible: true, Replacement: resource.Never, PossibleDataLoss: true, Loses: "objects"},
	}
	totals := "3 changes: 3 to update; 0 unchanged; possible data loss in 2 resources; data loss unknown in 1 stack; about 2 min"
	for form, text := range map[string]string{"text": strings.Join(term.Plan(c, 200, false), "\n"), "markdown": term.Markdown(c)} {
		for _, want := range []string{
			"POSSIBLE DATA LOSS: app/service-000 DB, if it is replaced (a database)", "POSSIBLE DATA LOSS: app/service-000 Old, if it is deleted (objects)", totals,
			"if it is deleted, DATA LOSS: objects; to keep the data, first",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s does not say %q:\n%s", form, want, text)
			}
		}
	}
	for _, want := range []string{
		"> [!CAUTION]\n> POSSIBLE DATA LOSS", "app/service-000  update</code> — <b>possible data loss</b>", "app/service-001  update</code> — <b>data loss unknown</b>",
		"! ? may be replaced DB", "!     if it is replaced, DATA LOSS: a database",
	} {
		if text := term.Markdown(c); !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// A hook that deletes data is in the totals, and at its stack.
func TestHooksThatDeleteDataAreShown(t *testing.T) {
	c := manyChanges(1, 0)
	c.Summary.HookDataLoss = 1
	c.Stacks[0].Hooks = []plan.PlannedHook{{Name: "empty", Moment: "before_delete", Type: "empty_bucket", Calls: "data", Loses: "all objects"}, {Name: "tell", Moment: "before_delete", Type: "invoke", Calls: "arn"}}
	for form, text := range map[string]string{"text": strings.Join(term.Plan(c, 200, false), "\n"), "markdown": term.Markdown(c)} {
		for _, want := range []string{"DATA LOSS: app/service-000 hook empty, data (all objects)", "hook empty, before_delete: empty_bucket data", "  DATA LOSS: all objects", "; data deleted by 1 hook; "} {
			if strings.Count(text, want) != 1 {
				t.Errorf("the %s does not say %q once:\n%s", form, want, text)
			}
		}
	}
}

// What CloudFormation will refuse is said at the resource.
func TestRefusalsAreShown(t *testing.T) {
	c := manyChanges(1, 0)
	c.Stacks[0].Resources = []plan.ResourceChange{{ID: "B", Type: "AWS::SNS::Topic", FormerType: "AWS::S3::Bucket", Action: difference.Modify, Replacement: resource.Never, Refused: "one reason"}}
	c.Stacks[0].Outputs = []plan.OutputChange{{Name: "Id", Action: difference.Dynamic, Why: "VPC is replaced"}}
	text := strings.Join(term.Plan(c, 0, false), "\n")
	for _, want := range []string{
		"      ~ B  AWS::S3::Bucket → AWS::SNS::Topic\n          CloudFormation will refuse this: one reason\n",
		"      ? output Id may change: VPC is replaced\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say\n%s\n%s", want, text)
		}
	}
	if text := term.Markdown(c); !strings.Contains(text, "!     CloudFormation will refuse this: one reason") {
		t.Errorf("the line is not marked:\n%s", text)
	}
}

// wholeBlocks counts the blocks of stacks, each of which must be whole.
func wholeBlocks(t *testing.T, text string) int {
	t.Helper()
	blocks, fence, open := 0, false, false
	for line := range strings.Lines(text) {
		switch line = strings.TrimRight(line, "\n"); {
		case strings.HasPrefix(line, "````"):
			fence = !fence
		case fence:
		case strings.HasPrefix(line, "<details>"):
			if open {
				t.Errorf("a block begins in another: %s", line)
			}
			open, blocks = true, blocks+1
		case line == "</details>":
			open = false
		}
	}
	if fence || open {
		t.Error("the last block is cut")
	}
	return blocks
}

// What a template names cannot become a link or a mention in a comment.
func TestMarkdownKeepsNoLinks(t *testing.T) {
	c := manyChanges(1, 0)
	c.Stacks[0].Resources = []plan.ResourceChange{
		{ID: "[log in](https://evil.example)", Type: "AWS::SQS::Queue", Action: difference.Replace, Replacement: resource.Always, DataLoss: true, Loses: "a queue"},
		{ID: "@everyone <b>www.evil.example</b>", Type: "AWS::SNS::Topic", Action: difference.Replace, Replacement: resource.Always},
	}
	text := term.Markdown(c)
	for _, want := range []string{
		"> DATA LOSS: app/service-000 (log in)(https: //evil(.)example), replaced (a queue)<br>\n",
		"> REPLACED: app/service-000 ＠everyone (b)www(.)evil(.)example(/b)<br>\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
