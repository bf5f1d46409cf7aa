package asl

import (
	"fmt"
	"strings"
)

// The error names that the language reserves and that this package deals in.
// https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html
const (
	All               = "States.ALL"
	TaskFailed        = "States.TaskFailed"
	Timeout           = "States.Timeout"
	Runtime           = "States.Runtime"
	DataLimitExceeded = "States.DataLimitExceeded"
	NoChoiceMatched   = "States.NoChoiceMatched"
	ResultPathFailure = "States.ResultPathMatchFailure"
)

// An Error is a failure that a machine can retry or catch by its name. Cause is for people.
type Error struct {
	Name  string
	Cause string
}

func (e *Error) Error() string {
	if e.Cause == "" {
		return e.Name
	}
	return e.Name + ": " + e.Cause
}

func runtimef(state, format string, args ...any) *Error {
	return &Error{Name: Runtime, Cause: fmt.Sprintf("An error occurred while executing the state '%s'. ", state) + fmt.Sprintf(format, args...)}
}

// matches says whether a retrier or catcher that names these errors deals with e.
// A States.Runtime error always fails the execution, whatever is named.
func matches(names []string, e *Error) bool {
	if e.Name == Runtime {
		return false
	}
	for _, name := range names {
		switch name {
		case e.Name:
			return true
		case All:
			if e.Name != DataLimitExceeded {
				return true
			}
		case TaskFailed:
			if e.Name != Timeout && e.Name != DataLimitExceeded {
				return true
			}
		}
	}
	return false
}

// reserved says whether a name that begins with "States." is one that the language knows.
func reserved(name string) bool {
	rest, ok := strings.CutPrefix(name, "States.")
	if !ok {
		return true
	}
	switch rest {
	case "ALL", "TaskFailed", "Timeout", "HeartbeatTimeout", "Runtime", "DataLimitExceeded", "NoChoiceMatched",
		"ResultPathMatchFailure", "ParameterPathFailure", "Permissions", "BranchFailed", "IntrinsicFailure",
		"ExceedToleratedFailureThreshold", "ItemReaderFailed", "ResultWriterFailed":
		return true
	}
	return false
}
