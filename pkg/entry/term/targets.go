package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// manyTargets is how many targets of one stack are shown each by itself: more are one line.
const manyTargets = 5

// targetsLine says what a plan does with the targets of a stack: "300 targets: 290 create, 10 unchanged".
func targetsLine(t plan.TargetsChange) string {
	var words []string
	for _, a := range plan.StackActions() {
		if n := t.Actions[a]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, a))
		}
	}
	if t.Possible > 0 {
		words = append(words, fmt.Sprintf("%d may change", t.Possible))
	}
	if t.Unchanged > 0 {
		words = append(words, fmt.Sprintf("%d unchanged", t.Unchanged))
	}
	text := fmt.Sprintf("%s: %s", Plural(t.Targets, "target"), strings.Join(words, ", "))
	if len(t.Waves) > 0 {
		var sizes []string
		for _, n := range t.Waves {
			sizes = append(sizes, fmt.Sprint(n))
		}
		text += fmt.Sprintf(", in %s: %s", Plural(len(t.Waves), "wave"), strings.Join(sizes, ", "))
	}
	return text
}

// manyOf returns the stacks that a plan changes in many targets, by their names without a target.
func manyOf(c plan.Changes) map[string]plan.TargetsChange {
	all := make(map[string]plan.TargetsChange)
	for _, t := range c.Targets {
		if t.Targets-t.Unchanged > manyTargets {
			all[t.Stack] = t
		}
	}
	return all
}

// mostAlike is how many different changes of the targets of one stack are drawn, besides those that lose data or replace resources.
const mostAlike = 3

// targets draws what happens to many targets of a stack: one line, and then what is the same in all of them. If it is not the same, it
// draws it for the targets that are alike.
func (p *planText) targets(t plan.TargetsChange, stacks []plan.StackChange) {
	sign := signs[stacks[0].Action]
	if slices.ContainsFunc(stacks, func(s plan.StackChange) bool {
		return s.Action != stacks[0].Action || s.Certainty != stacks[0].Certainty
	}) {
		sign = span{yellow, "~"}
	} else if stacks[0].Certainty == plan.Possible {
		sign = span{cyan, maybe}
	}
	p.add(2, sign, span{bold, " " + t.Stack}, span{normal, "  " + targetsLine(t)})
	for _, s := range stacks {
		if slices.Contains(p.waiting, s.Stack) {
			p.add(6, span{yellow, "waits for your approval: " + s.Stack})
		}
	}
	type alike struct {
		lines []line
		names []string
	}
	var all []alike
	risky := 0 // how many of them, the first ones, lose data or replace resources
	for _, s := range slices.SortedStableFunc(slices.Values(stacks), func(a, b plan.StackChange) int { return rank(a) - rank(b) }) {
		one := &planText{width: p.width}
		one.stack(s, nil)
		body := one.lines[1:]
		same := func(a alike) bool { return slices.EqualFunc(a.lines, body, sameLine) }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].names = append(all[i].names, s.Stack)
		} else {
			all = append(all, alike{body, []string{s.Stack}})
			if rank(s) < rank(plan.StackChange{}) {
				risky = len(all)
			}
		}
	}
	for i, a := range all {
		if i == risky+mostAlike {
			p.add(6, span{dim, fmt.Sprintf("… and %d other changes: --targets shows each target", len(all)-i)})
			return
		}
		if len(all) > 1 {
			p.add(6, span{dim, "in " + namesOf(a.names) + ":"})
		}
		p.lines = append(p.lines, a.lines...)
	}
}

func sameLine(a, b line) bool { return slices.Equal(a, b) }

// namesOf lists names of stacks. Many targets of one stack are counted.
func namesOf(names []string) string {
	count := make(map[string]int)
	for _, n := range names {
		count[plan.Several(n)]++
	}
	var all []string
	said := make(map[string]bool)
	for _, n := range names {
		stack := plan.Several(n)
		switch {
		case stack == "" || count[stack] <= manyTargets:
			all = append(all, n)
		case !said[stack]:
			said[stack] = true
			all = append(all, fmt.Sprintf("%s (%d targets)", stack, count[stack]))
		}
	}
	return strings.Join(all, ", ")
}

// A standing counts the targets of one stack in a run.
type standing struct {
	stack string
	by    map[run.Status]int
	all   int
}

// manyIn counts, for each stack with many targets in r, how many are in which state: failed if a step of them has failed, and so on.
func manyIn(r run.Run) map[string]*standing {
	order := []run.Status{run.Failed, run.Waiting, run.Running, run.Skipped, run.Pending, run.Done} // the first that a step of a target has counts
	nodes := make(map[string]run.Status)
	for _, s := range r.Steps {
		if plan.Several(s.Node) == "" {
			continue
		}
		if was, known := nodes[s.Node]; !known || slices.Index(order, s.Status) < slices.Index(order, was) {
			nodes[s.Node] = s.Status
		}
	}
	all := make(map[string]*standing)
	for node, status := range nodes {
		stack := plan.Several(node)
		if all[stack] == nil {
			all[stack] = &standing{stack: stack, by: make(map[run.Status]int)}
		}
		all[stack].all++
		all[stack].by[status]++
	}
	for stack, s := range all {
		if s.all <= manyTargets {
			delete(all, stack)
		}
	}
	return all
}

// text says how far the targets have come: "300 targets: 12 running, 100 done, 188 to come".
func (s standing) text() string {
	var words []string
	for _, w := range []struct {
		status run.Status
		word   string
	}{{run.Failed, "failed"}, {run.Waiting, "waiting"}, {run.Running, "running"}, {run.Done, "done"}, {run.Skipped, "skipped"}, {run.Pending, "to come"}} {
		if n := s.by[w.status]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, w.word))
		}
	}
	return fmt.Sprintf("%d targets: %s", s.all, strings.Join(words, ", "))
}
