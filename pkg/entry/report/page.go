package report

import (
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A ProjectPage is a list of projects.
type ProjectPage struct {
	Projects []string `json:"projects"` // each as "shop@prod"
}

// An EnvironmentPage is a list of the environments of a project.
type EnvironmentPage struct {
	Environments []Environment `json:"environments"`    // sorted by name
	After        string        `json:"after,omitempty"` // the parameter of the request for the next page; empty on the last page
}

// A RunPage is a page of a project's runs.
type RunPage struct {
	Runs   []Run  `json:"runs"`             // newest first, without steps
	Before string `json:"before,omitempty"` // the parameter of the request for the next page; empty on the last page
}

// A StepPage is a page of the steps of a run.
type StepPage struct {
	Steps []Step `json:"steps"`               // in the order of the plan
	Next  int    `json:"next_step,omitempty"` // the parameter from of the request for the next page; none on the last page
}

// An EventPage is a page of what has happened to a run.
type EventPage struct {
	Events []Event   `json:"events"`         // sorted by time. An event that became known late is listed when it is known; events of the minute before it may then be listed again, with the same IDs
	After  string    `json:"after"`          // the parameter of the next request
	More   bool      `json:"more,omitempty"` // there are more events already
	State  run.State `json:"state"`          // of the run: once it has ended, and there are no more events, none follow
}

// An ApprovalPage is a list of what waits for approval.
type ApprovalPage struct {
	Approvals []Question `json:"approvals"` // by project, in the order of the plans
}

// A SnapshotPage has the snapshots of a project, newest first.
type SnapshotPage struct {
	Snapshots []Snapshot `json:"snapshots"`
}

// A RevisionPage is a page of the configurations that were deployed.
type RevisionPage struct {
	Revisions []Revision `json:"revisions"`        // newest first; on the last page also those of successful deploys whose runs are not recorded any more
	Before    string     `json:"before,omitempty"` // the parameter of the request for the next page, which may have no revisions; empty on the last page
}

// A StackPage is a page of the recorded stacks of a project.
type StackPage struct {
	Stacks []Stack `json:"stacks"`
	After  string  `json:"after,omitempty"` // the parameter of the request for the next page; empty on the last page
}

// A ResourcePage is a page of the resources of a stack.
type ResourcePage struct {
	Resources []plan.StackResource `json:"resources"`
	After     string               `json:"after,omitempty"` // the parameter of the request for the next page; empty on the last page
}

// A ResourceEventPage is a page of the events of a stack.
type ResourceEventPage struct {
	Events []plan.ResourceEvent `json:"events"`          // newest first
	After  string               `json:"after,omitempty"` // the parameter of the request for the next page; empty on the last page
}

// A SchedulePage is a list of the schedules of a project.
type SchedulePage struct {
	Schedules []Schedule `json:"schedules"` // sorted by name
}

// A TargetPage is a list of targets.
type TargetPage struct {
	Targets []Target `json:"targets"` // sorted by name
}
