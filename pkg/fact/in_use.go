package fact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Of how many exports a plan lists the importers: each is one request, and CloudFormation throttles many at once.
// Of stacks that are deleted with more exports, the order follows from the recorded dependencies alone.
const (
	maxInUse   = 100 // that updates drop or change
	maxDeleted = 50  // of stacks that are deleted

	maxCompared = 1000 // how many templates a plan reads to find exports that get another value
)

// inUseFact is which stacks import the exports that a plan may give up.
func inUseFact() Fact { return Fact{Complete: readInUse} }

func readInUse(ctx context.Context, e Reading, v *plan.View) error {
	if o := e.operation(e.Run); o.Recreates || o.Adopts || !o.NeedsFiles && !o.DeletesAll {
		return nil
	}
	type one struct {
		node, export string
		revalued     bool
	}
	changed, removed := v.Altered()
	if len(removed) <= maxDeleted {
		changed = append(changed, removed...)
	}
	if err := readNested(ctx, e, v, changed); err != nil {
		return err
	}
	var all []one
	revalued, err := readRevalued(ctx, e, *v)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(revalued)) {
		for _, export := range revalued[name] {
			all = append(all, one{name, export, true})
		}
	}
	var deleted []one
	given := v.GivenUp()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		_, stays := v.Desired.Nodes[name]
		for _, export := range given[name] {
			if stays {
				all = append(all, one{name, export, false})
			} else {
				deleted = append(deleted, one{name, export, false})
			}
		}
	}
	all = all[:min(len(all), maxInUse)]
	if len(deleted) <= maxDeleted {
		all = append(all, deleted...)
	}
	users := make([][]string, len(all))
	err = e.Parallel(ctx, len(all), func(ctx context.Context, i int) error {
		t := v.Recorded[all[i].node].Target
		by, err := e.Clouds.Importers(ctx, t, []string{all[i].export})
		if err == nil {
			users[i], err = roots(ctx, e, *v, t, by[all[i].export])
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("find what imports the exports that the plan gives up: %w", err)
	}
	v.InUse = make(plan.InUse)
	for i, a := range all {
		if v.InUse[a.node] == nil {
			v.InUse[a.node] = make(map[string]plan.Use)
		}
		v.InUse[a.node][a.export] = plan.Use{Importers: users[i], Revalued: a.revalued}
	}
	return nil
}

// readRevalued lists the exports that updates keep with another value, by node.
func readRevalued(ctx context.Context, e Reading, v plan.View) (map[string][]string, error) {
	nodes, digests := v.Exporting()
	if len(nodes) == 0 || len(digests) > maxCompared {
		return nil, nil
	}
	templates, err := e.Templates(ctx, digests)
	if err != nil {
		return nil, fmt.Errorf("compare exports: %w", err)
	}
	all := make(map[string][]string)
	for _, name := range nodes {
		if exports := v.Revalued(name, templates); len(exports) > 0 {
			all[name] = exports
		}
	}
	return all, nil
}

// roots puts the stack around it in the place of each nested stack. Stacks that are recorded are not nested.
func roots(ctx context.Context, e Reading, v plan.View, t project.Target, stacks []string) ([]string, error) {
	own := make(map[string]bool)
	for _, r := range v.Recorded {
		own[r.Stack] = own[r.Stack] || r.Target.Where() == t.Where()
	}
	var all []string
	for _, name := range stacks {
		for nested := !own[name]; nested; {
			live, err := e.Clouds.Observe(ctx, []plan.Location{{Node: name, Stack: name, Target: t}})
			if err != nil {
				return nil, err
			}
			parent := nameIn(live[name].Parent)
			if nested = parent != ""; nested {
				name, nested = parent, !own[parent]
			}
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// nameIn returns the name of the stack of an ID; "" if that is empty.
// An ID is arn:aws:cloudformation:REGION:ACCOUNT:stack/NAME/UUID.
func nameIn(stackID string) string {
	_, path, _ := strings.Cut(stackID, "/")
	name, _, _ := strings.Cut(path, "/")
	return name
}
