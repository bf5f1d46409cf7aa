package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// A place is an account and a region: names of exports are unique there.
type place struct{ account, region string }

func placeOf(t project.Target) place { return place{t.Account, t.Region} }

// addExports adds the exports of a stack whose values may change.
func (d describer) addExports(c StackChange, at place, after difference.Side) {
	for _, e := range after.Template.In(after.Scope).Exports() {
		if d.uncertain[c.Stack](e.Output) == "" {
			continue
		}
		if d.exports[at] == nil {
			d.exports[at] = make(map[string]string)
		}
		d.exports[at][e.Name] = fmt.Sprintf("export %s of %s may change", e.Name, c.Stack)
	}
}

// dependentsOf lists the stacks that stay and depend on a node, as they are recorded,
// sorted.
func (d describer) dependentsOf(node string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(d.Recorded)) {
		if _, stays := d.Desired.Nodes[name]; stays && slices.Contains(d.Recorded[name].Needs, node) {
			all = append(all, d.Recorded[name].displayName())
		}
	}
	return all
}

// importersOf lists the live stacks whose deployed templates import an export of a node,
// sorted, as far as the plan reads their templates.
func (d describer) importersOf(node, export string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(d.Recorded)) {
		r, live := d.Recorded[name], d.Live[name]
		if export == "" || live.Status.Gone() || r.Template == "" || !slices.Contains(r.Needs, node) || placeOf(r.Target) != placeOf(d.Recorded[node].Target) {
			continue
		}
		t, err := d.templates(r.Template)
		if err != nil {
			continue // a caveat of that stack says so
		}
		s := scope(r.Stack, live.StackID, r.Target)
		s.Parameters = live.Parameters
		if slices.ContainsFunc(t.In(s).Imports(), func(i template.Import) bool { return i.Name == export }) {
			all = append(all, r.displayName())
		}
	}
	return all
}

// outputsOf returns why the outputs of a stack are not known before it is deployed.
func (d describer) outputsOf(c StackChange, compared bool) func(output string) string {
	changed := make(map[string]bool)
	for _, o := range c.Outputs {
		changed[o.Name] = true
	}
	return func(output string) string {
		_, has := d.outputs(c.Stack)[output]
		switch {
		case c.Action == ActionCreate || c.Action == ActionReplace:
			return fmt.Sprintf("known when %s is created", c.Stack)
		case !compared || changed[output] || !has:
			return fmt.Sprintf("known when %s is deployed", c.Stack)
		}
		return ""
	}
}
