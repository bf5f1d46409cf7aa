package native

// The keys of a project file.
var (
	topKeys         = []string{"project", "defaults", "stacks", "environments", "variables", "max_deletions", "on_failure", "timeout", "schedules"}
	environmentKeys = []string{"variables", "max_deletions", "on_failure", "timeout", "schedules"}
	stackKeys       = []string{"template", "parameters", "needs", "tags", "capabilities", "targets", "protect", "stack_name", "timeout"}
	defaultKeys     = []string{"parameters", "needs", "tags", "capabilities", "targets", "protect", "timeout"}
)

const readThePlan = "remove it, and read the plan before you deploy"

// The keys that are not supported yet, with what to do until then.
var (
	topLater = map[string]string{
		"approve":   readThePlan,
		"hooks":     "remove it",
		"notify":    "remove it",
		"review":    readThePlan,
		"snapshots": "remove it",
		"targets":   "register targets with stackwright targets add, and name them under targets: of a stack or of defaults:",
	}
	environmentLater = map[string]string{
		"approve": readThePlan,
		"hooks":   "remove it",
		"notify":  "remove it",
		"queue":   "remove it",
		"review":  readThePlan,
		"targets": "write targets: [\"${var.target}\"] at the stacks or under defaults:, and let each environment have its variable",
	}
	stackLater = map[string]string{
		"adopt":   "remove it",
		"approve": readThePlan,
		"drift":   "remove it",
		"hooks":   "remove it",
		"import":  "remove it",
		"review":  readThePlan,
		"suspend": "remove it",
	}
)
