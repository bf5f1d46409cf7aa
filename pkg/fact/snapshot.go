package fact

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

// Backups finds what stacks hold that can be backed up.
type Backups interface {
	// Types lists the types of the resources that hold data, and those of resources that may have some.
	Types() []string

	// Holdings finds what a stack of a target has that can be backed up.
	Holdings(ctx context.Context, in project.Target, stack string) (plan.Holdings, error)
}

// snapshotFact is what snapshots are made of, what uses their backups, and what resources were restored from.
func snapshotFact(allowed project.Grants, backups Backups) Fact {
	s := snapshots{allowed, backups}
	return Fact{Resolve: readRestored, Complete: s.readSnapshots, Of: func(s project.Source) bool { return s.Snapshot != "" }, Values: readBackups}
}

type snapshots struct {
	BacksUp project.Grants // the projects whose data may be backed up
	Backups Backups
}

// readSnapshots completes what a view has about the snapshots: what the stacks hold, if the run makes one. It refuses to delete backups in targets that the project
// may not use.
func (s snapshots) readSnapshots(ctx context.Context, e Reading, v *plan.View) error {
	r, o := e.Run, e.operation(e.Run)
	if o.NeedsFiles && !o.NamesSnapshot() {
		return nil
	}
	v.Backable, v.Snapshots.Without = s.BacksUp.Allow(r.Project), r.NoBackups || r.KeepBackups
	if r.Of != "" && o.NamesSnapshot() {
		before, err := e.Store.Run(ctx, r.Of)
		if err != nil {
			return fmt.Errorf("find which snapshot a retry is about: %w", err)
		}
		v.Snapshots.Since = before.Began()
	}
	if v.Snapshots.Without || !o.TakesSnapshot {
		return readUsers(ctx, e, v)
	}
	var err error
	if v.Snapshots.Holding, err = s.holding(ctx, e, *v); err != nil || !v.Backable {
		return err
	}
	names := v.Snapshots.Holding
	all := make([]plan.Holdings, len(names))
	err = e.Parallel(ctx, len(names), func(ctx context.Context, i int) (err error) {
		at := v.Recorded[names[i]]
		all[i], err = s.Backups.Holdings(ctx, at.Target, v.Live[names[i]].StackID)
		if err != nil {
			err = fmt.Errorf("find what stack %s holds: %w", names[i], err)
		}
		return err
	})
	v.Snapshots.Holdings = make(map[string]plan.Holdings, len(names))
	for i, name := range names {
		v.Snapshots.Holdings[name] = all[i]
	}
	return err
}

// holding lists the stacks that may hold something that can be backed up: by the templates that they have now. One whose template is not known
// is among them.
func (s snapshots) holding(ctx context.Context, e Reading, v plan.View) ([]string, error) {
	var names, digests []string
	for _, name := range slices.Sorted(maps.Keys(v.Recorded)) {
		if live := v.Live[name]; live.StackID == "" || live.AccessError != "" || live.Status.Gone() {
			continue
		}
		names = append(names, name)
		if digest, _ := v.TemplateOf(name); digest != "" && !slices.Contains(digests, digest) {
			digests = append(digests, digest)
		}
	}
	templates, err := e.Templates(ctx, digests)
	if err != nil {
		return nil, fmt.Errorf("find which stacks hold data: %w", err)
	}
	types := s.Backups.Types()
	return slices.DeleteFunc(names, func(name string) bool {
		digest, unsure := v.TemplateOf(name)
		if digest == "" || unsure != "" {
			return false
		}
		t, err := templates(digest)
		if err != nil || t.Opaque() {
			return false
		}
		for _, resource := range t.Resources {
			if slices.Contains(types, resource.Type) {
				return false
			}
		}
		return true
	}), nil
}

