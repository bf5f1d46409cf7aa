package action

import "github.com/stackwright/stackwright/pkg/plan"

// continueVerb continues the rollback of a stack whose rollback failed.
func continueVerb(c Cloud) Verb {
	return Verb{
		Name: plan.Continue, Action: change{c},
		Request: ContinueUpdateRollback, Configures: true, WokenByEvents: true, StartReads: 1, PollReads: 1, Share: 0.5, Past: "rolled back",
	}
}
