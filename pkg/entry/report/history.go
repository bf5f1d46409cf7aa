package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A PastStep is a step that changed a stack, or tried to, with what is known of its run.
type PastStep struct {
	Run       string      `json:"run"`
	Operation string      `json:"operation"` // of the run
	State     run.State   `json:"state"`     // of the run
	Who       string      `json:"who"`       // requested the run
	Schedule  string      `json:"schedule,omitempty"`
	Reason    string      `json:"reason,omitempty"` // of the request
	Source    run.Source  `json:"source,omitzero"`  // the configuration that the run deploys
	Step      string      `json:"step"`
	Verb      string      `json:"verb"`
	Status    run.Status  `json:"status"`
	Why       string      `json:"why,omitempty"`
	Unchanged bool        `json:"unchanged,omitempty"`    // the stack already was as desired
	Left      plan.Status `json:"stack_status,omitempty"` // of the stack when the step ended
	Started   time.Time   `json:"started"`
	Ended     time.Time   `json:"ended"`
}

// A HistoryPage is a page of the history of a stack.
type HistoryPage struct {
	Steps []PastStep `json:"steps"`           // newest first
	After string     `json:"after,omitempty"` // the parameter of the request for the next page; empty on the last page
}

// HistoryOf reports steps of a stack. It leaves out those of plans that are only shown.
func HistoryOf(steps []run.StepOf) []PastStep {
	all := []PastStep{}
	for _, s := range steps {
		if plan.IsPreview(s.Run.Operation) {
			continue
		}
		all = append(all, PastStep{
			Run: s.Run.ID, Operation: s.Run.Operation, State: s.Run.State, Who: s.Run.By(), Schedule: s.Run.Schedule, Reason: s.Run.Reason, Source: s.Run.Source,
			Step: s.Step.ID, Verb: string(s.Step.Verb), Status: s.Step.Status, Why: s.Step.Why, Unchanged: s.Step.Receipt.Unchanged, Left: s.Step.Result.Status,
			Started: s.Step.Claimed, Ended: s.Step.Ended,
		})
	}
	return all
}
