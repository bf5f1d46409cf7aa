package plan

import (
	"maps"
	"slices"
)

// A Status is a CloudFormation stack status. It is empty if there is no stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
type Status string

// A class is what a status means to a plan.
type class int

const (
	unknown class = iota // never success, never a panic
	gone
	busy
	succeeded
	recoverable
	stuck
	unrecoverable // a rollback that only a person can repair
	dead
)

// classes is the one table of statuses.
var classes = map[Status]class{
	"":                gone,
	"DELETE_COMPLETE": gone,

	"CREATE_IN_PROGRESS":                           busy,
	"DELETE_IN_PROGRESS":                           busy,
	"ROLLBACK_IN_PROGRESS":                         busy,
	"UPDATE_IN_PROGRESS":                           busy,
	"UPDATE_ROLLBACK_IN_PROGRESS":                  busy,
	"UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS": busy,
	"IMPORT_IN_PROGRESS":                           busy,
	"IMPORT_ROLLBACK_IN_PROGRESS":                  busy,

	"CREATE_COMPLETE":                     succeeded,
	"UPDATE_COMPLETE":                     succeeded,
	"IMPORT_COMPLETE":                     succeeded,
	"UPDATE_COMPLETE_CLEANUP_IN_PROGRESS": succeeded,

	"UPDATE_ROLLBACK_COMPLETE": recoverable,
	"IMPORT_ROLLBACK_COMPLETE": recoverable,
	"UPDATE_FAILED":            recoverable,

	"UPDATE_ROLLBACK_FAILED": stuck,
	"IMPORT_ROLLBACK_FAILED": unrecoverable,

	"ROLLBACK_COMPLETE":  dead,
	"ROLLBACK_FAILED":    dead,
	"REVIEW_IN_PROGRESS": dead,
	"CREATE_FAILED":      dead,
	"DELETE_FAILED":      dead,
}

// Gone reports whether there is no stack.
func (s Status) Gone() bool { return classes[s] == gone }

// Busy reports whether an operation is in progress.
func (s Status) Busy() bool { return classes[s] == busy }

// Fragile reports whether an operation is in progress that may leave a stack which can
// only be deleted: a creation, the rollback of one, or a deletion.
func (s Status) Fragile() bool {
	return s == "CREATE_IN_PROGRESS" || s == "ROLLBACK_IN_PROGRESS" || s == "DELETE_IN_PROGRESS"
}

// Good reports whether the last operation succeeded.
func (s Status) Good() bool { return classes[s] == succeeded }

// Recoverable reports whether the last operation failed and left a stack that can be
// updated.
func (s Status) Recoverable() bool { return classes[s] == recoverable }

// Stuck reports whether an update and its rollback failed, so that the rollback can be
// continued.
func (s Status) Stuck() bool { return classes[s] == stuck }

// Dead reports whether the stack can only be deleted, unless it has resources.
func (s Status) Dead() bool { return classes[s] == dead }

// NeverCreated reports whether the creation of the stack failed, is in progress, or has
// not started. It has no outputs, so no other stack uses it.
func (s Status) NeverCreated() bool {
	return s.Dead() && s != "DELETE_FAILED" || s.Fragile() && s != "DELETE_IN_PROGRESS"
}

// FailedWithoutRollback reports whether the last operation failed and was not rolled
// back. CloudFormation accepts only an update that is not rolled back either.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
func (s Status) FailedWithoutRollback() bool { return s == "CREATE_FAILED" || s == "UPDATE_FAILED" }

// Cleaning reports whether an update has succeeded and CloudFormation is deleting the
// resources that it replaced. The outputs are final, but no other operation can start.
func (s Status) Cleaning() bool { return s == "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS" }

// Restored reports whether the stack is as it was before its last operation.
func (s Status) Restored() bool {
	return s == "UPDATE_ROLLBACK_COMPLETE" || s == "IMPORT_ROLLBACK_COMPLETE"
}

// Ends lists the statuses that end an operation, sorted, for the rule that wakes
// executions. UPDATE_COMPLETE_CLEANUP_IN_PROGRESS is one of them, because the step is
// done then. REVIEW_IN_PROGRESS is none: nothing has started yet.
func Ends() []Status {
	var ends []Status
	for _, s := range slices.Sorted(maps.Keys(classes)) {
		if s != "" && !s.Busy() && s != "REVIEW_IN_PROGRESS" {
			ends = append(ends, s)
		}
	}
	return ends
}

// Starts lists the statuses that start an operation of ours. An event about one of them
// shows that events of the operation arrive.
func Starts() []Status {
	return []Status{"CREATE_IN_PROGRESS", "DELETE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS"}
}

// Alike reports whether s and t are in one class: a plan treats both the same.
func (s Status) Alike(t Status) bool { return s == t || s.Known() && classes[s] == classes[t] }

// Known reports whether s is in the table.
func (s Status) Known() bool { return classes[s] != unknown }

// String returns the status, or "gone" if there is no stack.
func (s Status) String() string {
	if s == "" {
		return "gone"
	}
	return string(s)
}
