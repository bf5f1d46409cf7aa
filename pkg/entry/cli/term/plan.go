package term

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// planWidth is the width of a plan that is not shown on a terminal.
const planWidth = 80

// Plan draws what a plan changes: a block for each stack, and the totals last. No line is
// longer than width, except for words that are; 0 is 80 columns.
func Plan(c plan.Changes, width int, colour bool) []string {
	if width == 0 {
		width = planWidth
	}
	p := &planText{width: width}
	p.add(0, span{bold, c.Operation + " of " + c.Project + "@" + c.Environment})
	after := make(map[string][]string, len(c.Steps))
	for _, s := range c.Steps {
		after[s.Step] = s.After
	}
	for _, s := range c.Stacks {
		var waits []string
		if len(s.Steps) > 0 {
			waits = after[s.Steps[0]]
		}
		p.stack(s, waits)
	}
	for _, m := range c.Messages {
		p.add(2, span{yellow, oneLine(m)})
	}
	for _, l := range c.MaxParallel {
		if len(c.Stacks) == 0 {
			break
		}
		what := "stacks"
		if l.Prefix != "" {
			what = "of the stacks " + l.Prefix + "…"
		}
		p.add(2, span{dim, fmt.Sprintf("at most %d %s at the same time", l.Most, what)})
	}
	replaced, lost, maybeLost := losses(c)
	for _, l := range replaced {
		p.add(0, span{red, l})
	}
	for _, l := range lost {
		p.add(0, span{danger, l})
	}
	for _, l := range maybeLost {
		p.add(0, span{red, l})
	}
	p.add(0, span{bold, planTotals(c)})
	lines := make([]string, len(p.lines))
	for i, l := range p.lines {
		var b strings.Builder
		for _, s := range l {
			paint(&b, s.style, printable(s.text), colour)
		}
		lines[i] = b.String()
	}
	return lines
}

// planText is a plan that is drawn.
type planText struct {
	width int
	lines []line
}

// maybe is the sign of a stack that may change.
const maybe = "~?"

// danger is the style of what loses data.
const danger style = "1;31"

// add adds spans as a line with an indent. A line that is too long is broken between
// words; its rest keeps the style of the last span.
func (p *planText) add(indent int, spans ...span) {
	l := append(line{{normal, strings.Repeat(" ", indent)}}, spans...)
	if l.length() <= p.width || len(spans) == 0 {
		p.lines = append(p.lines, l)
		return
	}
	last := spans[len(spans)-1]
	first := l[:len(l)-1]
	room := p.width - line(first).length()
	words := strings.Fields(last.text)
	text, rest := "", words
	for len(rest) > 0 && utf8.RuneCountInString(text)+utf8.RuneCountInString(rest[0])+1 <= room {
		text, rest = strings.TrimPrefix(text+" "+rest[0], " "), rest[1:]
	}
	if leading := last.text[:len(last.text)-len(strings.TrimLeft(last.text, " "))]; text != "" {
		text = leading + text
	}
	if text != "" || len(spans) > 1 {
		p.lines = append(p.lines, append(slices.Clone(first), span{last.style, text}))
	}
	if len(rest) > 0 {
		for _, part := range Wrap(strings.Join(rest, " "), p.width-indent-2, "") {
			p.lines = append(p.lines, line{{normal, strings.Repeat(" ", indent+2)}, {last.style, part}})
		}
	}
}

// signs are the signs and colours of actions.
var signs = map[plan.StackAction]span{
	plan.ActionCreate: {green, "+"}, plan.ActionUpdate: {yellow, "~"}, plan.ActionReplace: {red, "±"}, plan.ActionDelete: {red, "-"}, plan.ActionForget: {dim, " "},
}

