package fact

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// takenFact is which stacks have the exports that a plan adds: one list of all exports of each account and region, and
// none if the plan adds no export there.
func takenFact() Fact { return Fact{Complete: readTaken} }

func readTaken(ctx context.Context, e Reading, v *plan.View) error {
	if o := e.operation(e.Run); !o.Deploys() {
		return nil
	}
	added := v.NewExports()
	targets := slices.SortedFunc(maps.Keys(added), project.Target.Compare)
	found := make([]map[string]string, len(targets))
	err := e.Parallel(ctx, len(targets), func(ctx context.Context, i int) (err error) {
		found[i], err = holders(ctx, e, *v, targets[i], added[targets[i]])
		return err
	})
	if err != nil {
		return fmt.Errorf("find which stacks have the exports that the plan adds: %w", err)
	}
	v.Holders = make(map[string]map[string]string)
	for i, t := range targets {
		where := t.Where()
		if v.Holders[where] == nil {
			v.Holders[where] = make(map[string]string)
		}
		maps.Copy(v.Holders[where], found[i])
	}
	return nil
}

// holders returns the physical names of the stacks that have some exports, by the export. Of a nested stack, it is the
// name of the one around it.
func holders(ctx context.Context, e Reading, v plan.View, t project.Target, names []string) (map[string]string, error) {
	exports, err := e.Clouds.Exports(ctx, t, names)
	if fault.Is(err, fault.Denied) {
		return nil, nil // CloudFormation refuses an export whose name is taken
	}
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for name, x := range exports {
		root, err := roots(ctx, e, v, t, []string{x.Stack})
		if err != nil {
			return nil, err
		}
		all[name] = root[0]
	}
	return all, nil
}
