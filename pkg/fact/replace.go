package fact

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// replaceFact is what a replace has to know of the stacks that it deletes.
func replaceFact() Fact { return Fact{Before: readRetained, Complete: readReplace} }

// readRetained adds to a view what the request says that a replace retains.
func readRetained(_ context.Context, e Reading, v *plan.View) error {
	v.Retain = e.Run.Retain
	return nil
}

func readReplace(ctx context.Context, e Reading, v *plan.View) (err error) {
	if !e.operation(e.Run).Recreates {
		return nil
	}
	if v.Replaced, err = deletedBefore(ctx, e); err != nil {
		return err
	}
	if err := readImporters(ctx, e, v); err != nil {
		return fmt.Errorf("find what imports from the stacks to replace: %w", err)
	}
	if err := readReplaced(ctx, e, v); err != nil {
		return fmt.Errorf("read the stacks to replace: %w", err)
	}
	return nil
}

// readImporters adds to the view of a replace which stacks import from those that it deletes. These are more stacks to delete, perhaps.
func readImporters(ctx context.Context, e Reading, v *plan.View) error {
	v.Importers = make(map[string][]string)
	for names := v.ImportersUnread(); len(names) > 0; names = v.ImportersUnread() {
		if err := readNested(ctx, e, v, names); err != nil {
			return err
		}
		all := make([][]string, len(names))
		err := e.Parallel(ctx, len(names), func(ctx context.Context, i int) (err error) {
			exports := slices.Sorted(maps.Values(v.Live[names[i]].Exports))
			by, err := e.Clouds.Importers(ctx, v.Recorded[names[i]].Target, exports)
			for _, users := range by {
				all[i] = append(all[i], users...)
			}
			if err == nil {
				all[i], err = roots(ctx, e, *v, v.Recorded[names[i]].Target, all[i])
			}
			return err
		})
		if err != nil {
			return err
		}
		for i, name := range names {
			v.Importers[name] = all[i]
		}
	}
	return nil
}

// deletedBefore lists the nodes whose stacks the runs that the run, a retry of a replace, repeats have deleted, to create them again.
func deletedBefore(ctx context.Context, e Reading) (map[string]bool, error) {
	nodes := make(map[string]bool)
	for id := e.Run.Of; id != ""; {
		before, err := e.Store.Load(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("load run %s, which is retried: %w", id, err)
		}
		for _, s := range before.Steps {
			if retention, err := s.Retention(); err != nil {
				return nil, fmt.Errorf("run %s, which is retried: step %s: %w", id, s.ID, err)
			} else if retention.Replaces != "" && s.Status == run.Done {
				nodes[s.Node] = true
			}
		}
		id = before.Of
	}
	return nodes, nil
}

// readReplaced adds to the view of a replace what the stacks have that it deletes, and their desired templates. It reads of the view after the
// deletions what an import needs.
func readReplaced(ctx context.Context, e Reading, v *plan.View) error {
	names := v.ToRecreate()
	all := make([]plan.Found, len(names))
	err := e.Parallel(ctx, len(names), func(ctx context.Context, i int) (err error) {
		all[i], err = replaced(ctx, e, *v, names[i])
		return err
	})
	if err != nil {
		return err
	}
	v.Found = maps.Clone(v.Found)
	if v.Found == nil {
		v.Found = make(map[string]plan.Found)
	}
	for i, name := range names {
		v.Found[name] = all[i]
	}
	after := v.Recreating()
	err = readImports(ctx, e, &after)
	v.Found = after.Found
	return err
}

// replaced reads what a stack has that a replace deletes.
func replaced(ctx context.Context, e Reading, v plan.View, name string) (plan.Found, error) {
	f := v.Found[name]
	if n, desired := v.Desired.Nodes[name]; desired {
		body, err := e.Changes.Template(ctx, n.Template.Digest)
		if err != nil {
			return f, err
		}
		f.Desired, _ = template.Parse("template", body) // the plan refuses one that cannot be understood
	}
	at := v.Recorded[name].Location()
	at.StackID = v.Live[name].StackID
	is, err := e.liveOf(ctx, v, name)
	if err != nil || is.unreadable != "" {
		f.Replaced.Unreadable = is.unreadable
		return f, err
	}
	f.Replaced.Physical, err = e.Clouds.Resources(ctx, at)
	switch {
	case fault.Is(err, fault.Throttled, fault.Unavailable):
		return f, err
	case err != nil:
		f.Replaced.Unreadable = err.Error()
		return f, nil
	}
	if f.Replaced.Template, err = template.Parse("template", is.body); err != nil {
		f.Replaced.Unreadable = err.Error()
	}
	return f, nil
}