// stack draws the block of a stack.
func (p *planText) stack(s plan.StackChange, after []string) {
	sign, words := signs[s.Action], string(s.Action)
	if s.Certainty == plan.Possible {
		sign, words = span{cyan, maybe}, "may change"
	}
	if s.Deployment != "" {
		words += " in " + string(s.Deployment) + " mode"
	}
	if slices.Contains(after, string(plan.Barrier)) {
		after = []string{"all other steps"}
	}
	if len(after) > 0 {
		words += "  (after " + strings.Join(after, ", ") + ")"
	}
	p.add(2, sign, span{bold, " " + s.Stack}, span{normal, "  " + words})
	for _, reason := range s.Reasons {
		p.add(6, span{dim, oneLine(reason)})
	}
	if s.Action == plan.ActionCreate || s.Action == plan.ActionReplace {
		p.given("parameters", s.Parameters)
		p.given("tags", s.Tags)
		p.given("options", s.Options)
	} else {
		p.values("parameter", s.Parameters)
		p.values("tag", s.Tags)
		p.values("option", s.Options)
	}
	p.resources(s)
	if s.Action == plan.ActionUpdate {
		for _, o := range s.Outputs {
			p.output(o)
		}
	} else {
		p.exports(s.Outputs)
	}
	for _, w := range s.Warnings {
		p.add(6, span{yellow, "warning: " + oneLine(w)})
	}
	for _, w := range s.Caveats {
		p.add(6, span{dim, "(" + oneLine(w) + ")"})
	}
}

// values draws parameters, tags or options.
func (p *planText) values(kind string, all []plan.ValueChange) {
	for _, v := range all {
		head := kind + " " + v.Name
		switch {
		case v.Secret && v.Known:
			p.add(6, span{yellow, "~ "}, span{normal, head + ": changes (secret)"})
		case v.Secret:
			p.add(6, span{cyan, "? "}, span{normal, head + ": may change (secret)"})
		case v.Why != "":
			p.add(6, span{cyan, "? "}, span{normal, head + ": (" + v.Why + ")"})
		default:
			p.difference(6, head, v.Before, v.After, "")
		}
	}
}

// given draws the values of a stack that is created.
func (p *planText) given(kind string, all []plan.ValueChange) {
	var words []string
	for _, v := range all {
		value := "(secret)"
		if !v.Secret {
			value = cutText(oneLine(orAbsent(v.After)), planWidth/2)
		}
		words = append(words, v.Name+"="+value)
	}
	if len(words) > 0 {
		p.add(6, span{normal, kind + ": " + strings.Join(words, ", ")})
	}
}

