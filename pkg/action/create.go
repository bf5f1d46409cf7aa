package action

import "github.com/stackwright/stackwright/pkg/plan"

// createVerb creates a stack.
func createVerb(c Cloud) Verb {
	return Verb{
		Name: plan.Create, Action: change{c},
		Request: CreateStack, Configures: true, WokenByEvents: true, PollReads: 1, Share: 1, Past: "created",
	}
}
