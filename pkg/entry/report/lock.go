package report

import "github.com/stackwright/stackwright/pkg/run"

// A Lock says which run holds the lock of a project, and which are queued.
type Lock struct {
	Project string       `json:"project"`
	Owner   run.Writer   `json:"owner"`   // without a run if none holds it
	Waiting []run.Writer `json:"waiting"` // the next one first
}

// LockOf reports the lock of a project.
func LockOf(project string, l run.Lock) Lock {
	return Lock{Project: project, Owner: l.Owner, Waiting: append([]run.Writer{}, l.Waiting...)}
}

// An Execution is an execution of a run.
type Execution struct {
	Execution string `json:"execution,omitempty"` // its name; empty if the run has none yet
	Started   bool   `json:"started"`
	Running   bool   `json:"running"`
	Why       string `json:"why,omitempty"` // why it ended
}
