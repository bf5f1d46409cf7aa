package native

import "slices"

// The keys of a project file.
var (
	topKeys         = []string{"project", "imports", "defaults", "stacks", "environments", "variables", "max_deletions", "max_parallel", "on_failure", "timeout", "schedules", "moved", "policies", "approve_plan", "approvers", "approvals", "expires", "not_by_author", "hooks"}
	environmentKeys = []string{"variables", "parameters", "tags", "targets", "approve", "defaults", "stacks", "max_deletions", "max_parallel", "on_failure", "timeout", "schedules", "approve_plan", "approvers", "approvals", "expires", "not_by_author", "hooks"}
	stackKeys       = append(slices.Clone(overrideKeys), "only", "except")
	overrideKeys    = []string{"template", "parameters", "needs", "tags", "capabilities", "targets", "protect", "stack_name", "timeout", "deployment", "adopt", "import", "move_from", "approve", "hooks", "notifications", "on_failure", "disable_rollback", "rollback_triggers"} // of a stack in an environment
	triggerKeys     = []string{"alarms", "composite_alarms", "minutes"}
	moveKeys        = []string{"from", "to"}
	defaultKeys     = []string{"parameters", "needs", "tags", "capabilities", "targets", "protect", "timeout", "deployment", "approve", "hooks", "notifications", "on_failure", "disable_rollback", "rollback_triggers"}
)

const readThePlan = "remove it, and read the plan before you deploy"

// The keys that are not supported yet, with what to do until then.
var (
	topLater = map[string]string{
		"approve":   `write it under the stacks, under an environment, or under defaults: {"": {approve: …}}`,
		"notify":    "remove it",
		"review":    readThePlan,
		"snapshots": "remove it",
		"targets":   "register targets with stackwright targets add, and name them under targets: of a stack, of defaults: or of an environment",
	}
	environmentLater = map[string]string{
		"notify": "remove it",
		"queue":  "remove it",
		"review": readThePlan,
	}
	stackLater = map[string]string{
		"drift":   "remove it",
		"review":  readThePlan,
		"suspend": "remove it",
	}
)
