// Package report says how runs stand, in JSON.
package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// A Run is a run as it stands.
type Run struct {
	Run       string      `json:"run"`
	Project   string      `json:"project"`
	Operation string      `json:"operation"`
	State     run.State   `json:"state"`
	Command   run.Command `json:"wish"`
	Forced    bool        `json:"forced,omitempty"` // what is updated is cancelled too
	Who       string      `json:"who"`
	Of        string      `json:"of,omitempty"`
	By        string      `json:"superseded_by,omitempty"`
	Restarts  int         `json:"restarted,omitempty"` // its execution had died, since a step was last settled
	Requested time.Time   `json:"asked"`
	Started   time.Time   `json:"begun,omitzero"`
	Deadline  time.Time   `json:"deadline,omitzero"` // when it is overdue
	Ended     time.Time   `json:"ended,omitzero"`
	Unchanged int         `json:"unchanged"`
	Messages  []string    `json:"messages,omitempty"`
	Steps     []Step      `json:"steps,omitempty"`
	Lock      *QueueEntry `json:"lock,omitempty"` // of its project, if somebody holds it
}

// A Step is a step as it stands.
type Step struct {
	Step     string     `json:"step"`
	Stack    string     `json:"stack"`
	Verb     string     `json:"verb"`
	Status   run.Status `json:"status"`
	Why      string     `json:"why"`
	After    []string   `json:"after"`
	Started  time.Time  `json:"begun,omitzero"`
	Deadline time.Time  `json:"deadline,omitzero"` // when it is overdue
	Ended    time.Time  `json:"ended,omitzero"`
}

// Of reports all of a run that is worth showing, but for its project's lock.
func Of(r run.Run) Run {
	shown := Run{
		Run: r.ID, Project: r.Project, Operation: r.Operation, State: r.State, Command: r.Command, Who: r.Who, Of: r.Of, By: r.By, Restarts: r.Restarts,
		Requested: r.Requested, Ended: r.Ended, Unchanged: r.Unchanged, Messages: r.Messages,
		Forced: r.Forced, Started: r.Started, Deadline: r.Deadline,
	}
	for _, s := range r.Steps {
		step := Step{
			Step: s.ID, Stack: s.Node, Verb: string(s.Verb), Status: s.Status, Why: s.Why, After: append([]string{}, s.After...),
		}
		if s.Attempt > 0 {
			step.Started, step.Deadline, step.Ended = s.Claimed, s.Deadline(s.Claimed), s.Ended
		}
		shown.Steps = append(shown.Steps, step)
	}
	return shown
}
