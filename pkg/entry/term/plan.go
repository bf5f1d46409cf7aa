package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
)

// planWidth is the width of a plan that is not shown on a terminal.
const planWidth = 80

// Plan draws what a plan changes: a block for each stack, and the totals last. Many targets of one stack have one block, unless c.Targets
// does not count them. No line is
// longer than width, except for words that are; 0 is 80 columns. It marks the stacks that wait
// for approval.
func Plan(c plan.Changes, width int, colour bool, waiting ...string) []string {
	if width == 0 {
		width = planWidth
	}
	p := &planText{width: width, waiting: waiting}
	p.add(0, span{bold, plan.CommandOf(c.Operation) + " of " + c.Project + "@" + c.Environment})
	after := make(map[string][]string, len(c.Steps))
	for _, s := range c.Steps {
		after[s.Step] = s.After
	}
	many := manyOf(c)
	for i, s := range c.Stacks {
		if t, collapsed := many[plan.Several(s.Stack)]; collapsed {
			of := func(o plan.StackChange) bool { return plan.Several(o.Stack) == t.Stack }
			if i == slices.IndexFunc(c.Stacks, of) {
				p.targets(t, slices.DeleteFunc(slices.Clone(c.Stacks), func(o plan.StackChange) bool { return !of(o) }))
			}
			continue
		}
		var waits []string
		if len(s.Steps) > 0 {
			waits = after[s.Steps[0]]
		}
		p.stack(s, waits)
	}
	for _, s := range c.Snapshots {
		p.snapshot(s)
	}
	for _, h := range c.Hooks {
		p.add(2, span{dim, hookLine(h)})
	}
	for _, m := range c.Messages {
		p.add(2, span{yellow, oneLine(m)})
	}
	if c.Selection != nil {
		for _, l := range c.Selection.Lines() {
			p.add(2, span{dim, oneLine(l)})
		}
	}
	for _, l := range c.MaxParallel {
		if len(c.Stacks) == 0 {
			break
		}
		what := "stacks"
		if l.Prefix != "" {
			what = "of the stacks " + l.Prefix + "…"
		}
		if l.Group != "" {
			what = "stacks of the group " + l.Group
		}
		if l.Rollout != "" {
			what = "targets of " + l.Rollout
		}
		p.add(2, span{dim, fmt.Sprintf("at most %d %s at the same time", l.Most, what)})
	}
	for _, l := range c.MaxFailures {
		what := "stacks"
		if l.Rollout != "" {
			what = "targets of " + l.Rollout
		}
		if len(c.Stacks) > 0 {
			p.add(2, span{dim, fmt.Sprintf("no other of the %s begins after more than %d have failed", what, l.Most)})
		}
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
	denied, warned := verdicts(c)
	for _, l := range warned {
		p.add(0, span{yellow, oneLine(l)})
	}
	for _, l := range denied {
		p.add(0, span{danger, oneLine(l)})
	}
	if c.Cost.Differs() {
		p.add(0, span{dim, costLine(c.Cost)})
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
	width   int
	waiting []string // the stacks that wait for approval
	lines   []line
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
	last, begin := spans[len(spans)-1], l[:len(l)-1]
	first, rest := breakLine(last.text, p.width-begin.length())
	if first == "" && len(spans) <= 2 { // at most a sign is before it: the line has a word, although it is too long
		first, rest, _ = strings.Cut(strings.TrimLeft(last.text, " "), " ")
	}
	p.lines = append(p.lines, append(slices.Clone(begin), span{last.style, first}))
	if rest != "" {
		for _, part := range Wrap(rest, p.width-indent-2, "") {
			p.lines = append(p.lines, line{{normal, strings.Repeat(" ", indent+2)}, {last.style, part}})
		}
	}
}

// signs are the signs and colours of actions.
var signs = map[plan.StackAction]span{
	plan.ActionCreate: {green, "+"}, plan.ActionUpdate: {yellow, "~"}, plan.ActionReplace: {red, "±"}, plan.ActionDelete: {red, "-"}, plan.ActionForget: {dim, " "}, plan.ActionLevel: {cyan, "="}, plan.ActionRetain: {cyan, "="}, plan.ActionHooks: {cyan, "="}, plan.ActionRevert: {yellow, "<"}, plan.ActionSuspend: {yellow, "."}, plan.ActionResume: {green, ">"}, plan.ActionAdopt: {green, "*"}, plan.ActionImport: {green, "^"},
}

// stack draws the block of a stack.
func (p *planText) stack(s plan.StackChange, after []string) {
	sign, words := signs[s.Action], string(s.Action)
	if s.Action == plan.ActionLevel {
		words = "set the level of approval"
	}
	if s.Action == plan.ActionRevert {
		words = "bring back what has drifted"
	}
	if s.Action == plan.ActionRetain {
		words = "set what a deletion retains"
	}
	if s.Action == plan.ActionHooks {
		words = "hooks only"
	}
	if s.Idle() {
		words = "stays as it is"
	}
	if s.Certainty == plan.Possible {
		sign, words = span{cyan, maybe}, "may change"
	}
	if s.Deployment != "" {
		words += " in " + string(s.Deployment) + " mode"
	}
	if s.Exact {
		words += ", as its change set says"
	}
	if slices.Contains(after, string(plan.Barrier)) {
		after = []string{"all other steps"}
	}
	if len(after) > 0 {
		words += "  (after " + strings.Join(after, ", ") + ")"
	}
	p.add(2, sign, span{bold, " " + s.Stack}, span{normal, "  " + words})
	if slices.Contains(p.waiting, s.Stack) {
		p.add(6, span{yellow, "waits for your approval"})
	}
	for _, reason := range s.Reasons {
		p.add(6, span{dim, oneLine(reason)})
	}
	if len(s.Drifted) > 0 && s.Action != plan.ActionRevert {
		p.add(6, span{yellow, "has drifted: " + strings.Join(s.Drifted, ", ")})
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
	for _, l := range suspensionLines(s) {
		p.add(6, span{normal, oneLine(l)})
	}
	if s.Action.Existing() {
		for _, o := range s.Outputs {
			p.output(o)
		}
	} else {
		p.exports(s.Outputs)
	}
	for _, h := range s.Hooks {
		p.add(6, span{dim, hookLine(h)})
		if h.Loses != "" {
			p.add(8, span{danger, "DATA LOSS: " + h.Loses})
		}
	}
	for _, d := range s.Disagreements {
		p.add(6, span{yellow, oneLine(d)})
	}
	for _, w := range s.Warnings {
		p.add(6, span{yellow, "warning: " + oneLine(w)})
	}
	for _, w := range s.Caveats {
		p.add(6, span{dim, "(" + oneLine(w) + ")"})
	}
}

// suspensionLines says what a suspend would stop in a stack, or a resume would start, a resource a line, and then what stays as it is.
func suspensionLines(s plan.StackChange) []string {
	if s.Suspension == nil {
		return nil
	}
	var lines []string
	for _, r := range s.Suspension.Resources {
		line := map[plan.StackAction]string{plan.ActionSuspend: "stop ", plan.ActionResume: "start "}[s.Action] + r.Kind + " " + r.ID + ", which is " + r.Is
		if s.Action == plan.ActionResume && r.Was != "" {
			line += ", as it was: " + r.Was
		}
		lines = append(lines, line)
	}
	for _, r := range s.Suspension.Stay {
		lines = append(lines, r.Kind+" "+r.ID+" stays as it is: "+r.Why)
	}
	if len(lines) == 0 {
		lines = []string{"nothing in it can be stopped"}
	}
	return lines
}

// hookLine says what a hook calls, and when.
func hookLine(h plan.PlannedHook) string {
	return oneLine(fmt.Sprintf("hook %s, %s: %s %s", h.Name, h.Moment, h.Type, h.Calls))
}