// cutText cuts a text to some characters.
func cutText(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// orAbsent is a value, or a word for none.
func orAbsent(s *string) string {
	if s == nil {
		return "(none)"
	}
	return quoted(*s)
}

// quoted shows that a value is an empty text.
func quoted(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

// resources draws the resources of a stack. Those of a stack that is created or deleted
// are counted, except for those whose data is lost or kept.
func (p *planText) resources(s plan.StackChange) {
	if s.Action != plan.ActionUpdate {
		p.count(s)
	}
	for _, r := range s.Resources {
		if s.Action == plan.ActionUpdate || r.Loses != "" || r.Policy != "" {
			p.resource(r)
		}
	}
}

// count counts the resources of a stack by type.
func (p *planText) count(s plan.StackChange) {
	by, types := make(map[string]int), []string{}
	for _, r := range s.Resources {
		name := strings.TrimPrefix(r.Type, "AWS::")
		if by[name]++; by[name] == 1 {
			types = append(types, name)
		}
	}
	for i, name := range types {
		if by[name] > 1 {
			types[i] = fmt.Sprintf("%s ×%d", name, by[name])
		}
	}
	if len(types) > 0 {
		p.add(6, span{normal, Plural(len(s.Resources), "resource") + ": " + strings.Join(types, ", ")})
	}
}

// resource draws a resource.
func (p *planText) resource(r plan.ResourceChange) {
	name := span{normal, r.ID + "  " + r.Type}
	if r.FormerType != "" {
		name.text = r.ID + "  " + r.FormerType + " → " + r.Type
	}
	if r.Possible {
		name.text += "  (if its condition holds)"
	}
	switch {
	case r.Action == difference.Replace:
		p.add(6, span{danger, "± REPLACE "}, name)
	case r.Action == difference.Add:
		p.add(6, span{green, "+ "}, name)
	case r.Action == difference.Remove:
		p.add(6, span{red, "- "}, name)
	case r.Replacement == resource.Conditional:
		p.add(6, span{red, "? may be replaced "}, name)
	case r.Action == difference.Dynamic:
		p.add(6, span{cyan, "? may change "}, name)
	default:
		p.add(6, span{yellow, "~ "}, name)
	}
	for _, property := range r.Properties {
		p.property(r, property)
	}
	if r.Refused != "" {
		p.add(10, span{danger, refusal + r.Refused})
	}
	switch {
	case r.DataLoss:
		p.add(10, span{danger, "DATA LOSS: " + r.Loses + keep(r)})
	case r.Loses != "":
		p.add(10, span{red, "if so, DATA LOSS: " + r.Loses + keep(r)})
	case r.Policy != "":
		p.add(10, span{dim, keptBy(r)})
	}
}

// refusal begins a sentence about a change that CloudFormation will refuse.
const refusal = "CloudFormation will refuse this: "

// keep says how to keep the data of a resource.
func keep(r plan.ResourceChange) string {
	if past(r) == "deleted" {
		return "; to keep it, first deploy the stack with DeletionPolicy: Retain on this resource"
	}
	return "; to keep it, first deploy the stack with UpdateReplacePolicy: Retain on this resource"
}

// keptBy says what keeps the data of a resource.
func keptBy(r plan.ResourceChange) string {
	what := "the old resource"
	if past(r) == "deleted" {
		what = "the resource"
	}
	if r.Policy == "Snapshot" {
		return "a snapshot of " + what + " is kept (Snapshot)"
	}
	return what + " is kept outside the stack (" + r.Policy + ")"
}

// property draws a property.
func (p *planText) property(r plan.ResourceChange, c plan.PropertyChange) {
	remark := ""
	switch {
	case c.Replacement == resource.Always && r.Action == difference.Replace:
		remark = "cannot be changed in place"
	case c.Replacement != resource.Never:
		remark = "may need a replacement"
	}
	switch {
	case c.Because != "":
		p.add(10, span{normal, c.Path + ": " + c.Because + inParentheses(remark)})
	case c.Secret:
		p.add(10, span{normal, c.Path + ": changes (secret)" + inParentheses(remark)})
	default:
		p.difference(10, c.Path, c.Before, c.After, remark)
	}
}

func inParentheses(remark string) string {
	if remark == "" {
		return ""
	}
	return " (" + remark + ")"
}

// maxValueLines is how many lines one value of a plan takes.
const maxValueLines = 6

// difference draws a value before and after: on one line if there is room, else each on
// lines of its own. Of texts of several lines only those that differ are drawn.
func (p *planText) difference(indent int, head string, before, after *string, remark string) {
	style := normal
	if remark != "" {
		style = red
	}
	one := orAbsent(before) + " → " + orAbsent(after)
	if text := head + ": " + one + inParentheses(remark); !strings.Contains(one, "\n") && indent+utf8.RuneCountInString(text) <= p.width {
		p.add(indent, span{style, text})
		return
	}
	p.add(indent, span{style, head + ":" + inParentheses(remark)})
	was, is := splitLines(before), splitLines(after)
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	p.block(indent+2, "- ", red, was)
	p.block(indent+2, "+ ", green, is)
}

func splitLines(s *string) []string {
	if s == nil {
		return nil
	}
	return strings.Split(quoted(*s), "\n")
}

// block draws the lines of a value, broken to fit.
func (p *planText) block(indent int, sign string, s style, lines []string) {
	var parts []string
	for _, l := range lines {
		for room := max(p.width-indent-2, 20); ; {
			runes := []rune(l)
			if len(runes) <= room {
				parts = append(parts, l)
				break
			}
			parts, l = append(parts, string(runes[:room])), string(runes[room:])
		}
	}
	for i, part := range parts {
		if i == maxValueLines && len(parts) > i+1 {
			p.lines = append(p.lines, line{{normal, strings.Repeat(" ", indent)}, {dim, "  … " + Plural(len(parts)-i, "more line")}})
			return
		}
		p.lines = append(p.lines, line{{normal, strings.Repeat(" ", indent)}, {s, sign + part}})
	}
}

// exports draws the exports of a stack that is deleted.
func (p *planText) exports(all []plan.OutputChange) {
	var names, users []string
	for _, o := range all {
		if o.Export != "" && o.Action == difference.Remove {
			names, users = append(names, o.Export), o.Users // all have the users of the stack
		}
	}
	if len(names) > 0 {
		p.add(6, span{red, "- "}, span{normal, "exports are deleted: " + strings.Join(names, ", ") + usedBy(users)})
	}
}

// usedBy names the stacks that used an output.
func usedBy(stacks []string) string {
	if len(stacks) == 0 {
		return ""
	}
	return "; used so far by " + strings.Join(stacks, ", ")
}

// output draws an output.
func (p *planText) output(o plan.OutputChange) {
	text := "output " + o.Name
	users := usedBy(o.Users)
	switch {
	case o.Export != "":
		p.add(6, span{red, "- "}, span{normal, text + ": export " + o.Export + " is deleted" + users})
	case o.Action == difference.Remove:
		p.add(6, span{red, "- "}, span{normal, text + users})
	case o.Action == difference.Add:
		p.add(6, span{green, "+ "}, span{normal, text})
	case o.Action == difference.Dynamic:
		p.add(6, span{cyan, "? "}, span{normal, text + " may change: " + o.Why})
	default:
		p.add(6, span{yellow, "~ "}, span{normal, text})
	}
	if o.Refused != "" {
		p.add(10, span{danger, refusal + o.Refused})
	}
}

// losses says what is replaced, a stack a line, and which data is lost or may be lost.
func losses(c plan.Changes) (replaced, lost, maybeLost []string) {
	for _, s := range c.Stacks {
		var ids []string
		for _, r := range s.Resources {
			switch {
			case r.DataLoss:
				lost = append(lost, fmt.Sprintf("DATA LOSS: %s %s, %s (%s)", s.Stack, r.ID, past(r), r.Loses))
			case r.PossibleDataLoss:
				maybeLost = append(maybeLost, fmt.Sprintf("POSSIBLE DATA LOSS: %s %s, if it is %s (%s)", s.Stack, r.ID, past(r), r.Loses))
			case r.Action == difference.Replace:
				ids = append(ids, r.ID)
			}
		}
		if len(ids) > 0 {
			replaced = append(replaced, fmt.Sprintf("REPLACED: %s %s", s.Stack, strings.Join(ids, ", ")))
		}
	}
	return replaced, lost, maybeLost
}

func past(r plan.ResourceChange) string {
	if r.Replacement != resource.Never {
		return "replaced"
	}
	return "deleted"
}

// planTotals is the last line of a plan.
func planTotals(c plan.Changes) string {
	s := c.Summary
	var words []string
	n := 0
	for _, part := range []struct {
		n     int
		words string
	}{
		{s.Create, "to create"}, {s.Update, "to update"}, {s.Possible, "possible"}, {s.Replace, "to replace"}, {s.Delete, "to delete"},
		{s.Forget, "to forget"},
	} {
		if part.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", part.n, part.words))
			n += part.n
		}
	}
	if n == 0 {
		return fmt.Sprintf("no changes, %d unchanged", s.Unchanged)
	}
	text := fmt.Sprintf("%s: %s; %d unchanged", Plural(n, "change"), strings.Join(words, ", "), s.Unchanged)
	if s.ResourcesReplaced > 0 {
		text += "; " + Plural(s.ResourcesReplaced, "resource") + " replaced"
	}
	if s.DataLoss > 0 {
		text += "; data loss in " + Plural(s.DataLoss, "resource")
	}
	if s.PossibleDataLoss > 0 {
		text += "; possible data loss in " + Plural(s.PossibleDataLoss, "resource")
	}
	if s.UnknownDataLoss > 0 {
		text += "; data loss unknown in " + Plural(s.UnknownDataLoss, "stack")
	}
	return text + "; " + run.About(c.Seconds.Duration())
}
