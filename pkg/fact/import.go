package fact

import (
	"context"
	"maps"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
)

// importFact is what a deploy has to know of the stacks that import resources.
func importFact() Fact { return Fact{Complete: ofDeploy("import resources", readImports)} }

// readImports adds to v.Found what a plan has to know of the stacks that import resources: their
// templates, the templates with which they import, and which stacks have the resources. A
// stack of which something is wrong is left to the plan.
func readImports(ctx context.Context, e Reading, v *plan.View) error {
	names := v.Importing()
	if len(names) == 0 {
		return nil
	}
	all := make([]plan.Found, len(names))
	bodies := make([][]byte, len(names)) // the templates that are deployed; of a stack that does not exist, template.Empty
	v.Found = maps.Clone(v.Found)
	if v.Found == nil {
		v.Found = make(map[string]plan.Found)
	}
	err := e.Parallel(ctx, len(names), func(ctx context.Context, i int) (err error) {
		all[i], bodies[i], err = templatesOf(ctx, e, *v, names[i])
		return err
	})
	if err != nil {
		return err
	}
	for i, name := range names {
		v.Found[name] = all[i]
	}
	err = e.Parallel(ctx, len(names), func(ctx context.Context, i int) error {
		return prepareImport(ctx, e, *v, names[i], &all[i], bodies[i])
	})
	for i, name := range names {
		v.Found[name] = all[i]
	}
	return err
}

// templatesOf reads the templates of a node: what is deployed, and what is desired.
func templatesOf(ctx context.Context, e Reading, v plan.View, name string) (f plan.Found, deployed []byte, err error) {
	n, live := v.Desired.Nodes[name], v.Live[name]
	f = v.Found[name]
	desired, err := e.Changes.Template(ctx, n.Template.Digest)
	if err != nil {
		return f, nil, err
	}
	f.Desired, _ = template.Parse("template", desired) // the plan refuses one that cannot be understood
	if live.Status.Gone() || live.Dead() {
		deployed = []byte(template.Empty)
		f.Empty, err = e.Specs.SaveDeployedTemplate(ctx, deployed)
		return f, deployed, err
	}
	is, err := e.liveOf(ctx, v, name)
	if f.Unreadable, f.Lost = is.unreadable, is.lost; err != nil || f.Unreadable != "" {
		return f, nil, err
	}
	deployed, f.Digest = is.body, "deployed"
	f.Template, _ = template.Parse("template", deployed)
	return f, deployed, nil
}

// prepareImport stores the template with which a node's stack imports resources, and finds the
// stacks that have them.
func prepareImport(ctx context.Context, e Reading, v plan.View, name string, f *plan.Found, deployed []byte) error {
	resources, err := v.Imports(name)
	if err != nil || len(resources) == 0 { // the plan refuses it, or has nothing to import
		return nil
	}
	n := v.Desired.Nodes[name]
	desired, err := e.Changes.Template(ctx, n.Template.Digest)
	if err != nil {
		return err
	}
	var ids []string
	f.Holders = make(map[string]string)
	for _, r := range resources {
		ids = append(ids, r.ID)
		holder, err := e.Clouds.Holder(ctx, n.Target, r.PhysicalID())
		if err != nil {
			return err
		}
		if holder != "" {
			f.Holders[r.ID] = holder
		}
	}
	body, err := template.Importing(deployed, desired, ids)
	if err != nil {
		return fault.As(fault.Invalid, err)
	}
	f.ImportBytes = len(body)
	f.Import, err = e.Specs.SaveDeployedTemplate(ctx, body)
	return err
}
