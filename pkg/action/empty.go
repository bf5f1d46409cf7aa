package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/plan"
)

// createEmptyVerb creates a stack without resources, with its role and tags. An import brings resources into it.
func createEmptyVerb(c Cloud) Verb {
	return Verb{
		Name: plan.CreateEmpty, Action: empty{change{c}}, Before: recordRestored,
		Request: CreateStack, Configures: true, WokenByEvents: true, PollReads: 1, Past: "created empty",
	}
}

// empty creates a stack from a template that has neither resources nor parameters. The stack has the tags of its node.
type empty struct{ change change }

// emptied returns t with the template of the empty stack.
func (t Task) emptied() (Task, error) {
	t, err := t.importing()
	t.Want.Parameters, t.Want.Digest = nil, ""
	return t, err
}

// Start starts the creation.
func (a empty) Start(ctx context.Context, t Task) (plan.Receipt, error) {
	t, err := t.emptied()
	if err != nil {
		return plan.Receipt{}, err
	}
	return a.change.Start(ctx, t)
}

// Poll follows the creation.
func (a empty) Poll(ctx context.Context, t Task) (Progress, error) {
	t, err := t.emptied()
	if err != nil {
		return Progress{}, err
	}
	return a.change.Poll(ctx, t)
}
