package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/loss"
	"github.com/stackwright/stackwright/pkg/plan"
)

// whole returns the value of a recorded output with the characters that CloudFormation has not returned. It refuses an
// output of which nobody knows them: a stack that gets it would be deployed with another value.
func (e *Engine) whole(ctx context.Context, r plan.Record, output, returned string) (string, error) {
	if !loss.Possible(returned) {
		return returned, nil
	}
	body, err := e.Changes.Template(ctx, r.Template)
	if err != nil && !fault.Is(err, fault.Missing) {
		return "", fmt.Errorf("read the template of %s, whose output %s is used: %w", r.Node, output, err)
	}
	o := r.Output(output, returned, body)
	return o.Value, o.Refuse(r.Node, output)
}

// recordWhole puts into the record of a step that has deployed a stack the characters of its outputs that CloudFormation
// has not returned.
func (e *Engine) recordWhole(ctx context.Context, t action.Task, p *action.Progress) error {
	if p.Err != nil || p.Record == nil || !e.Verbs.Of(t.Step.Verb).Configures ||
		!slices.ContainsFunc(slices.Collect(maps.Values(p.Record.Outputs)), loss.Possible) {
		return nil
	}
	body, err := e.Changes.Template(ctx, p.Record.Template)
	if fault.Is(err, fault.Missing) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the template of %s: %w", p.Record.Node, err)
	}
	p.Record.Outputs = p.Record.Whole(t.Want.Parameters, body)
	return nil
}
