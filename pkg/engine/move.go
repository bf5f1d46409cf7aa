package engine

import (
	"context"
	"maps"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
)

// readMoves adds to v.Found what a plan has to know of the stacks between which resources
// move: their templates, and those with which CloudFormation moves the resources. A stack of which
// something is wrong is left to the plan.
func (e *Engine) readMoves(ctx context.Context, v *plan.View) error {
	var moves []plan.Move
	for _, m := range v.Moving() {
		if v.Movable(m) {
			moves = append(moves, m)
		}
	}
	if len(moves) == 0 {
		return nil
	}
	v.Found = maps.Clone(v.Found)
	if v.Found == nil {
		v.Found = make(map[string]plan.Found)
	}
	for _, m := range moves {
		bodies := make(map[string][]byte)
		for _, name := range []string{m.From, m.To} {
			found, body, err := e.templatesOf(ctx, *v, name)
			if err != nil {
				return err
			}
			v.Found[name], bodies[name] = found, body
		}
		if err := e.prepareMove(ctx, v, m, bodies); err != nil {
			return err
		}
	}
	return nil
}

// prepareMove stores the templates with which CloudFormation moves the resources of m.
func (e *Engine) prepareMove(ctx context.Context, v *plan.View, m plan.Move, bodies map[string][]byte) error {
	from, to := v.Found[m.From], v.Found[m.To]
	if from.Template == nil || to.Template == nil || to.Desired == nil {
		return nil
	}
	desired, err := e.Changes.Template(ctx, v.Desired.Nodes[m.To].Template.Digest)
	if err != nil {
		return err
	}
	without, with, err := template.Moving(bodies[m.From], bodies[m.To], desired, m.Resources)
	if err != nil {
		return fault.As(fault.Invalid, err)
	}
	if from.Moved, err = e.moved(ctx, without); err != nil {
		return err
	}
	if to.Moved, err = e.moved(ctx, with); err != nil {
		return err
	}
	v.Found[m.From], v.Found[m.To] = from, to
	return nil
}

// moved stores a template with which CloudFormation moves resources, unless it would refuse it.
func (e *Engine) moved(ctx context.Context, body []byte) (plan.Moved, error) {
	t, err := template.Parse("template", body)
	if err != nil {
		return plan.Moved{Invalid: err.Error()}, nil
	}
	digest, err := e.Specs.SaveDeployedTemplate(ctx, body)
	return plan.Moved{Template: t, Digest: digest, Bytes: len(body)}, err
}
