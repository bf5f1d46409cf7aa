package action

import "github.com/stackwright/stackwright/pkg/plan"

// updates brings a stack to its template and parameters. One that is gone is
// created.
func updates(c Cloud) Verb {
	return Verb{
		Name: plan.Update, Action: change{c},
		Request: UpdateStack, Configures: true, WokenByEvents: true, StartReads: 2, PollReads: 1, Sign: "~", Past: "updated",
	}
}
