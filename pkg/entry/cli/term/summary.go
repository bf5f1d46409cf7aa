package term

import (
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Next spells the command of the given words: a verb ("retry", "continue"), a
// run, and flags.
type Next func(words ...string) string

// Summary says what came of a run: what was done, what failed and why, what was
// skipped for it, and what to do next.
func Summary(r run.Run, next Next) []string {
	switch {
	case r.State == run.StateRefused:
		return refused(r)
	case isPreview(r) && r.State == run.StateSucceeded:
		return preview(r)
	}
	lines := []string{fmt.Sprintf("%s of %s %s %s: %s", r.Operation, r.Project, standing(r), exactly(latest(r).Sub(r.Requested)), deeds(r))}
	lines = append(lines, failures(r)...)
	for _, m := range r.Messages {
		lines = append(lines, "  "+oneLine(m))
	}
	if way := wayOn(r, next); way != "" {
		lines = append(lines, way)
	}
	return lines
}

// isPreview reports whether r's plan is shown and not executed.
func isPreview(r run.Run) bool { return plan.AllOperations().Of(r.Operation).Preview }

// standing says how a run stands, in a sentence that goes on with a duration.
func standing(r run.Run) string {
	switch r.State {
	case run.StateFailed, run.StateSucceeded:
		return string(r.State) + " in"
	case run.StateSuperseded:
		if r.SupersededBy != "" {
			return "was superseded by run " + r.SupersededBy + " after"
		}
	}
	return "is " + string(r.State) + " after"
}

// deeds counts what was done, by verb.
func deeds(r run.Run) string {
	past := []struct {
		verb plan.Verb
		word string
	}{
		{plan.Create, "created"}, {plan.Update, "updated"}, {plan.Delete, "deleted"},
		{plan.Continue, "rolled back"}, {plan.Wait, "settled"}, {plan.Read, "read"}, {plan.Forget, "forgotten"},
	}
	same, by := r.Unchanged, make(map[plan.Verb]int)
	for _, s := range r.Steps {
		switch {
		case s.Status != run.Done:
		case s.Receipt.Unchanged:
			same++
		default:
			by[s.Verb]++
		}
	}
	var words []string
	for _, p := range past {
		if by[p.verb] > 0 {
			words = append(words, fmt.Sprintf("%d %s", by[p.verb], p.word))
		}
	}
	if same > 0 {
		words = append(words, fmt.Sprintf("%d unchanged", same))
	}
	n := count(r.Steps)
	for _, s := range []run.Status{run.Failed, run.Skipped, run.Running, run.Pending} {
		if n[s] > 0 {
			words = append(words, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	switch {
	case len(words) > 0:
	case r.State != run.StateSucceeded:
		return "nothing was done"
	default:
		return "there was nothing to do"
	}
	return strings.Join(words, ", ")
}

// failures lists what failed, why, and what was skipped for it.
func failures(r run.Run) []string {
	var lines []string
	causes, by := skips(r)
	for _, s := range r.Steps {
		if s.Status != run.Failed {
			continue
		}
		lines = append(lines, fmt.Sprintf("  %s failed: %s", s.ID, oneLine(s.Why)))
		if names := by[s.ID]; len(names) > 0 {
			lines = append(lines, "    skipped with it: "+strings.Join(names, ", "))
		}
		delete(by, s.ID)
	}
	for _, cause := range causes {
		if names := by[cause]; len(names) > 0 {
			lines = append(lines, fmt.Sprintf("  skipped, %s: %s", cause, strings.Join(names, ", ")))
		}
	}
	if gate := r.Step(string(plan.Barrier)); gate != nil && gate.Status == run.Skipped {
		lines = append(lines, "  nothing was removed for good: removals wait until all that stays is up")
	}
	return lines
}

// wayOn says what to do next.
func wayOn(r run.Run, next Next) string {
	if next == nil {
		return ""
	}
	switch r.State {
	case run.StateFailed:
		return "to go on from here: " + next("retry", r.ID)
	case run.StateCancelled:
		return "to take it up again: " + next("retry", r.ID)
	case run.StateSuperseded:
		if r.SupersededBy == "" {
			return ""
		}
		return "to follow what took its place: " + next("status", r.SupersededBy, "--follow")
	case run.StateWaiting:
		return "to let it go on: " + next("continue", r.ID)
	}
	return ""
}

// refused says why a run never began.
func refused(r run.Run) []string {
	lines := []string{fmt.Sprintf("%s of %s was refused (run %s)", r.Operation, r.Project, r.ID)}
	for _, m := range r.Messages {
		lines = append(lines, "  "+strings.ReplaceAll(m, "\n", "\n  "))
	}
	return lines
}

// preview lists what a plan would do, a node a line.
func preview(r run.Run) []string {
	var nodes []string
	verbs := make(map[string][]plan.Verb)
	after := make(map[string][]string)
	for _, s := range r.Steps {
		if verbs[s.Node] == nil {
			nodes = append(nodes, s.Node)
			after[s.Node] = s.After
		}
		verbs[s.Node] = append(verbs[s.Node], s.Verb)
	}
	lines := []string{fmt.Sprintf("plan of %s: %s, %d unchanged", r.Project, plural(changes(r), "change"), r.Unchanged)}
	for _, n := range nodes {
		lines = append(lines, intention(n, verbs[n], after[n]))
	}
	for _, m := range r.Messages {
		lines = append(lines, "  not seen: "+oneLine(m))
	}
	return lines
}

// intention is a line of a preview.
func intention(node string, verbs []plan.Verb, after []string) string {
	if node == "" {
		return "    gate  (all that stays is up)"
	}
	words, mark := make([]string, len(verbs)), " "
	for i, v := range verbs {
		words[i] = string(v)
		switch {
		case v == plan.Create && mark == "-":
			mark = "±"
		case v == plan.Create:
			mark = "+"
		case v == plan.Update:
			mark = "~"
		case v == plan.Delete:
			mark = "-"
		}
	}
	text := "  " + mark + " " + node + "  " + strings.Join(words, ", ")
	if len(after) > 0 {
		text += "  (after " + strings.Join(after, ", ") + ")"
	}
	return text
}

// changes counts the steps of a plan that change something.
func changes(r run.Run) int {
	n := 0
	for _, s := range r.Steps {
		if s.Verb != plan.Barrier {
			n++
		}
	}
	return n
}
