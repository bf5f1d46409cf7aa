package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/lib/template"
)

// A named is a resource with a physical name of its own, in a stack.
type named struct{ stack, id, name string }

// warn warns that another resource has the name.
func (n named) warn(id, of string) string {
	return fmt.Sprintf("%s has the name %s, as %s of stack %s in the same account and region: AWS refuses the second one: "+
		"give one of them another name", n.id, n.name, id, of)
}

// sameNames warns of resources that have the names of others in stacks that were described before, in the same account
// and region: AWS refuses the second one. Names that are not known yet say nothing. Names that the stack does not have
// yet are new.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html
func (d describer) sameNames(c StackChange, at place, before, after difference.Side, uncertain map[string]string) []string {
	if c.Action == ActionDelete || c.Action == ActionForget || after.Template == nil {
		return nil
	}
	var all []string
	had := namesIn(known(before, nil), at, c.Stack)
	names := namesIn(known(after, uncertain), at, c.Stack)
	for _, key := range slices.Sorted(maps.Keys(names)) {
		if other, taken := d.names[key]; taken && other.stack != c.Stack {
			all = append(all, names[key].warn(other.id, other.stack))
			continue
		}
		d.names[key] = names[key]
		if _, old := had[key]; !old {
			d.fresh[key] = names[key]
		}
	}
	return all
}

// namesIn lists the resources of a template with names, by what tells them from all others of their account and region.
func namesIn(in *template.Evaluation, at place, stack string) map[string]named {
	all := make(map[string]named)
	if in == nil {
		return all
	}
	for _, r := range in.Resources() {
		typ, listed := resource.Named(r.Type)
		properties, literal := in.Reduce(r.Properties).(map[string]any)
		if !listed || !literal {
			continue
		}
		if name, key, ok := typ.Called(properties); ok {
			all[at.account+" "+at.region+" "+key] = named{stack, r.Name, name}
		}
	}
	return all
}

// A Neighbour is a recorded stack that a plan does not change.
type Neighbour struct {
	Environment string // "" for that of the plan
	Record      Record
	Digest      string            // of its template
	Parameters  map[string]string // nil if they are not known
}

// HasNewNames reports whether the plan gives a resource a name that its stack does not have yet.
func (c Changes) HasNewNames() bool { return len(c.fresh) > 0 }

// Neighbours lists the recorded stacks of the project that a plan, of changes c, does not change, sorted.
func (v View) Neighbours(c Changes) []Neighbour {
	changed := make(map[string]bool)
	for _, s := range c.Stacks {
		changed[s.Stack] = true
	}
	var all []Neighbour
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if digest, _ := v.TemplateOf(name); digest != "" && v.managed(name) && !changed[name] {
			all = append(all, Neighbour{Record: v.Recorded[name], Digest: digest, Parameters: parametersOf(v.Live[name])})
		}
	}
	return all
}

// NeighboursIn lists the recorded stacks of another environment of the project, sorted.
func NeighboursIn(environment string, records map[string]Record) []Neighbour {
	var all []Neighbour
	for _, name := range slices.Sorted(maps.Keys(records)) {
		if r := records[name]; r.Template != "" && r.StackID != "" {
			all = append(all, Neighbour{Environment: environment, Record: r, Digest: r.Template})
		}
	}
	return all
}

// BesideNames returns the changes with warnings of new names that neighbours have. A template that cannot be read says
// nothing.
func (c Changes) BesideNames(all []Neighbour, templates Templates) Changes {
	warnings := make(map[string][]string)
	for _, n := range all {
		t, err := templates(n.Digest)
		if err != nil {
			continue
		}
		side := difference.Side{Template: t, Scope: scope(n.Record.Stack, n.Record.StackID, n.Record.Target)}
		side.Scope.Parameters = n.Parameters
		has := namesIn(known(side, nil), placeOf(n.Record.Target), n.Record.displayName())
		of := n.Record.displayName()
		if n.Environment != "" {
			of += " of environment " + n.Environment
		}
		for _, key := range slices.Sorted(maps.Keys(has)) {
			if fresh, is := c.fresh[key]; is {
				warnings[fresh.stack] = append(warnings[fresh.stack], fresh.warn(has[key].id, of))
			}
		}
	}
	c.Stacks = slices.Clone(c.Stacks)
	for i, s := range c.Stacks {
		c.Stacks[i].Warnings = slices.Concat(s.Warnings, warnings[s.Stack])
	}
	return c
}
