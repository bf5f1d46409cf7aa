package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// readSources puts the values outside the project in the place of the references to them. The targets are
// permitted.
func (e *Engine) readSources(ctx context.Context, r run.Run, p project.Project) (project.Project, error) {
	sources := p.Sources()
	if len(sources) == 0 {
		return p, nil
	}
	outputs, err := e.readOutputs(ctx, r, sources)
	if err != nil {
		return p, fmt.Errorf("read the outputs of stacks outside the project: %w", err)
	}
	exports, err := e.readExports(ctx, r, p, sources)
	if err != nil {
		return p, fmt.Errorf("read exports: %w", err)
	}
	return p.ReadSources(func(s project.Source) (string, error) {
		if s.Export != "" {
			return exports(s)
		}
		return outputs(s)
	})
}

// A read returns the value of a source. The error is of kind Missing if it does not exist.
type read func(project.Source) (string, error)

// readOutputs reads outputs of stacks. The loader of the files has refused those that the project may not read.
func (e *Engine) readOutputs(ctx context.Context, r run.Run, sources []project.Source) (read, error) {
	var locations []plan.Location
	seen := make(map[string]bool)
	place := func(s project.Source) string { return s.Stack + "@" + s.Target.Name }
	for _, s := range sources {
		if s.Stack != "" && !seen[place(s)] {
			seen[place(s)] = true
			locations = append(locations, plan.Location{Node: place(s), Stack: s.Stack, Target: s.Target})
		}
	}
	if len(locations) == 0 {
		return nil, nil
	}
	live, err := e.observe(ctx, r.ID, locations)
	return func(s project.Source) (string, error) {
		l := live[place(s)]
		value, ok := l.Outputs[s.Output]
		switch {
		case l.AccessError != "":
			return "", fault.New(fault.Denied, "%s", l.AccessError)
		case l.Status.Gone():
			return "", fault.New(fault.Missing, "there is no stack %s in target %s", s.Stack, s.Target.Name)
		case !ok:
			return "", fault.New(fault.Missing, "stack %s in target %s has no output %s", s.Stack, s.Target.Name, s.Output)
		}
		return value, nil
	}, err
}

// readExports reads exports. The project may read those of the stacks whose outputs it may read. One that a stack of the project itself
// makes is refused: this run may change it.
func (e *Engine) readExports(ctx context.Context, r run.Run, p project.Project, sources []project.Source) (read, error) {
	names := make(map[project.Target][]string)
	for _, s := range sources {
		if s.Export != "" {
			names[s.Target] = append(names[s.Target], s.Export)
		}
	}
	found := make(map[project.Target]map[string]plan.Export)
	for _, t := range slices.SortedFunc(maps.Keys(names), project.Target.Compare) {
		var err error
		if found[t], err = e.exports(ctx, r.ID, t, names[t]); err != nil {
			return nil, err
		}
	}
	return func(s project.Source) (string, error) {
		x, ok := found[s.Target][s.Export]
		if !ok {
			return "", fault.New(fault.Missing, "there is no export %s in target %s", s.Export, s.Target.Name)
		}
		for _, n := range p.Nodes {
			if n.Stack == x.Stack && n.Target.Where() == s.Target.Where() {
				return "", fault.New(fault.Refused, "stack %s of this project makes the export, and its template does not say so with a name that is known before the deploy: write the output, as in ${%s.Output}", n.Name, n.Name)
			}
		}
		return x.Value, e.Externals.Permit(r.Project, x.Stack)
	}, nil
}
