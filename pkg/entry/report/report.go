// Package report shows runs and queues in JSON.
package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Run is the current state of a run.
type Run struct {
	Run          string      `json:"run"`
	Project      string      `json:"project"`
	Operation    string      `json:"operation"`
	State        run.State   `json:"state"`
	Command      run.Command `json:"command"`
	Forced       bool        `json:"forced,omitempty"`    // updates in progress are cancelled too
	Who          string      `json:"who"`                 // requested it
	Requester    string      `json:"requester,omitempty"` // the account that S3 names as the sender of the upload or the request object
	Reason       string      `json:"reason,omitempty"`    // of the request
	Commands     []Command   `json:"commands,omitempty"`
	Of           string      `json:"of,omitempty"`
	SupersededBy string      `json:"superseded_by,omitempty"`
	Restarts     int         `json:"restarted,omitempty"` // how often its execution was restarted since a step last finished
	Requested    time.Time   `json:"requested"`
	Started      time.Time   `json:"started,omitzero"`
	Deadline     time.Time   `json:"deadline,omitzero"` // when it is overdue
	Ended        time.Time   `json:"ended,omitzero"`
	Unchanged    int         `json:"unchanged"`
	Messages     []string    `json:"messages,omitempty"`
	LeftBroken   []string    `json:"left_broken,omitempty"` // stacks that failed steps left in a bad or unknown state
	Steps        []Step      `json:"steps,omitempty"`
	Lock         *QueueEntry `json:"lock,omitempty"`      // of its project, if a run holds it
	Attention    []Run       `json:"attention,omitempty"` // other runs that failed, and that no later run has repaired
}

// A Command is a command that a run was given.
type Command struct {
	Command run.Command `json:"command"`
	Force   bool        `json:"force,omitempty"`
	Run     string      `json:"run,omitempty"` // that supersedes it
	Who     string      `json:"who"`
	Reason  string      `json:"reason,omitempty"`
	Given   time.Time   `json:"given"`
}

// A Step is the current state of a step.
type Step struct {
	Step     string         `json:"step"`
	Stack    string         `json:"stack"`
	Verb     string         `json:"verb"`
	Possible bool           `json:"possible,omitempty"` // only an output of a changing dependency can make it change the stack
	Status   run.Status     `json:"status"`
	Why      string         `json:"why"` // while it waits for an answer: the question
	After    []string       `json:"after"`
	Answer   *Answer        `json:"answer,omitempty"`
	Cause    *run.Cause     `json:"cause,omitempty"` // why it was skipped, or that it was declined
	Findings []plan.Finding `json:"findings,omitempty"`
	Started  time.Time      `json:"started,omitzero"`
	Deadline time.Time      `json:"deadline,omitzero"` // when it is overdue
	Ended    time.Time      `json:"ended,omitzero"`
}

// An Answer is the answer of a user to a step.
type Answer struct {
	Yes    bool      `json:"yes"`
	Who    string    `json:"who"`
	Reason string    `json:"reason,omitempty"`
	Given  time.Time `json:"given"`
}

// Of reports a run, without the queue of its project.
func Of(r run.Run) Run {
	shown := Run{
		Run: r.ID, Project: r.Project, Operation: r.Operation, State: r.State, Command: r.Command, Who: r.Who, Requester: r.Requester, Reason: r.Reason, Of: r.Of,
		SupersededBy: r.SupersededBy, Restarts: r.Restarts, Requested: r.Requested, Ended: r.Ended, Unchanged: r.Unchanged, Messages: r.Messages,
		Forced: r.Forced, Started: r.Started, Deadline: r.Deadline,
	}
	shown.LeftBroken, _ = r.LeftBroken() // a run without steps is in a list, which does not say
	for _, c := range r.Commands {
		shown.Commands = append(shown.Commands, Command{c.Command, c.Force, c.Run, c.Who, c.Why, c.At})
	}
	for _, s := range r.Steps {
		step := Step{
			Step: s.ID, Stack: s.Node, Verb: string(s.Verb), Possible: s.Possible, Status: s.Status, Why: s.Why, After: append([]string{}, s.After...),
		}
		if s.Attempt > 0 {
			step.Started, step.Deadline, step.Ended = s.Claimed, s.Deadline(s.Claimed), s.Ended
		}
		if a := s.Answer; a.Known() {
			step.Answer = &Answer{a.Yes, a.Who, a.Why, a.At}
		}
		if s.Cause.Known() {
			step.Cause = &s.Cause
		}
		step.Findings = s.Result.Findings
		shown.Steps = append(shown.Steps, step)
	}
	return shown
}
