package fact

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Parameters reads the parameter store of Systems Manager in all accounts and regions.
type Parameters interface {
	// StoredParameters reads parameters by their names, each of which may end in a colon and a version,
	// and returns them by these. It leaves out those that do not exist. It never reads the value of a secure string.
	StoredParameters(ctx context.Context, t project.Target, names []string) (map[string]project.StoredParameter, error)
}

// parameterFact is the parameters of the parameter store.
func parameterFact(from Parameters) Fact {
	return Fact{Of: func(s project.Source) bool { return s.Parameter != "" }, Values: parameters{from}.read}
}

type parameters struct {
	store Parameters
}

// read reads plain parameters of the parameter store. The loader of the files has refused those that the project may not
// read.
func (x parameters) read(ctx context.Context, _ Reading, _ project.Project, sources []project.Source) (Value, error) {
	found, err := inTargets(sources, func(s project.Source) string { return s.Parameter }, func(t project.Target, names []string) (map[string]project.StoredParameter, error) {
		return x.store.StoredParameters(ctx, t, names)
	})
	if err != nil {
		return nil, fmt.Errorf("read parameters of the parameter store: %w", err)
	}
	return func(s project.Source) (string, error) {
		p, ok := found[s.Target][s.Parameter]
		switch {
		case !ok:
			return "", fault.New(fault.Missing, "there is no parameter %s in target %s", s.Parameter, s.Target.Name)
		case p.Secure:
			return "", fault.New(fault.Refused, "the parameter is a secure string, which Stackwright does not read: write ${ssm-secure:%s}, which CloudFormation resolves", s.Parameter)
		}
		return p.Value, nil
	}, nil
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
