package plan

// PromoteName is the name of the operation that promotes.
const PromoteName = "promote"

// promote deploys the files that were deployed successfully to another environment of the project: the same files, with the variables,
// the targets and the settings that they have for this environment. It is a deploy in all else.
func promote() Operation {
	return Operation{
		Name: PromoteName, Plan: Deploy,
		Requestable: true, NeedsFiles: true, FromRevision: true, Promotes: true, NeedsRunning: true, Approvable: true, Writes: true, Reversible: true, Retryable: true,
		Options: []Option{
			OptionFromEnvironment, OptionFromRevision, OptionReason, OptionRollback, OptionRefuse, OptionMaxDeletions, OptionSkip,
			OptionPlan, OptionWhileSuspended,
		},
		Effect: "it deploys the files that were deployed to another environment",
	}
}

// previewPromote shows what a promotion would do.
func previewPromote() Operation {
	return Operation{
		Name: PlanPrefix + PromoteName, Plan: Deploy,
		Requestable: true, NeedsFiles: true, FromRevision: true, Promotes: true, NeedsRunning: true, Preview: true,
		Options: []Option{OptionFromEnvironment, OptionFromRevision, OptionRollback, OptionMaxDeletions, OptionSkip},
		Effect:  "a promotion is planned",
	}
}
