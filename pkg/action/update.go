package action

import "github.com/stackwright/stackwright/pkg/plan"

// updateVerb brings a stack to its template and parameters. It creates a stack that is
// gone.
func updateVerb(c Cloud) Verb {
	return Verb{
		Name: plan.Update, Action: change{c},
		Request: UpdateStack, Configures: true, WokenByEvents: true, PollReads: 1, Share: 0.5, Past: "updated",
	}
}
