package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// An Environment is an environment of a project: what was deployed to it, what runs, and what needs attention.
type Environment struct {
	Project        string      `json:"project"`                  // "shop@prod"
	Environment    string      `json:"environment"`              // its name; default where the project has none
	Stacks         int         `json:"stacks"`                   // how many are recorded
	LastSuccessful run.Source  `json:"last_successful,omitzero"` // the configuration of the last deploy of all stacks that succeeded
	LastRun        *Run        `json:"last_run,omitempty"`       // the newest run, without steps
	Attention      *Run        `json:"attention,omitempty"`      // the newest failed run that no later run has repaired, among the newest 100
	Promotion      *Run        `json:"promotion,omitempty"`      // the newest promotion that follows a deploy of another environment, if it has not started, or was refused and nothing was deployed since
	Lock           *QueueEntry `json:"lock,omitempty"`           // if a run holds it
	Lifetime       *Lifetime   `json:"lifetime,omitempty"`       // until when it lives; missing if that is for ever
}

// Unrepaired returns the newest failed run of a project that wrote stacks and that no later run has repaired. The runs are newest
// first. It reports false if there is no such run.
func Unrepaired(runs []run.Run) (run.Run, bool) {
	for _, r := range runs {
		switch o := plan.AllOperations().Of(r.Operation); {
		case !o.Writes || o.Restores: // a rollback does not make a failed deploy succeed
		case r.State == run.StateSucceeded:
			return run.Run{}, false
		case r.State == run.StateFailed:
			return r, true
		}
	}
	return run.Run{}, false
}

// Promoting returns the newest promotion of a project that follows a deploy of another environment, if it has not started, or was refused and no later run has
// succeeded: it says where the pipeline stands. The runs are newest first. It reports false if there is no such run.
func Promoting(runs []run.Run) (run.Run, bool) {
	for _, r := range runs {
		switch o := plan.AllOperations().Of(r.Operation); {
		case r.Follows != "" && (r.State == run.StatePending || r.State == run.StateRefused):
			return r, true
		case o.Writes && !o.Restores && r.State == run.StateSucceeded:
			return run.Run{}, false
		}
	}
	return run.Run{}, false
}

// A Question is what a run waits for the approval of: its plan, or what it does with a stack.
type Question struct {
	Project  string            `json:"project"`
	Run      string            `json:"run"`
	Who      string            `json:"who"`                // requested the run
	Step     string            `json:"step"`               // an answer names it if several wait
	Stack    string            `json:"stack,omitempty"`    // empty if the whole plan waits
	Digest   string            `json:"plan_digest"`        // of what is approved: an answer names it
	Text     string            `json:"text"`               // the question
	Approval *project.Approval `json:"approval,omitempty"` // who may answer
	Since    time.Time         `json:"since,omitzero"`
	Deadline time.Time         `json:"deadline,omitzero"` // when it fails if nobody has approved it
}

// Questions lists what a run waits for the approval of. It needs the steps.
func Questions(r run.Run) []Question {
	var all []Question
	listed := make(map[string]bool)
	for _, s := range r.Questions() {
		if s.Approval == nil || listed[s.Question()] {
			continue
		}
		listed[s.Question()] = true
		all = append(all, Question{
			Project: r.Project, Run: r.ID, Who: r.By(), Step: s.Question(), Stack: s.Node, Digest: r.AnswerDigest(s), Text: s.Why, Approval: s.Approval,
			Since: s.Claimed, Deadline: s.Deadline(s.Claimed),
		})
	}
	return all
}
