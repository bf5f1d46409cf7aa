package fact

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// exportFact is the exports of stacks outside the project.
func exportFact(allowed project.Externals) Fact {
	return Fact{Of: func(s project.Source) bool { return s.Export != "" }, Values: exports{allowed}.read}
}

type exports struct {
	allowed project.Externals
}

// read reads exports. The project may read those of the stacks whose outputs it may read. One that a stack of the project itself
// makes is refused: this run may change it. One of a stack that the project no longer has is missing: this run deletes it.
func (x exports) read(ctx context.Context, e Reading, p project.Project, sources []project.Source) (Value, error) {
	found, err := inTargets(sources, func(s project.Source) string { return s.Export }, func(t project.Target, names []string) (map[string]plan.Export, error) {
		return e.Clouds.Exports(ctx, t, names)
	})
	if err != nil {
		return nil, fmt.Errorf("read exports: %w", err)
	}
	recorded, err := e.Store.Records(ctx, e.Run.Project)
	if err != nil {
		return nil, fmt.Errorf("read exports: %w", err)
	}
	return func(s project.Source) (string, error) {
		one, ok := found[s.Target][s.Export]
		if !ok {
			return "", fault.New(fault.Missing, "there is no export %s in target %s", s.Export, s.Target.Name)
		}
		for _, n := range p.Nodes {
			if n.Stack == one.Stack && n.Target.Where() == s.Target.Where() {
				return "", fault.New(fault.Refused, "stack %s of this project makes the export, and its template does not say so with a name that is known before the deploy: write the output, as in ${%s.Output}", n.Name, n.Name)
			}
		}
		for _, own := range recorded {
			if own.Stack == one.Stack && own.Target.Where() == s.Target.Where() {
				return "", fault.New(fault.Missing, "stack %s, which makes the export, is no longer in the project", own.Node)
			}
		}
		return one.Value, x.allowed.Permit(e.Run.Project, one.Stack)
	}, nil
}
