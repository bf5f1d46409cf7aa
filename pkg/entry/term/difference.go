package term

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/lib/markdown"
)

// changeMarks are the marks of changes, with their styles.
var changeMarks = map[report.Change]span{report.Added: {green, "+ "}, report.Removed: {red, "- "}, report.Changed: {yellow, "~ "}}

// Difference draws what differs between two revisions: a line for each file and stack, and what differs in the templates.
func Difference(d report.Difference, colour bool) []string {
	lines := differenceLines(d)
	texts := make([]string, len(lines))
	for i, l := range lines {
		var b strings.Builder
		for _, s := range l {
			paint(&b, s.style, printable(s.text), colour)
		}
		texts[i] = b.String()
	}
	return texts
}

// differenceLines are the lines of a difference.
func differenceLines(d report.Difference) []line {
	lines := []line{{{bold, differenceTitle(d)}}}
	for _, m := range d.Messages {
		lines = append(lines, line{{yellow, "  " + oneLine(m)}})
	}
	for _, s := range d.Stacks {
		mark := changeMarks[s.Change]
		lines = append(lines, line{{mark.style, "  " + mark.text + "stack " + s.Stack}, {normal, details(s)}})
	}
	for _, f := range d.Files {
		mark := changeMarks[f.Change]
		lines = append(lines, line{{mark.style, "  " + mark.text + "file " + f.Name}})
	}
	for _, t := range d.Templates {
		lines = append(lines, line{{bold, templateTitle(t)}})
		for _, text := range templateLines(t) {
			lines = append(lines, line{{styleOf(text), text}})
		}
	}
	return append(lines, line{{bold, differenceTotals(d)}})
}

// differenceTitle says what is compared.
func differenceTitle(d report.Difference) string {
	return fmt.Sprintf("from run %s to run %s", d.From.Run, d.To.Run)
}

// details says what differs in a stack.
func details(s report.StackDifference) string {
	var all []string
	if s.Template {
		all = append(all, "template")
	}
	for _, list := range []struct {
		what    string
		changes []report.NamedChange
	}{{"parameter", s.Parameters}, {"tag", s.Tags}} {
		for _, c := range list.changes {
			all = append(all, fmt.Sprintf("%s %s (%s)", list.what, c.Name, c.Change))
		}
	}
	if all = append(all, s.Other...); len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ")
}

// templateTitle says whose templates differ.
func templateTitle(t report.TemplateDifference) string {
	return "template of " + strings.Join(t.Stacks, ", ")
}

// templateLines are the lines of the text of a difference, or the one that says why there is none.
func templateLines(t report.TemplateDifference) []string {
	if t.Text == "" {
		return []string{"  not shown: " + t.Omitted}
	}
	return strings.Split(strings.TrimSuffix(t.Text, "\n"), "\n")
}

// styleOf is the style of a line in the unified format.
func styleOf(text string) style {
	switch {
	case strings.HasPrefix(text, "@@"):
		return cyan
	case strings.HasPrefix(text, "+"):
		return green
	case strings.HasPrefix(text, "-"):
		return red
	}
	return normal
}

// differenceTotals counts what differs.
func differenceTotals(d report.Difference) string {
	if len(d.Files)+len(d.Stacks)+len(d.Templates)+len(d.Messages) == 0 {
		return "nothing differs"
	}
	counts := make(map[report.Change]int)
	for _, s := range d.Stacks {
		counts[s.Change]++
	}
	return fmt.Sprintf("stacks: %d added, %d removed, %d changed; %s", counts[report.Added], counts[report.Removed], counts[report.Changed], Plural(len(d.Files), "file"))
}

// DifferenceMarkdown writes what differs between two revisions for a comment on a pull request: the totals, the stacks and files, and a
// folded block for each template. If there is not enough room, templates are left out, and counted.
func DifferenceMarkdown(d report.Difference) string {
	text := fmt.Sprintf("### Difference %s\n\n%s\n\n", markdown.Inert(differenceTitle(d)), html.EscapeString(differenceTotals(d)))
	var lines, blocks []string
	for _, l := range differenceLines(report.Difference{Messages: d.Messages, Stacks: d.Stacks, Files: d.Files})[1:] {
		lines = append(lines, diffLine(cutText(strings.TrimPrefix(plainText(l), "  "), maxLine))+"\n")
	}
	if lines = lines[:len(lines)-1]; len(lines) > 0 { // the last are the totals
		shown, left := fitting(lines, maxLosses, nil)
		text += "````diff\n" + shown + andMore(left, "  … and %s\n", "more line") + "````\n\n"
	}
	for _, t := range d.Templates {
		var b strings.Builder
		fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n````diff\n", html.EscapeString(cutText(printable(templateTitle(t)), maxLine)))
		for _, l := range templateLines(t) {
			b.WriteString(strings.ReplaceAll(printable(l), "```", "'''") + "\n")
		}
		b.WriteString("````\n\n</details>\n")
		blocks = append(blocks, b.String())
	}
	shown, left := fitting(blocks, maxMarkdown-maxTail-utf8.RuneCountInString(text), nil)
	return text + shown + andMore(left, "\n… and %s, for which there is no room here: `stackwright diff` shows all.\n", "more template")
}