// readUsers adds to a view the stacks that may use backups which the run deletes, and are not recorded. It refuses to delete backups in targets that the project may not use.
func readUsers(ctx context.Context, e Reading, v *plan.View) error {
	o, s := e.operation(e.Run), v.Snapshots
	if s.Without || !o.DeletesSnapshot && !o.PrunesSnapshots {
		return nil
	}
	var targets []project.Target
	for _, one := range s.Kept {
		for _, b := range plan.Left(one.Backups) {
			if o.PrunesSnapshots || one.Name == s.Name {
				targets = append(targets, b.Target)
			}
		}
	}
	err := e.Permit(ctx, targets)
	places := s.Unrecorded(v.Recorded)
	if err != nil || len(places) == 0 {
		return err
	}
	live, err := e.Clouds.Observe(ctx, places)
	if err != nil {
		return fmt.Errorf("find what uses backups: %w", err)
	}
	maps.Copy(live, v.Live)
	v.Live = live
	return nil
}

// readBackups reads the ARNs of backups of snapshots.
func readBackups(ctx context.Context, e Reading, _ project.Project, _ []project.Source) (Value, error) {
	l, err := e.Store.Lock(ctx, e.Run.Project)
	if err != nil {
		return nil, fmt.Errorf("read the snapshots: %w", err)
	}
	return func(s project.Source) (string, error) {
		one, err := l.Snapshot(s.Snapshot)
		if err != nil {
			return "", err
		}
		return one.Identifier(s.Resource)
	}, nil
}

// readRestored puts into p, in the place of the references to the backups that resources were restored from, the values that the stacks have now, or had. So a deploy
// never replaces a resource because of them. A restore puts the backups of its snapshot there.
func readRestored(ctx context.Context, e Reading, p project.Project) (project.Project, error) {
	parameters := plan.RestorableParameters(p)
	if len(parameters) == 0 {
		return p, nil
	}
	var places []plan.Location
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		n := p.Nodes[name]
		places = append(places, plan.Location{Node: name, Stack: n.Stack, Target: n.Target})
	}
	live, err := e.Clouds.Observe(ctx, places)
	if err != nil {
		return p, fmt.Errorf("find what the stacks were restored from: %w", err)
	}
	from, err := restoring(ctx, e)
	if err != nil {
		return p, err
	}
	records, err := e.Store.Records(ctx, e.Run.Project)
	if err != nil {
		return p, err
	}
	read, err := plan.Restored(p, records, live, from)
	if err != nil {
		return p, err
	}
	return read, e.CheckValues(ctx, p, read)
}

// restoring says from which backups the run restores data, or creates what a restore was to restore.
func restoring(ctx context.Context, e Reading) (plan.Restoring, error) {
	r := e.Run
	l, err := e.Store.Lock(ctx, r.Project)
	from := plan.Restoring{Unrestored: l.Unrestored}
	for _, s := range l.Snapshots {
		from.Kept = append(from.Kept, s.Backups...)
	}
	if o := e.operation(r); err != nil || !o.FromRevision || !o.NamesSnapshot() {
		return from, err
	}
	s, err := l.Snapshot(r.Snapshot)
	if err != nil {
		return from, err
	}
	from.Backups = s.Backups
	from.Again, err = restoredBefore(ctx, e)
	return from, err
}

// restoredBefore lists the nodes that runs which the run, a retry, repeats have deployed.
func restoredBefore(ctx context.Context, e Reading) (map[string]bool, error) {
	nodes := make(map[string]bool)
	r := e.Run
	for id := r.Of; id != ""; {
		before, err := e.Store.Load(ctx, id)
		switch {
		case fault.Is(err, fault.Missing):
			return nodes, nil
		case err != nil:
			return nil, fmt.Errorf("load run %s, which is retried: %w", id, err)
		}
		for _, s := range before.Steps {
			if s.Status == run.Done && s.Spec != "" && e.Verbs.Of(s.Verb).Mutates() {
				nodes[s.Node] = true
			}
		}
		id = before.Of
	}
	return nodes, nil
}
