package action

import (
	"context"

	"github.com/stackwright/stackwright/pkg/plan"
)

// createVerb creates a stack.
func createVerb(c Cloud) Verb {
	return Verb{
		Name: plan.Create, Action: change{c}, Before: recordRestored,
		Request: CreateStack, Configures: true, WokenByEvents: true, PollReads: 1, Share: 1, Past: "created",
	}
}

// recordRestored returns the record with what the resources of the stack are restored from. It is written before the creation starts: if the creation fails, the
// stack is restored from that when it is created again, whatever becomes of the run.
func recordRestored(_ context.Context, t Task) (plan.Record, error) {
	r := t.Record
	r.Restored = t.Node.Restored
	return r, nil
}
