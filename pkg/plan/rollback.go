package plan

// RollbackName is the name of the operation that follows a deploy which is to be
// rolled back.
const RollbackName = "rollback"

// rollback deploys the files of the last successful deployment again. No user
// requests it: it follows a run.
func rollback() Operation {
	return Operation{
		Name: RollbackName, Plan: Deploy,
		NeedsFiles: true, Writes: true, Restores: true, Retryable: true,
		Turn: "it rolls back run {run}",
	}
}
