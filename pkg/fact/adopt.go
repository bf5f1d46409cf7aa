package fact

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// adoptFact is what a plan has to know of the live stacks that it adopts, and who owns those with the tag of another
// project.
func adoptFact() Fact {
	return Fact{Complete: func(ctx context.Context, e Reading, v *plan.View) (err error) {
		if v.Found, err = found(ctx, e, *v); err != nil {
			return fmt.Errorf("adopt stacks: %w", err)
		}
		return nil
	}}
}

// found reads what a plan has to know of the live stacks that it adopts: their owners and
// templates. Of those with the tag of another project it reads only the owners.
func found(ctx context.Context, e Reading, v plan.View) (map[string]plan.Found, error) {
	names, foreign := v.Adopts(), v.Foreign()
	if len(names)+len(foreign) == 0 {
		return nil, nil
	}
	others, err := othersThan(ctx, e, e.Run.Project) // after the stacks were observed: a project records a stack before it exists
	if err != nil {
		return nil, err
	}
	all := make([]plan.Found, len(names))
	err = e.Parallel(ctx, len(names), func(ctx context.Context, i int) error {
		n := v.Desired.Nodes[names[i]]
		f := &all[i]
		if f.Owner = others.of(n, v.Live[names[i]]); f.Owner != "" { // the plan refuses it, and says nothing of its template
			return nil
		}
		is, err := e.liveOf(ctx, v, n.Name)
		if f.Unreadable, f.Lost = is.unreadable, is.lost; err != nil || f.Unreadable != "" {
			return err
		}
		deployed := is.body
		desired, err := e.Changes.Template(ctx, n.Template.Digest)
		if err != nil {
			return err
		}
		if f.Identical = bytes.Equal(deployed, desired); f.Identical {
			f.Digest = n.Template.Digest
		} else if f.Digest, err = e.Specs.SaveDeployedTemplate(ctx, deployed); err != nil {
			return err
		}
		f.Template, _ = template.Parse("template", deployed) // one that cannot be understood differs
		f.Desired, _ = template.Parse("template", desired)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found := make(map[string]plan.Found, len(names)+len(foreign))
	for _, name := range foreign {
		found[name] = plan.Found{Owner: others.of(v.Desired.Nodes[name], v.Live[name])}
	}
	for i, name := range names {
		found[name] = all[i]
	}
	return found, nil
}

// owners know which projects, other than one, own stacks. A project owns the stacks that it
// has recorded, and that which it is about to create.
type owners struct {
	projects []string              // all that have had a run in this installation
	recorded map[string]string     // by the ID of the stack
	intended map[plan.Place]string // by where a stack may be created
}

// othersThan reads the records of all projects but one.
func othersThan(ctx context.Context, e Reading, project string) (owners, error) {
	projects, err := e.Store.Projects(ctx)
	if err != nil {
		return owners{}, err
	}
	records := make([]map[string]plan.Record, len(projects))
	err = e.Parallel(ctx, len(projects), func(ctx context.Context, i int) (err error) {
		if projects[i] != project {
			records[i], err = e.Store.Records(ctx, projects[i])
		}
		return err
	})
	o := owners{projects, make(map[string]string), make(map[plan.Place]string)}
	for i, all := range records {
		for _, r := range all {
			if r.StackID != "" {
				o.recorded[r.StackID] = projects[i]
			}
			if r.StackID == "" || r.Intent {
				o.intended[r.Place()] = projects[i]
			}
		}
	}
	return o, err
}

// of returns the project that owns the live stack of a node; empty if none does. A project
// that has had a run here and has no record of a stack with its tag has forgotten the stack.
// Any other tag counts, because another installation may have that project.
func (o owners) of(n project.Node, live plan.Live) string {
	owner := cmp.Or(o.recorded[live.StackID], o.intended[plan.PlaceOf(n.Stack, n.Target)])
	if owner == "" && !slices.Contains(o.projects, live.Project) {
		return live.Project
	}
	return owner
}
