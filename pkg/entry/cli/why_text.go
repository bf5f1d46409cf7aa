package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/plan"
)

// outcomes say what the next deploy does.
var outcomes = map[plan.Outcome]string{
	plan.OutcomeUnchanged: "leaves it as it is: nothing differs", plan.OutcomeLeftAlone: "leaves it alone", plan.OutcomeOmitted: "is not about it", plan.OutcomeRefused: "is refused",
	plan.Outcome(plan.ActionCreate): "creates it", plan.Outcome(plan.ActionUpdate): "updates it", plan.Outcome(plan.ActionReplace): "deletes it and creates it again",
	plan.Outcome(plan.ActionDelete): "deletes it", plan.Outcome(plan.ActionAdopt): "adopts it", plan.Outcome(plan.ActionForget): "deletes its record",
	plan.Outcome(plan.ActionLevel): "changes only what is recorded of it", plan.Outcome(plan.ActionRetain): "changes only what is recorded of it",
	plan.Outcome(plan.ActionHooks): "only calls its hooks, or records them", plan.Outcome(plan.ActionImport): "imports resources into it",
}

// printWhy prints why a stack is deployed or not.
func (c *call) printWhy(w report.Why) error {
	var b strings.Builder
	e := w.Next
	may := ""
	if e.Certainty == plan.Possible {
		may = "probably "
	}
	fmt.Fprintf(&b, "%s of %s: the next deploy %s%s\n", w.Stack, w.Project, may, outcomes[e.Outcome])
	section := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n", title)
		for _, line := range lines {
			fmt.Fprintf(&b, "  %s\n", term.Line(line))
		}
	}
	section("refused because", e.Refusals)
	section("because", e.Reasons)
	var inputs []string
	for _, i := range e.Inputs {
		what := strings.TrimSpace(i.Kind + " " + i.Name)
		if len(i.References) > 0 {
			what += " (" + strings.Join(i.References, ", ") + ")"
		}
		inputs = append(inputs, what+": "+i.Why)
	}
	section("differs", inputs)
	section("compared", e.Compared)
	section("not known", e.Caveats)
	section("depends on", linesOf(w.Needs))
	section("is used by", linesOf(w.Users))
	if len(w.Changes) > 0 {
		var rows [][]string
		for _, p := range w.Changes {
			result := string(p.Status)
			if p.Unchanged {
				result += ", nothing to change"
			}
			rows = append(rows, []string{p.Ended.Local().Format(time.DateTime), p.Step, result, p.Run, cmp.Or(p.Source.Version, "-"), p.Who, firstLine(cmp.Or(p.Why, p.Reason))})
		}
		fmt.Fprintf(&b, "last changes:\n%s\n", strings.Join(term.Table([]string{"ENDED", "STEP", "RESULT", "RUN", "REVISION", "BY", "WHY"}, rows, c.width()), "\n"))
	}
	_, err := fmt.Fprint(c.Out, b.String())
	return err
}

// linesOf are neighbours as lines.
func linesOf(all []report.Neighbour) []string {
	var lines []string
	for _, n := range all {
		line := n.Stack + ": " + n.Because
		if n.Place != "" {
			line += "  (" + n.Place + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
