package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fact"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// desired returns the project that r's source describes. It is an empty project for an
// operation that needs only the records, and for a rollback if no deploy has succeeded.
// It completes the selection of r with what the files say.
func (e *Engine) desired(ctx context.Context, r *run.Run) (project.Project, error) {
	o := e.operation(*r)
	if !e.readsFiles(*r) {
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

// readsFiles reports whether the files of the project say what r deploys. Without them, the desired project has no stacks.
func (e *Engine) readsFiles(r run.Run) bool {
	o := e.operation(r)
	return o.NeedsFiles && !(o.Restores && r.Source == (run.Source{}))
}

// view reads the three states that a plan compares, desired, recorded and live, and the facts that its operation has to know. It
// returns with them the renames of records that the plan assumes, in their order.
func (e *Engine) view(ctx context.Context, r run.Run, desired project.Project) (plan.View, [][]plan.Record, error) {
	records, err := e.Store.Records(ctx, r.Project)
	if err != nil {
		return plan.View{}, nil, err
	}
	selection := e.operation(r).Selects(r.Selection)
	recorded, leave, take := plan.Rename(desired, records, e.operation(r).Renames(selection))
	facts, v := e.reading(r), plan.View{Desired: desired, Recorded: recorded, Live: make(map[string]plan.Live), Selection: selection}
	if err := e.Facts.Before(ctx, facts, &v); err != nil {
		return plan.View{}, nil, err
	}
	unread := maps.Clone(v.Recorded)
	maps.DeleteFunc(unread, func(name string, _ plan.Record) bool { _, read := v.Live[name]; return read })
	live, err := e.observePermitted(ctx, r, plan.Locations(desired, unread))
	if err != nil {
		return plan.View{}, nil, err
	}
	maps.Copy(v.Live, live)
	if err := e.Facts.Complete(ctx, facts, &v); err != nil {
		return plan.View{}, nil, err
	}
	return v, [][]plan.Record{leave, take}, nil
}

// reading returns what the facts of the plan of r are read with.
func (e *Engine) reading(r run.Run) fact.Reading {
	return fact.Reading{
		Run: r, Operations: e.Operations, Verbs: e.Verbs, Store: e.Store, Clouds: counted{e.Clouds, e, r.ID}, Changes: e.Changes, Specs: e.Specs, Now: e.Now, Templates: e.templates,
		Permit: func(ctx context.Context, targets []project.Target) error {
			return e.permitTargets(ctx, r.Project, targets)
		},
		Parallel: e.Parallel,
	}
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
