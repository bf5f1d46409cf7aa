package plan

// rollbackTo deploys the files of a revision again, because a user requests it. Unlike the rollback that follows a failed
// deploy, it is a deploy in all else: it may have to be approved, policies may deny it, and its deletions are limited.
func rollbackTo() Operation {
	return Operation{
		Name: "rollback-to", Plan: RollbackTo,
		Requestable: true, NeedsFiles: true, FromRevision: true, NeedsRunning: true, Approvable: true, Writes: true, Reversible: true, Retryable: true,
		Options: append(Selecting(), OptionTo, OptionReason, OptionRollback, OptionRefuse, OptionMaxDeletions, OptionSkip,
			OptionPlan, OptionWhileSuspended),
		Command: RollbackName,
		Effect:  "it deploys the files of a revision again",
	}
}

// previewRollbackTo shows what a rollback to a revision would do.
func previewRollbackTo() Operation {
	return Operation{
		Name: PlanPrefix + "rollback-to", Plan: RollbackTo,
		Requestable: true, NeedsFiles: true, FromRevision: true, NeedsRunning: true, Preview: true,
		Options: append(Selecting(), OptionTo, OptionRollback, OptionMaxDeletions, OptionSkip),
		Effect:  "a rollback to a revision is planned",
	}
}

// RollbackTo is Deploy, but that it goes back to all targets at once: see atOnce.
func RollbackTo(v View) (Plan, error) { return Deploy(v.atOnce()) }
