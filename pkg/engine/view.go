package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// desired returns the project that r's source describes. It is an empty project for an
// operation that needs only the records, and for a rollback if no deploy has succeeded.
// It completes the selection of r with what the files say.
func (e *Engine) desired(ctx context.Context, r *run.Run) (project.Project, error) {
	o := e.operation(*r)
	if !o.NeedsFiles || o.Restores && r.Source == (run.Source{}) {
		name, environment, _ := strings.Cut(r.Project, "@")
		return project.Project{Name: name, Environment: environment}, nil
	}
	before, err := e.since(ctx, *r)
	if err != nil {
		return before, err
	}
	p, err := e.Configurations.Project(ctx, *r)
	if err == nil && r.ChangedSince != "" {
		r.Selection, err = r.Selection.Since(before, p)
	}
	switch {
	case err != nil:
		return p, err
	case o.Adopts:
		p = plan.Adopting(p, o.Selects(r.Selection))
	case o.Prunes:
		p = plan.Pruning(p)
	case len(r.Adopt) > 0:
		p, err = plan.AlsoAdopting(p, r.Adopt)
	}
	if r.MaxDeletions != nil {
		p.MaxDeletions = r.MaxDeletions
	}
	p.Rollback = p.Rollback || r.Rollback
	return p, err
}

// view reads the three states that a plan compares: desired, recorded and live. It
// returns with them the renames of records that the plan assumes, in their order.
func (e *Engine) view(ctx context.Context, r run.Run, desired project.Project) (plan.View, [][]plan.Record, error) {
	records, err := e.Store.Records(ctx, r.Project)
	if err != nil {
		return plan.View{}, nil, err
	}
	recorded, leave, take := plan.Rename(desired, records)
	unreachable, unread, err := e.unreachable(ctx, r, desired, recorded)
	if err != nil {
		return plan.View{}, nil, err
	}
	live, err := e.observePermitted(ctx, r, plan.Locations(desired, unread.Others(unreachable.Others(recorded))))
	if err != nil {
		return plan.View{}, nil, err
	}
	v := plan.View{Desired: desired, Recorded: recorded, Live: live, Selection: e.operation(r).Selects(r.Selection), Moves: plan.Moves(desired), Suspendable: e.Suspends.Allow(r.Project), WhileSuspended: r.WhileSuspended, Retain: r.Retain}.Leaving(unreachable, unread, e.operation(r))
	if o := e.operation(r); !o.NeedsFiles || o.NamesSnapshot() {
		l, err := e.Store.Lock(ctx, r.Project)
		if err != nil {
			return plan.View{}, nil, err
		}
		if v.Snapshots = l.AboutSnapshot(r.Snapshot, e.Now()); !o.NeedsFiles {
			v.Desired = l.OfDestroy(v.Desired)
		}
		if err := e.readSnapshots(ctx, r, &v); err != nil {
			return plan.View{}, nil, err
		}
	}
	if e.operation(r).Restores {
		failed, err := e.rolledBack(ctx, r)
		if err != nil {
			return plan.View{}, nil, err
		}
		if failed, err = e.Store.Load(ctx, failed.ID); err != nil {
			return plan.View{}, nil, fmt.Errorf("load run %s, which is rolled back: %w", r.Of, err)
		}
		plan.KeepLevels(desired.Nodes, recorded)
		v.Created, v.Changed, v.Moves = e.created(failed), changed(failed), movesBack(failed)
	}
	if r.Of != "" && e.operation(r).Writes && !e.operation(r).Restores {
		before, err := e.Store.Load(ctx, r.Of)
		if err != nil {
			return plan.View{}, nil, fmt.Errorf("load run %s, which is retried: %w", r.Of, err)
		}
		if v.Uncalled, err = uncalled(before); err != nil {
			return plan.View{}, nil, err
		}
	}
	if v.Found, err = e.found(ctx, r, v); err != nil {
		return plan.View{}, nil, fmt.Errorf("adopt stacks: %w", err)
	}
	if e.operation(r).Recreates {
		if v.Replaced, err = e.deletedBefore(ctx, r); err != nil {
			return plan.View{}, nil, err
		}
		if err := e.readImporters(ctx, r, &v); err != nil {
			return plan.View{}, nil, fmt.Errorf("find what imports from the stacks to replace: %w", err)
		}
		if err := e.readReplaced(ctx, r, &v); err != nil {
			return plan.View{}, nil, fmt.Errorf("read the stacks to replace: %w", err)
		}
	} else if e.operation(r).Deploys() {
		if err := e.readImports(ctx, &v); err != nil {
			return plan.View{}, nil, fmt.Errorf("import resources: %w", err)
		}
		if err := e.readMoves(ctx, &v); err != nil {
			return plan.View{}, nil, fmt.Errorf("move resources: %w", err)
		}
	}
	return v, [][]plan.Record{leave, take}, nil
}

// refuseLostFile refuses the files of r if the project file that the project was deployed with is
// not among them. A rollback restores what was deployed before, with or without a
// project file.
func (e *Engine) refuseLostFile(ctx context.Context, r run.Run, v plan.View) error {
	if o := e.operation(r); v.Desired.Kind == project.WithFile || o.Restores || o.DeploysAgain() {
		return nil
	}
	l, err := e.Store.Lock(ctx, r.Project)
	if err != nil {
		return err
	}
	return l.LostFile(v.Desired, len(v.Recorded))
}

// created returns the IDs of the stacks that a run has created.
func (e *Engine) created(failed run.Run) map[string]bool {
	ids := make(map[string]bool)
	for _, s := range failed.Steps {
		if e.Verbs.Of(s.Verb).Request == action.CreateStack && s.Receipt.StackID != "" {
			ids[s.Receipt.StackID] = true
		}
	}
	return ids
}

// changed returns the nodes of which a run has started a step that may have changed something. An update that had nothing to
// change has changed nothing.
func changed(failed run.Run) map[string]bool {
	nodes := make(map[string]bool)
	for _, s := range failed.Steps {
		if s.Acted() && !s.Receipt.Unchanged {
			for _, node := range s.Changes() {
				nodes[node] = true
			}
		}
	}
	return nodes
}

// uncalled lists the steps of a run that call hooks after the deletion of a stack, and have not succeeded.
func uncalled(before run.Run) ([]plan.Step, error) {
	var steps []plan.Step
	for _, s := range before.Steps {
		c, calls, err := plan.CallOf(s.Step)
		switch {
		case err != nil:
			return nil, fmt.Errorf("run %s, which is retried: step %s: %w", before.ID, s.ID, err)
		case calls && c.Moment == project.AfterDelete && s.Status != run.Done:
			steps = append(steps, s.Step)
		}
	}
	return steps, nil
}

// movesBack lists the moves that undo those of a run.
func movesBack(failed run.Run) []plan.Move {
	var steps []plan.Step
	for _, s := range failed.Steps {
		steps = append(steps, s.Step)
	}
	return plan.MovesBack(steps)
}

// accessErrors lists why some stacks could not be read, each reason once: what a
// preview says about them may be wrong. When a plan is executed, the steps of these
// stacks fail for the same reason.
func accessErrors(live map[string]plan.Live) []string {
	var all []string
	for _, l := range live {
		if l.AccessError != "" {
			all = append(all, "could not be read: "+l.AccessError)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
