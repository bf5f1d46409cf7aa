package term

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/lib/markdown"
	"github.com/stackwright/stackwright/pkg/plan"
)

// The size of a plan in Markdown, in characters. A comment on GitHub has at most 65,536.
const (
	maxMarkdown = 60_000
	maxLosses   = 15_000 // of it, what is lost and replaced
	maxMessages = 5_000  // of it, messages
	maxTail     = 500    // of it, the sentence about what is left out
	maxLine     = 1_000  // a message, or a line about what is lost
)

// Markdown writes what a plan changes for a comment on a pull request: the totals, what
// is lost and replaced, and a folded block for each stack. If there is not enough room,
// whole stacks are left out, first those that lose and replace nothing, and counted. Texts
// of templates stand in blocks of code, or are inert.
func Markdown(c plan.Changes) string {
	replaced, lost, maybeLost := losses(c)
	var cautions, messages, stacks []string
	denied, warned := verdicts(c)
	for _, l := range slices.Concat(denied, warned, lost, maybeLost, replaced) {
		cautions = append(cautions, "> "+markdown.Inert(cutText(oneLine(printable(l)), maxLine))+"<br>\n")
	}
	for _, h := range c.Hooks {
		messages = append(messages, diffLine(cutText(printable(hookLine(h)), maxLine))+"\n")
	}
	for _, m := range c.Messages {
		messages = append(messages, diffLine(cutText(oneLine(printable(m)), maxLine))+"\n")
	}
	if c.Selection != nil {
		for _, l := range c.Selection.Lines() {
			messages = append(messages, diffLine(cutText(oneLine(printable(l)), maxLine))+"\n")
		}
	}
	for _, s := range c.Snapshots {
		p := &planText{width: maxLine}
		p.snapshot(s)
		for _, l := range p.lines {
			messages = append(messages, diffLine(strings.TrimPrefix(cutText(printable(plainText(l)), maxLine), "  "))+"\n")
		}
	}
	many := manyOf(c)
	var places []int // of the first stack of each block
	for i, s := range c.Stacks {
		t, collapsed := many[plan.Several(s.Stack)]
		of := func(o plan.StackChange) bool { return plan.Several(o.Stack) == t.Stack }
		switch {
		case !collapsed:
			stacks, places = append(stacks, folded(s)), append(places, i)
		case i == slices.IndexFunc(c.Stacks, of):
			alike := slices.DeleteFunc(slices.Clone(c.Stacks), func(o plan.StackChange) bool { return !of(o) })
			stacks, places = append(stacks, foldedTargets(t, alike)), append(places, i)
		}
	}
	text := fmt.Sprintf("### `%s` of %s@%s\n\n%s\n\n", plan.CommandOf(c.Operation), c.Project, c.Environment, html.EscapeString(planTotals(c)))
	if c.Cost.Differs() {
		text += html.EscapeString(costLine(c.Cost)) + "\n\n"
	}
	if shown, left := fitting(cautions, maxLosses, nil); len(cautions) > 0 {
		text += "> [!CAUTION]\n" + shown + andMore(left, "> … and %s<br>\n", "more line") + "\n"
	}
	if shown, left := fitting(messages, maxMessages, nil); len(messages) > 0 {
		text += "````diff\n" + shown + andMore(left, "  … and %s\n", "more message") + "````\n\n"
	}
	shown, left := fitting(stacks, maxMarkdown-maxTail-utf8.RuneCountInString(text), func(i int) int { return rank(c.Stacks[places[i]]) })
	lose := 0
	for _, i := range left {
		if s := c.Stacks[places[i]]; s.DataLoss || s.PossibleDataLoss || s.UnknownDataLoss {
			lose++
		}
	}
	return text + shown + andMore(left, fmt.Sprintf("\n… and %%s, %d of them with data loss, or with a possible or unknown one: there is no room for them here, `stackwright plan` shows all.\n", lose), "more stack")
}

// fitting joins the blocks that fit into a number of characters, and lists the others.
// Blocks of a lower rank are chosen first; a nil rank is the same for all.
func fitting(blocks []string, most int, rank func(i int) int) (text string, left []int) {
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	if rank != nil {
		slices.SortStableFunc(order, func(i, j int) int { return rank(i) - rank(j) })
	}
	var shown []int
	for _, i := range order {
		n := utf8.RuneCountInString(blocks[i])
		if n > most {
			left = append(left, i)
			continue
		}
		shown, most = append(shown, i), most-n
	}
	slices.Sort(shown)
	for _, i := range shown {
		text += blocks[i]
	}
	return text, left
}

// rank orders stacks by what they lose.
func rank(s plan.StackChange) int {
	switch {
	case s.DataLoss:
		return 0
	case s.PossibleDataLoss:
		return 1
	case s.UnknownDataLoss:
		return 2
	case s.Replaces:
		return 3
	}
	return 4
}

// andMore says how many things are left out; nothing if none is.
func andMore(left []int, format, thing string) string {
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf(format, Plural(len(left), thing))
}

// folded is the block of a stack.
func folded(s plan.StackChange) string {
	p := &planText{width: planWidth}
	p.stack(s, nil)
	return p.folded(s)
}

// foldedTargets is the block of a stack with many targets. Its mark is that of the target that loses most.
func foldedTargets(t plan.TargetsChange, stacks []plan.StackChange) string {
	p := &planText{width: planWidth}
	p.targets(t, stacks)
	return p.folded(slices.MinFunc(stacks, func(a, b plan.StackChange) int { return rank(a) - rank(b) }))
}

// folded is what is drawn as a block, with the mark of a stack.
func (p *planText) folded(s plan.StackChange) string {
	mark := ""
	switch {
	case s.DataLoss:
		mark = " — <b>DATA LOSS</b>"
	case s.PossibleDataLoss:
		mark = " — <b>possible data loss</b>"
	case s.UnknownDataLoss:
		mark = " — <b>data loss unknown</b>"
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
var diffMarks = []struct{ begin, mark string }{{"+ ", "+"}, {"- ", "-"}, {"~ ", "!"}, {"± ", "!"}, {"? ", "!"}, {"→ ", "!"}, {"DATA LOSS", "!"}, {"if it is ", "!"}, {refusal, "!"}}

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
