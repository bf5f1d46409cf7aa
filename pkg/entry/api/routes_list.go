package api

import (
	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// listRoutes are the routes of the lists over all projects that the caller may read.
func listRoutes() map[string]route {
	return map[string]route{
		"GET /runs": {
			id: "listAllRuns", summary: "List the runs of the projects that the caller may read, newest first, without their steps", role: access.Reader, handle: API.allRuns,
			query: append(ofProjects(),
				parameter{name: "operation", text: "only runs of this operation", values: plan.AllOperations().Names(func(plan.Operation) bool { return true })},
				parameter{name: "state", text: "only runs in this state", values: stateNames()},
				parameter{name: "who", text: "only runs whose requester contains this text"},
				parameter{name: "since", text: "only runs that were requested at this time or later", moment: true},
				parameter{name: "until", text: "only runs that were requested before this time", moment: true},
				parameter{name: "before", text: "the cursor of the last answer: the page has older runs"},
				parameter{name: "limit", text: "how many runs a page has at most", number: true, usual: usualRuns, least: 1, most: mostRuns},
			),
			answers: report.RunPage{},
		},
		"GET /events": {
			id: "listAllEvents", summary: "List what has happened to runs of the projects that the caller may read and to their steps, of the newest run first", role: access.Reader, handle: API.allEvents,
			query: append(ofProjects(),
				parameter{name: "stack", text: "only events of steps of this stack"},
				parameter{name: "event", text: "only events of this kind", values: eventNames()},
				parameter{name: "since", text: "only events of this time or later", moment: true},
				parameter{name: "until", text: "only events before this time", moment: true},
				parameter{name: "before", text: "the cursor of the last answer: the page has events of older runs"},
				parameter{name: "limit", text: "of how many runs a page is, at most", number: true, usual: usualRequested, least: 1, most: mostFollowed},
			),
			answers: report.EventList{},
		},
		"GET /environments": {
			id: "listAllEnvironments", summary: "List the environments that have stacks or an end, of the projects that the caller may read, sorted, with until when each lives", role: access.Reader, handle: API.allEnvironments,
			query: append(ofProjects(),
				parameter{name: "after", text: "the name of the last environment of the last answer, as shop@prod: the page has the environments behind it"},
			),
			answers: report.LivingPage{},
		},
		"GET /stacks": {
			id: "listAllStacks", summary: "List the recorded stacks of the projects that the caller may read, sorted by project and name, without outputs", role: access.Reader, handle: API.allStacks,
			query: append(ofProjects(),
				parameter{name: "target", text: "only stacks in this target"},
				parameter{name: "stack", text: "only stacks with this name in the project; data/* is all whose names begin with data/"},
				parameter{name: "recorded", text: "only stacks whose last operation succeeded, or those of which that is not known", values: []string{report.Deployed, report.Unfinished}},
				parameter{name: "changed_since", text: "only stacks that CloudFormation changed at this time or later", moment: true},
				parameter{name: "after", text: "the cursor of the last answer: the page has the stacks behind it"},
				parameter{name: "limit", text: "how many stacks a page has at most", number: true, usual: mostRuns, least: 1, most: mostSteps},
			),
			answers: report.StackList{},
		},
		"GET /resources": {
			id: "listAllResources", summary: "List the resources of the recorded stacks of the projects that the caller may read, as CloudFormation reports them now", role: access.Reader, handle: API.allResources,
			query: append(ofProjects(),
				parameter{name: "target", text: "only stacks in this target"},
				parameter{name: "stack", text: "only resources of the stack with this name in the project; data/* is all whose names begin with data/"},
				parameter{name: "type", text: "only resources of this type; AWS::RDS::* is all types that begin with AWS::RDS::"},
				parameter{name: "physical_id", text: "only resources with this physical ID; with a star at its end, those whose IDs begin so"},
				parameter{name: "after", text: "the cursor of the last answer: the page has the resources behind it"},
				parameter{name: "limit", text: "of how many stacks a page is, at most", number: true, usual: usualRequested, least: 1, most: mostRequested},
			),
			answers: report.ResourceList{},
		},
	}
}

// stateNames are the states of runs.
func stateNames() []string {
	var all []string
	for _, s := range run.StoredStates() {
		all = append(all, string(s))
	}
	return all
}

// eventNames are the kinds of events.
func eventNames() []string {
	var all []string
	for _, k := range report.EventKinds() {
		all = append(all, string(k))
	}
	return all
}
