package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/revision"
	"github.com/stackwright/stackwright/pkg/run"
)

// readSources puts the values outside the project in the place of the references to them, in the stacks that r is about. The
// targets are permitted. A run that writes keeps the values, and a rollback restores those that the revision has kept.
func (e *Engine) readSources(ctx context.Context, r *run.Run, p project.Project) (project.Project, error) {
	facts := e.reading(*r)
	p, err := e.Facts.Resolve(ctx, facts, p)
	if err != nil {
		return p, err
	}
	about := p
	if selected := plan.Selected(p, e.operation(*r).Selects(r.Selection)); selected != nil {
		about.Nodes = maps.Clone(p.Nodes)
		maps.DeleteFunc(about.Nodes, func(name string, _ project.Node) bool { return !selected[name] })
	}
	sources := about.Sources()
	if len(sources) == 0 {
		return p, nil
	}
	values, err := e.keptValues(ctx, r, sources)
	if err != nil {
		return p, fmt.Errorf("read the values outside the project that the revision has kept: %w", err)
	}
	now, err := e.Facts.Values(ctx, facts, p, slices.DeleteFunc(sources, func(s project.Source) bool { return values[s].Source == s }))
	if err != nil {
		return p, err
	}
	read, err := about.ReadSources(func(s project.Source) (string, error) {
		if kept, is := values[s]; is {
			return kept.Read()
		}
		value, err := now(s)
		values.Keep(s, value, err)
		return value, err
	})
	if err != nil {
		return p, err
	}
	if err := facts.CheckValues(ctx, about, read); err != nil {
		return p, err
	}
	if e.operation(*r).Writes {
		if r.Values, err = e.Specs.SaveValues(ctx, values.Sorted()); err != nil {
			return p, fmt.Errorf("store the values outside the project: %w", err)
		}
	}
	p.Nodes = maps.Clone(p.Nodes)
	maps.Copy(p.Nodes, read.Nodes)
	return p, nil
}

// keptValues returns the values of sources that a rollback restores; none for another operation. The messages of r say which
// were not kept: a version of Stackwright that kept none made that deploy, or one that reads the files in another way, or it was about other stacks.
func (e *Engine) keptValues(ctx context.Context, r *run.Run, sources []project.Source) (project.SourceValues, error) {
	values := make(project.SourceValues)
	reference, restores, err := e.restored(ctx, *r)
	if err != nil || !restores {
		return values, err
	}
	if reference != "" {
		kept, err := e.Specs.Values(ctx, reference)
		if err != nil {
			return nil, err
		}
		for _, v := range kept {
			if slices.Contains(sources, v.Source) {
				values[v.Source] = v
			}
		}
	}
	var again []string
	for _, s := range sources {
		if _, kept := values[s]; !kept {
			again = append(again, "${"+s.String()+"}")
		}
	}
	if len(again) > 0 {
		r.Messages = append(r.Messages, "these values outside the project were read again, because the deploy that is restored did not keep them: "+strings.Join(again, ", "))
	}
	return values, nil
}

// restored returns the reference to the values that r restores, which is empty if none were kept. It reports false if r restores none.
func (e *Engine) restored(ctx context.Context, r run.Run) (reference string, restores bool, err error) {
	switch o := e.operation(r); {
	case o.Restores:
		l, err := e.Store.Lock(ctx, r.Project)
		return l.Values, true, err
	case o.DeploysAgain():
		v, err := revision.Find(ctx, e.Store, r.Project, r.Revision)
		return v.Values, true, err
	}
	return "", false, nil
}
