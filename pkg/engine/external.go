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

// valuesNow reads sources as they are now.
func (e *Engine) valuesNow(ctx context.Context, r run.Run, p project.Project, sources []project.Source) (read, error) {
	outputs, err := e.readOutputs(ctx, r, sources)
	if err != nil {
		return nil, fmt.Errorf("read the outputs of stacks outside the project: %w", err)
	}
	exports, err := e.readExports(ctx, r, p, sources)
	if err != nil {
		return nil, fmt.Errorf("read exports: %w", err)
	}
	parameters, err := e.readParameters(ctx, sources)
	if err != nil {
		return nil, fmt.Errorf("read parameters of the parameter store: %w", err)
	}
	backups, err := e.readBackups(ctx, r, sources)
	if err != nil {
		return nil, fmt.Errorf("read the snapshots: %w", err)
	}
	return func(s project.Source) (string, error) {
		switch {
		case s.Snapshot != "":
			return backups(s)
		case s.Export != "":
			return exports(s)
		case s.Parameter != "":
			return parameters(s)
		}
		return outputs(s)
	}, nil
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
// makes is refused: this run may change it. One of a stack that the project no longer has is missing: this run deletes it.
func (e *Engine) readExports(ctx context.Context, r run.Run, p project.Project, sources []project.Source) (read, error) {
	found, err := inTargets(sources, func(s project.Source) string { return s.Export }, func(t project.Target, names []string) (map[string]plan.Export, error) {
		return e.exports(ctx, r.ID, t, names)
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	recorded, err := e.Store.Records(ctx, r.Project)
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
		for _, own := range recorded {
			if own.Stack == x.Stack && own.Target.Where() == s.Target.Where() {
				return "", fault.New(fault.Missing, "stack %s, which makes the export, is no longer in the project", own.Node)
			}
		}
		return x.Value, e.Externals.Permit(r.Project, x.Stack)
	}, err
}

// readParameters reads plain parameters of the parameter store. The loader of the files has refused those that the project may not
// read.
func (e *Engine) readParameters(ctx context.Context, sources []project.Source) (read, error) {
	found, err := inTargets(sources, func(s project.Source) string { return s.Parameter }, func(t project.Target, names []string) (map[string]project.StoredParameter, error) {
		return e.Parameters.StoredParameters(ctx, t, names)
	})
	return func(s project.Source) (string, error) {
		p, ok := found[s.Target][s.Parameter]
		switch {
		case !ok:
			return "", fault.New(fault.Missing, "there is no parameter %s in target %s", s.Parameter, s.Target.Name)
		case p.Secure:
			return "", fault.New(fault.Refused, "the parameter is a secure string, which Stackwright does not read: write ${ssm-secure:%s}, which CloudFormation resolves", s.Parameter)
		}
		return p.Value, nil
	}, err
}

// inTargets reads what the sources of one kind name in each target; name returns "" for those of another kind.
func inTargets[T any](sources []project.Source, name func(project.Source) string, from func(project.Target, []string) (map[string]T, error)) (map[project.Target]map[string]T, error) {
	names := make(map[project.Target][]string)
	for _, s := range sources {
		if one := name(s); one != "" {
			names[s.Target] = append(names[s.Target], one)
		}
	}
	found := make(map[project.Target]map[string]T)
	for _, t := range slices.SortedFunc(maps.Keys(names), project.Target.Compare) {
		var err error
		if found[t], err = from(t, names[t]); err != nil {
			return nil, err
		}
	}
	return found, nil
}
