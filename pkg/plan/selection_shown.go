package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A ShownSelection says which stacks a plan is about, and why.
type ShownSelection struct {
	Selection
	Selected int         `json:"selected"`           // how many stacks
	Added    []ChosenFor `json:"added,omitempty"`    // what the request does not name, and a dependency adds
	LeftOut  []ChosenFor `json:"left_out,omitempty"` // what is excluded, and the direct dependencies of selected stacks that are not added
	Same     int         `json:"same,omitempty"`     // how many stacks are not selected because their files are those of changed_since
	Others   int         `json:"others,omitempty"`   // how many stacks are not selected for no other reason than that nothing names them, and those of same
}

// A ChosenFor is a stack that is selected, or is not, for a reason.
type ChosenFor struct {
	Stack string `json:"stack"`
	Why   string `json:"why"`
}

// selection is what people are shown of a choice; nil if all stacks are selected.
func (v View) selection(c choice) *ShownSelection {
	if c.about == nil {
		return nil
	}
	if v.Importers != nil {
		c = v.following(c)
	}
	s := v.Selection.Clone()
	s.Differing = nil
	named := func(why map[string]string) []ChosenFor {
		var all []ChosenFor
		for _, name := range slices.Sorted(maps.Keys(why)) {
			stack := name
			if r, recorded := v.Recorded[name]; recorded {
				stack = r.displayName()
			}
			all = append(all, ChosenFor{stack, why[name]})
		}
		return all
	}
	return &ShownSelection{Selection: s, Selected: len(c.about), Added: named(c.added), LeftOut: named(c.leftOut), Same: c.same, Others: c.others}
}

// following adds to a choice what a replace changes besides.
func (v View) following(c choice) choice {
	about, added, leftOut := maps.Clone(c.about), maps.Clone(c.added), maps.Clone(c.leftOut)
	for name, why := range v.replacement().all() {
		if about[name] {
			continue
		}
		if about[name], added[name] = true, why; leftOut[name] == "" {
			c.others--
		}
		delete(leftOut, name)
	}
	c.about, c.added, c.leftOut = about, added, leftOut
	return c
}

// SayingSelection says for people what the selection of a request adds and leaves out; nothing if it is about all stacks.
func (v View) SayingSelection() []string {
	c, _ := v.choose()
	if s := v.selection(c); s != nil {
		return s.Lines()
	}
	return nil
}

// How much of a selection people are shown.
const (
	maxReasons = 6 // lines of stacks that are added, and the same of those that are left out
	maxNamed   = 6 // stacks in a line
)

// Lines says for people what is added and left out, in at most a dozen lines. Stacks with the same reason share a line.
func (s ShownSelection) Lines() []string {
	all := append(reasonLines("added", s.Added), reasonLines("left out", s.LeftOut)...)
	if s.Same > 0 {
		all = append(all, fmt.Sprintf("left out: %s (the files are those of run %s)", counted(s.Same), s.ChangedSince))
	}
	if others := s.Others - s.Same; others > 0 {
		all = append(all, fmt.Sprintf("left out: %s (not selected)", counted(others)))
	}
	return all
}

// counted is a number of stacks in a sentence.
func counted(n int) string {
	if n == 1 {
		return "1 stack"
	}
	return fmt.Sprintf("%d stacks", n)
}

// reasonLines are the lines of stacks, one for each reason.
func reasonLines(what string, stacks []ChosenFor) []string {
	var order []string
	by := make(map[string][]string)
	for _, s := range stacks {
		if by[s.Why] == nil {
			order = append(order, s.Why)
		}
		by[s.Why] = append(by[s.Why], s.Stack)
	}
	var all []string
	rest := 0
	for i, why := range order {
		names := by[why]
		if i >= maxReasons {
			rest += len(names)
			continue
		}
		text := strings.Join(names[:min(len(names), maxNamed)], ", ")
		if more := len(names) - maxNamed; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		all = append(all, fmt.Sprintf("%s: %s (%s)", what, text, why))
	}
	if rest > 0 {
		all = append(all, fmt.Sprintf("%s: %s more", what, counted(rest)))
	}
	return all
}
