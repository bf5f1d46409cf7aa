package term

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/plan"
)

// The size of a plan in Markdown. A comment on GitHub has at most 65,536 characters.
const (
	maxMarkdown = 60_000 // characters
	maxLosses   = 50     // lines about data that is lost
)

// Markdown writes what a plan changes for a comment on a pull request: what is lost and
// the totals first, and then a folded block for each stack. Stacks that do not fit are
// counted.
func Markdown(c plan.Changes) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Plan of %s@%s\n\n%s\n\n", c.Project, c.Environment, html.EscapeString(planTotals(c)))
	drawn := &planText{width: planWidth}
	drawn.losses(c)
	if losses := drawn.lines; len(losses) > 0 {
		b.WriteString("> [!CAUTION]\n")
		for i, l := range losses {
			if i == maxLosses {
				fmt.Fprintf(&b, "> … %s\n", Plural(len(losses)-i, "more line"))
				break
			}
			fmt.Fprintf(&b, "> %s<br>\n", html.EscapeString(plainText(l)))
		}
		b.WriteString("\n")
	}
	for _, m := range c.Messages {
		fmt.Fprintf(&b, "- %s\n", html.EscapeString(oneLine(printable(m))))
	}
	size := utf8.RuneCountInString(b.String())
	for i, s := range c.Stacks {
		block := folded(s)
		if size += utf8.RuneCountInString(block); size > maxMarkdown-200 {
			fmt.Fprintf(&b, "\n… and %s: `stackwright plan` shows all.\n", Plural(len(c.Stacks)-i, "more stack"))
			break
		}
		b.WriteString(block)
	}
	text := b.String()
	if runes := []rune(text); len(runes) > maxMarkdown { // many messages
		text = string(runes[:maxMarkdown-1]) + "…"
	}
	return text
}

// folded is the block of a stack.
func folded(s plan.StackChange) string {
	p := &planText{width: planWidth}
	p.stack(s, nil)
	mark := ""
	switch {
	case s.DataLoss:
		mark = " — <b>DATA LOSS</b>"
	case s.Replaces:
		mark = " — <b>replaces resources</b>"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary><code>%s</code>%s</summary>\n\n````diff\n", html.EscapeString(strings.TrimSpace(plainText(p.lines[0]))), mark)
	for _, l := range p.lines[1:] {
		b.WriteString(diffLine(plainText(l)) + "\n")
	}
	b.WriteString("````\n\n</details>\n")
	return b.String()
}

// diffMarks are the marks of Markdown's diff for the begins of lines.
var diffMarks = []struct{ begin, mark string }{{"+ ", "+"}, {"- ", "-"}, {"~ ", "!"}, {"± ", "!"}, {"DATA LOSS", "!"}}

// diffLine puts the mark that colours it before a line. Nothing in the line may end the
// block.
func diffLine(text string) string {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "      "), "```", "'''")
	body := strings.TrimLeft(text, " ")
	for _, m := range diffMarks {
		if strings.HasPrefix(body, m.begin) {
			return m.mark + " " + text
		}
	}
	return "  " + text
}

// plainText is a line without styles.
func plainText(l line) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(printable(s.text))
	}
	return b.String()
}
