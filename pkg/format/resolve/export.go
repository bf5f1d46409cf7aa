package resolve

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/reference"
	"github.com/stackwright/stackwright/pkg/project"
)

// useExports puts the outputs of the stacks of the project in the place of the exports that they make, and
// adds the edges. An export that the project does not make stays: it is read when a plan is made.
func (r *resolver) useExports(s *Stack, makers map[Place][]maker) {
	for _, of := range []struct {
		kind string
		from map[string]declared.Entry
		into map[string]project.Text
	}{{"parameter ", s.Settings.Parameters, s.Node.Parameters}, {"tag ", s.Settings.Tags, s.Node.Tags}} {
		for _, name := range slices.Sorted(maps.Keys(of.into)) {
			if len(of.into[name].Sources()) == 0 {
				continue
			}
			at := of.from[name].Value.At
			text, err := of.into[name].ReplaceSources(func(source project.Source) (project.Term, error) {
				return r.useExport(s, source, makers, at)
			})
			if err != nil {
				r.refuse(at, "stack "+s.Name+": "+of.kind+name, err)
			}
			of.into[name] = text
		}
	}
}

// useExport returns the output that a source is an export of, or the source itself.
func (r *resolver) useExport(s *Stack, source project.Source, makers map[Place][]maker, at problem.Position) (project.Term, error) {
	of := makers[Place{source.Target.Account, source.Target.Region, source.Export}]
	same := project.Term{Source: &source}
	switch {
	case source.Export == "" || len(of) == 0:
		return same, nil
	case r.limits.full:
		return same, reference.ErrReported
	case slices.ContainsFunc(of, func(m maker) bool { return m.output == "" }):
		name := of[0].stack.Node.Name
		return same, fmt.Errorf("a stack nested in %s makes this export: give %s an output with its value, and write ${%s.OUTPUT}", name, name, name)
	case len(of) > 1:
		return same, fmt.Errorf("stacks %s and %s of this project may both make this export: write ${%s.%s ?? %s.%s}",
			of[0].stack.Node.Name, of[1].stack.Node.Name, of[0].stack.Node.Name, of[0].output, of[1].stack.Node.Name, of[1].output)
	case of[0].stack == s:
		return same, errors.New("the stack makes this export itself, and it exists only after the stack is deployed")
	}
	maker := of[0].stack.Node.Name
	r.edge(Edge{Node: s.Node.Name, Needs: maker, Cause: Imported, What: source.Export}, at)
	return project.Term{Node: maker, Output: of[0].output}, nil
}
