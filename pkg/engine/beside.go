package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// maxBeside is with how many other environments of the project a plan compares physical names.
const maxBeside = 20

// besideNames adds to what the plan of r changes the warnings of new physical names that stacks have which the plan does not
// change: those of the environment, and those of other environments, as far as their templates say the names.
func (e *Engine) besideNames(ctx context.Context, r run.Run, v plan.View, c plan.Changes) (plan.Changes, error) {
	var others []string
	projects, err := e.Store.Projects(ctx)
	if err != nil {
		return c, err
	}
	name, _, _ := strings.Cut(r.Project, "@")
	for _, other := range slices.Sorted(slices.Values(projects)) {
		if of, _, _ := strings.Cut(other, "@"); of == name && other != r.Project {
			others = append(others, other)
		}
	}
	others = others[:min(len(others), maxBeside)]
	found := make([][]plan.Neighbour, len(others))
	err = e.Parallel(ctx, len(others), func(ctx context.Context, i int) error {
		records, err := e.Store.Records(ctx, others[i])
		_, environment, _ := strings.Cut(others[i], "@")
		found[i] = plan.NeighboursIn(environment, records)
		return err
	})
	if err != nil {
		return c, err
	}
	all := slices.Concat(v.Neighbours(c), slices.Concat(found...))
	var digests []string
	for _, n := range all {
		digests = append(digests, n.Digest)
	}
	slices.Sort(digests)
	digests = slices.Compact(digests)
	templates, err := e.templates(ctx, digests[:min(len(digests), maxCompared)])
	if err != nil {
		return c, err
	}
	return c.BesideNames(all, templates), nil
}
