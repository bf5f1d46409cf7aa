package plan

import (
	"maps"
	"slices"
	"strings"
)

// A TargetsChange counts what a plan does with the targets of one stack that has several.
type TargetsChange struct {
	Stack     string              `json:"stack"` // in the project, without a target
	Targets   int                 `json:"targets"`
	Unchanged int                 `json:"unchanged,omitempty"`
	Possible  int                 `json:"possible,omitempty"` // that may change
	Actions   map[StackAction]int `json:"actions,omitempty"`  // how many of the others, by what happens to them
	Waves     []int               `json:"waves,omitempty"`    // how many targets change in each wave of its rollout that changes, if there are several
}

// Several returns the stack of a node that is one of several, without its target; "" if the stack has only one.
func Several(node string) string {
	stack, _, several := strings.Cut(node, "@")
	if !several {
		return ""
	}
	return stack
}

// targets counts what a plan does with the stacks that have several targets, sorted.
func (v View) targets(p Plan, stacks []StackChange) []TargetsChange {
	by := make(map[string]*TargetsChange)
	of := func(node string) *TargetsChange {
		stack := Several(node)
		if by[stack] == nil {
			by[stack] = &TargetsChange{Stack: stack, Actions: make(map[StackAction]int)}
		}
		return by[stack]
	}
	waves := make(map[string]map[int]int)
	for _, s := range stacks {
		if Several(s.Stack) == "" {
			continue
		}
		t := of(s.Stack)
		t.Targets++
		if s.Certainty == Possible {
			t.Possible++
		} else {
			t.Actions[s.Action]++
		}
		if r := v.Desired.Nodes[s.Stack].Rollout; r != nil {
			if waves[t.Stack] == nil {
				waves[t.Stack] = make(map[int]int)
			}
			waves[t.Stack][r.Wave]++
		}
	}
	for _, name := range p.Unchanged {
		if stack := Several(name); by[stack] != nil && stack != "" {
			by[stack].Targets++
			by[stack].Unchanged++
		}
	}
	var all []TargetsChange
	for _, stack := range slices.Sorted(maps.Keys(by)) {
		t := *by[stack]
		for _, n := range slices.Sorted(maps.Keys(waves[stack])) {
			if len(waves[stack]) > 1 {
				t.Waves = append(t.Waves, waves[stack][n])
			}
		}
		all = append(all, t)
	}
	return all
}
