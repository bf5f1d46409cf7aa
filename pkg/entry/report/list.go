package report

import (
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A StackFilter selects recorded stacks. Empty fields select all.
type StackFilter struct {
	Scope
	Target   string
	Stack    string    // the name in the project, as Matches takes it
	Recorded string    // deployed, or unfinished
	Since    time.Time // CloudFormation changed the stack since then
}

// What is recorded of the last operation of a stack.
const (
	Deployed   = "deployed"
	Unfinished = "unfinished" // its last operation failed or is in progress, or it was adopted and not deployed since
)

// Wants reports whether the stack of a record is selected.
func (f StackFilter) Wants(project string, r plan.Record) bool {
	status := Deployed
	if r.Digest == "" {
		status = Unfinished
	}
	return f.Has(project) && (f.Target == "" || f.Target == r.Target.Name) && Matches(f.Stack, r.Node) && (f.Recorded == "" || f.Recorded == status) && !r.LastUpdated.Before(f.Since)
}

// Matches reports whether a text is as a pattern says: the same or, if the pattern ends with a star, with the same beginning. An empty pattern is that of
// all texts.
func Matches(pattern, text string) bool {
	if beginning, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(text, beginning)
	}
	return pattern == "" || pattern == text
}

// A StackOfProject is a recorded stack, with its project.
type StackOfProject struct {
	Project string `json:"project"`
	Stack
}

// A StackList is a page of the recorded stacks of projects.
type StackList struct {
	Stacks []StackOfProject `json:"stacks"`          // without outputs; sorted by project and name
	After  string           `json:"after,omitempty"` // the parameter of the request for the next page; empty on the last page. A page may have no stacks although there is a next one
}

// An EventOfRun is an event of a run, with the run.
type EventOfRun struct {
	Project   string `json:"project"`
	Run       string `json:"run"`
	Operation string `json:"operation"`
	Event
}

// An EventFilter selects events of runs. Empty fields select all.
type EventFilter struct {
	Scope
	Stack        string
	Event        EventKind
	Since, Until time.Time // the event happened since the one, and before the other
}

// MayHave reports whether a run, without its steps, may have selected events.
func (f EventFilter) MayHave(r run.Run) bool {
	return f.Has(r.Project) && (f.Until.IsZero() || r.Requested.Before(f.Until)) && (!r.State.Over() || !r.Ended.Before(f.Since))
}

// EventsIn lists the selected events of a run with its steps, the newest first, but no more than most, and whether there are more.
func EventsIn(r run.Run, f EventFilter, most int) (events []EventOfRun, more bool) {
	for _, e := range slices.Backward(EventsOf(r)) {
		if e.Time.Before(f.Since) || !f.Until.IsZero() && !e.Time.Before(f.Until) || f.Stack != "" && e.Stack != f.Stack || f.Event != "" && e.Event != f.Event {
			continue
		}
		if len(events) == most {
			return events, true
		}
		events = append(events, EventOfRun{Project: r.Project, Run: r.ID, Operation: r.Operation, Event: e})
	}
	return events, false
}

// MostOfRun is how many events of one run an EventList has.
const MostOfRun = 200

// An EventList is a page of what has happened to runs.
type EventList struct {
	Events []EventOfRun `json:"events"`           // of the newest run first, and of each run the newest event first
	Cut    []string     `json:"cut,omitempty"`    // runs of which further events are not listed: list those of the run
	Before string       `json:"before,omitempty"` // the parameter of the request for the next page; empty on the last page. A page may have no events although there is a next one
}

// A ResourceOfStack is a resource, with its stack.
type ResourceOfStack struct {
	Project string `json:"project"`
	Stack   string `json:"stack"` // in the project
	Target  string `json:"target"`
	plan.StackResource
}

// An UnreadStack is a stack whose resources could not be read.
type UnreadStack struct {
	Project string `json:"project"`
	Stack   string `json:"stack"`
	Why     string `json:"why"`
}

// A ResourceList is a page of the resources of stacks.
type ResourceList struct {
	Resources []ResourceOfStack `json:"resources"`        // by project and stack
	Unread    []UnreadStack     `json:"unread,omitempty"` // the stacks of this page that do not exist, or that Stackwright may not read
	After     string            `json:"after,omitempty"`  // the parameter of the request for the next page; empty on the last page. A page may have no resources although there is a next one
}
