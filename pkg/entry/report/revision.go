package report

import (
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// A Revision is a configuration that runs have deployed, or have started to deploy.
type Revision struct {
	run.Source
	Current   bool      `json:"current"` // it is that of the last deploy of all stacks that succeeded
	Run       string    `json:"run"`     // the newest run of it in the page: a rollback and a comparison name the revision by this ID, or its beginning
	Operation string    `json:"operation"`
	State     run.State `json:"state"`               // of that run
	Partial   bool      `json:"partial,omitempty"`   // that run was about some of the stacks only
	Unchanged bool      `json:"unchanged,omitempty"` // that run has changed nothing: it is no other revision than the one before
	Who       string    `json:"who"`                 // requested that run
	Requested time.Time `json:"requested"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
}

// RevisionOf reports a revision. current is the configuration of the last deploy of all stacks that succeeded.
func RevisionOf(v run.Revision, current run.Source) Revision {
	return Revision{
		Source: v.Source, Current: v.Source == current, Run: v.Run, Operation: v.Operation, State: v.State, Partial: v.Partial, Unchanged: v.Same != (run.Source{}), Who: v.Who,
		Requested: v.Requested, Started: v.Started, Ended: v.Ended,
	}
}

// RevisionsOf reports revisions, which are newest first: each configuration once, with the first of its runs.
func RevisionsOf(all []run.Revision, current run.Source) []Revision {
	shown := []Revision{}
	seen := make(map[run.Source]bool)
	for _, v := range all {
		if !seen[v.Source] {
			seen[v.Source] = true
			shown = append(shown, RevisionOf(v, current))
		}
	}
	return shown
}
