package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/difference"
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

// imported says why a value that a stack imports may change; it is empty if none may.
func (d describer) imported(at place, after difference.Side) string {
	for _, i := range after.Template.In(after.Scope).Imports() {
		if why := d.exports[at][i.Name]; why != "" {
			return why
		}
	}
	return ""
}

// dependents lists, for each node, the recorded stacks that depend on it, sorted.
func dependents(recorded map[string]Record) map[string][]string {
	all := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		for _, need := range recorded[name].Needs {
			all[need] = append(all[need], name)
		}
	}
	return all
}

// dependentsOf lists the stacks that stay and depend on a node, as they are recorded,
// sorted.
func (d describer) dependentsOf(node string) []string {
	var all []string
	for _, name := range d.dependents[node] {
		if _, stays := d.Desired.Nodes[name]; stays {
			all = append(all, d.Recorded[name].displayName())
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
		_, has := d.outputOf(c.Stack, output)
		switch {
		case c.Action == ActionCreate || c.Action == ActionReplace:
			return fmt.Sprintf("known when %s is created", c.Stack)
		case (!compared || changed[output]) && output != project.StackID || !has:
			return fmt.Sprintf("known when %s is deployed", c.Stack)
		}
		return ""
	}
}
