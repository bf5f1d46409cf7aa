package fact

import (
	"context"
	"maps"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/plan"
)

// moveFact is the resources that move between stacks, and what a deploy has to know of these.
func moveFact() Fact {
	return Fact{Before: func(_ context.Context, _ Reading, v *plan.View) error {
		v.Moves = plan.Moves(v.Desired)
		return nil
	}, Complete: ofDeploy("move resources", readMoves)}
}

// readMoves adds to v.Found what a plan has to know of the stacks between which resources
// move: their templates, and those with which CloudFormation moves the resources. A stack of which
// something is wrong is left to the plan.
func readMoves(ctx context.Context, e Reading, v *plan.View) error {
	moves, before := v.Moving(), v.MovedBefore()
	if len(moves)+len(before) == 0 {
		return nil
	}
	v.Found = maps.Clone(v.Found)
	if v.Found == nil {
		v.Found = make(map[string]plan.Found)
	}
	for _, name := range before {
		if err := readMoved(ctx, e, v, name); err != nil {
			return err
		}
	}
	for _, m := range moves {
		bodies := make(map[string][]byte)
		for _, name := range v.Readable(m) {
			found, body, err := templatesOf(ctx, e, *v, name)
			if err != nil {
				return err
			}
			v.Found[name], bodies[name] = found, body
		}
		if err := prepareMove(ctx, e, v, m, bodies); err != nil {
			return err
		}
	}
	return nil
}

// readMoved adds the template of a stack that may be as a move has left it. One that cannot be read says nothing: the
// plan then says what it knows from the records.
func readMoved(ctx context.Context, e Reading, v *plan.View, name string) error {
	found := v.Found[name]
	is, err := e.liveOf(ctx, *v, name)
	if err != nil || is.unreadable != "" {
		return err
	}
	if found.Template, err = template.Parse("template", is.body); err != nil {
		return nil
	}
	found.Deployed, err = e.Specs.SaveDeployedTemplate(ctx, is.body)
	v.Found[name] = found
	return err
}

// prepareMove stores the templates with which CloudFormation moves the resources of m.
func prepareMove(ctx context.Context, e Reading, v *plan.View, m plan.Move, bodies map[string][]byte) error {
	from, to := v.Found[m.From], v.Found[m.To]
	if bodies[m.From] == nil || bodies[m.To] == nil || from.Template == nil || to.Template == nil || to.Desired == nil {
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
	if from.Moved, err = moved(ctx, e, without); err != nil {
		return err
	}
	if to.Moved, err = moved(ctx, e, with); err != nil {
		return err
	}
	v.Found[m.From], v.Found[m.To] = from, to
	return nil
}

// moved stores a template with which CloudFormation moves resources, unless it would refuse it.
func moved(ctx context.Context, e Reading, body []byte) (plan.Moved, error) {
	t, err := template.Parse("template", body)
	if err != nil {
		return plan.Moved{Invalid: err.Error()}, nil
	}
	digest, err := e.Specs.SaveDeployedTemplate(ctx, body)
	return plan.Moved{Template: t, Digest: digest, Bytes: len(body)}, err
}
