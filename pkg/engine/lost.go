package engine

import (
	"context"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// withLost reads from CloudFormation the templates of the stacks with steps that are deployed and no longer stored, and
// stores them again. It returns the view and the templates with them.
func (e *Engine) withLost(
	ctx context.Context, r run.Run, v plan.View, p plan.Plan, templates plan.Templates,
) (plan.View, plan.Templates, error) {
	var names []string
	for _, s := range p.Steps {
		digest, _ := v.TemplateOf(s.Node)
		if _, err := templates(digest); digest != "" && fault.Is(err, fault.Missing) && !slices.Contains(names, s.Node) {
			names = append(names, s.Node)
		}
	}
	if len(names) == 0 {
		return v, templates, nil
	}
	reading, read := e.reading(r), make([]plan.Deployed, len(names))
	err := e.Parallel(ctx, len(names), func(ctx context.Context, i int) (err error) {
		read[i], err = reading.Deployed(ctx, v, names[i])
		return err
	})
	if err != nil {
		return v, templates, err
	}
	for i, name := range names {
		v = v.WithDeployed(name, read[i])
	}
	templates, err = e.compared(ctx, v, p)
	return v, templates, err
}
