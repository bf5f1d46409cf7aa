package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/run"
)

// An EventKind says what has happened.
type EventKind string

// The kinds of events.
const (
	RunRequested EventKind = "requested"
	RunStarted   EventKind = "started"       // its plan is made, and it holds the lock
	RunCommanded EventKind = "command"       // a user, or a newer upload, has given it a command
	StepStarted  EventKind = "step_started"  // once for each attempt
	StepAnswered EventKind = "step_answered" // a user has answered a step that waited
	StepEnded    EventKind = "step_ended"
	RunEnded     EventKind = "ended"
)

// EventKinds lists the kinds of events.
func EventKinds() []EventKind {
	return []EventKind{RunRequested, RunStarted, RunCommanded, StepStarted, StepAnswered, StepEnded, RunEnded}
}

// An Event is something that happened to a run, or to one of its steps.
type Event struct {
	ID      string      `json:"id"` // the same whenever the event is shown
	Time    time.Time   `json:"time"`
	Event   EventKind   `json:"event"`
	Step    string      `json:"step,omitempty"`
	Stack   string      `json:"stack,omitempty"`
	Verb    string      `json:"verb,omitempty"`
	Attempt int         `json:"attempt,omitempty"`
	Status  run.Status  `json:"status,omitempty"`  // of a step that has ended
	State   run.State   `json:"state,omitempty"`   // of a run that has ended
	Command run.Command `json:"command,omitempty"` // that was given
	Yes     bool        `json:"yes,omitempty"`     // the answer
	Who     string      `json:"who,omitempty"`     // requested the run, gave the command, or answered
	Why     string      `json:"why,omitempty"`     // why the step ended so, or the reason of a person
}

// EventsOf lists what has happened to a run so far, sorted by time, and events of one time by their IDs. It needs the steps. Of the
// attempts of a step it has the newest, and of the commands those that the run keeps.
func EventsOf(r run.Run) []Event {
	all := []Event{{Time: r.Requested, Event: RunRequested, Who: r.By(), Why: r.Reason}}
	if !r.Started.IsZero() {
		all = append(all, Event{Time: r.Started, Event: RunStarted})
	}
	for _, c := range r.Commands {
		all = append(all, Event{Time: c.At, Event: RunCommanded, Command: c.Command, Who: c.Who, Why: c.Why})
	}
	for _, s := range r.Steps {
		of := Event{Step: s.ID, Stack: s.Node, Verb: string(s.Verb), Attempt: s.Attempt}
		if s.Attempt > 0 {
			e := of
			e.Time, e.Event = s.Claimed, StepStarted
			all = append(all, e)
		}
		if s.Answer.Known() {
			e := of
			e.Time, e.Event, e.Yes, e.Who, e.Why = s.Answer.At, StepAnswered, s.Answer.Yes, s.Answer.By(), s.Answer.Why
			all = append(all, e)
		}
		if s.Over() {
			e := of
			e.Time, e.Event, e.Status, e.Why = s.Ended, StepEnded, s.Status, s.Why
			all = append(all, e)
		}
	}
	if r.State.Over() {
		all = append(all, Event{Time: r.Ended, Event: RunEnded, State: r.State})
	}
	for i, e := range all {
		all[i].ID = fmt.Sprintf("%s %s %d %s%s", e.Event, e.Step, e.Attempt, e.Command, e.Time.UTC().Format("15:04:05.000000000"))
	}
	slices.SortFunc(all, func(a, b Event) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID)) })
	return all
}
