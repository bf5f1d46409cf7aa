package api

import (
	"context"
	_ "embed" // the document
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A route is one of the API. The document of the API, openapi.json, is made of all routes.
type route struct {
	id      string // of the operation in the document
	summary string
	role    access.Role // that the caller needs, for what subject returns
	handle  func(API, context.Context, question) (answer, error)

	query   []parameter
	body    any           // a value of the type of the body; nil has none
	options []plan.Option // of the body; nil are all
	needs   []plan.Option // of these options, those that must be given
	status  int           // of the answer; 0 is 200
	answers any           // a value of the type of the answer's body; nil is no JSON
	other   any           // a value of another type that it may have
	media   []string      // other content types that it may have
	first   bool          // it also answers about a project that has had no run yet: who deploys one for the first time reads that before
}

// document is the document of the API. TestDocument makes it of the routes.
//
//go:embed openapi.json
var document []byte

// document answers with the document of the API.
func (a API) document(context.Context, question) (answer, error) {
	return answer{body: json.RawMessage(document)}, nil
}

// subject returns the project that a request is about, for which its caller needs the role of the route: that of the
// path. On other paths, an admin must be one of all projects, and a reader may be one of any project.
func (r route) subject(e events.APIGatewayV2HTTPRequest) (string, error) {
	if isOfProject(e.RouteKey) {
		return projectOf(e.PathParameters)
	}
	if r.role == access.Admin {
		return access.Everywhere, nil
	}
	return access.Somewhere, nil
}

// isOfProject reports whether a route is about one environment of a project.
func isOfProject(key string) bool { return strings.Contains(key, "{environment}") }

// routes returns the routes by their keys, as API Gateway writes them. The path of each that is
// about a project begins with it and its environment, so that permissions can name them.
func routes() map[string]route {
	const (
		of   = "/projects/{project}/{environment}"
		runs = of + "/runs"
	)
	all := map[string]route{
		"POST " + of + "/uploads": {
			id: "createUpload", summary: "Get a URL to which a configuration can be uploaded", role: access.Planner, handle: API.upload,
			body: report.UploadRequest{}, status: http.StatusCreated, answers: report.Upload{},
		},
		"POST " + runs: {
			id: "startRun", summary: "Start a run; the role planner may only start plans that are shown", role: access.Planner, handle: API.start,
			body: report.RunRequest{}, status: http.StatusAccepted, answers: report.Run{}, other: report.Accepted{},
		},
		"GET " + runs: {
			id: "listRuns", summary: "List the runs of a project, newest first, without their steps", role: access.Reader, handle: API.list,
			query: []parameter{
				{name: "before", text: "the ID of a run: the page has runs that are older"},
				{name: "limit", text: "how many runs a page has at most", number: true, usual: usualRuns, least: 1, most: mostRuns},
			},
			answers: report.RunPage{},
		},
		"GET " + runs + "/{run}": {
			id: "showRun", summary: "Show a run with its steps, and the lock of its project", role: access.Reader, handle: API.show,
			query:   []parameter{paged("step")},
			answers: report.Run{},
		},
		"GET " + runs + "/{run}/steps": {
			id: "listSteps", summary: "List the steps of a run, in the order of its plan", role: access.Reader, handle: API.steps,
			query: []parameter{
				paged("step"),
				{name: "limit", text: "how many steps a page has at most", number: true, usual: mostRuns, least: 1, most: mostSteps},
				{name: "status", text: "only steps with this status", values: []string{"pending", "running", "waiting", "done", "failed", "skipped"}},
				{name: "stack", text: "only steps of this stack"},
			},
			answers: report.StepPage{},
		},
		"GET " + runs + "/{run}/graph": {
			id: "showRunGraph", summary: "Show which step of a run comes after which", role: access.Reader, handle: API.runGraph,
			query:   []parameter{paged("node"), {name: "format", text: "JSON, a drawing, or the language of a program that draws", values: []string{"json", "svg", "mermaid", "dot"}}},
			answers: report.Graph{}, media: []string{svgType, textType},
		},
		"GET " + runs + "/{run}/timeline": {
			id: "showTimeline", summary: "Show when the steps of a run were started and ended, and which decided when the run ended", role: access.Reader, handle: API.timeline,
			query:   []parameter{paged("step"), {name: "format", text: "JSON, a drawing, or the language of a program that draws", values: []string{"json", "svg", "mermaid"}}},
			answers: report.Timeline{}, media: []string{svgType, textType},
		},
		"GET " + runs + "/{run}/metrics": {
			id: "showMetrics", summary: "Show what a run took: makespan, critical path, wait in the queue, cost, and how many of its steps have each status", role: access.Reader, handle: API.metrics,
			answers: report.Metrics{},
		},
		"GET " + of + "/graph": {
			id: "showGraph", summary: "Show which recorded stack of a project depends on which", role: access.Reader, handle: API.projectGraph,
			query:   []parameter{paged("node"), {name: "format", text: "JSON, a drawing, or the language of a program that draws", values: []string{"json", "svg", "mermaid", "dot"}}},
			answers: report.Graph{}, media: []string{svgType, textType},
		},
		"GET " + runs + "/{run}/events": {
			id: "listEvents", summary: "List what has happened to a run and its steps, and wait until something does", role: access.Reader, handle: API.events,
			query: []parameter{
				{name: "after", text: "the cursor of the last answer: the page has the events behind it"},
				{name: "limit", text: "how many events a page has at most", number: true, usual: mostRuns, least: 1, most: mostSteps},
				{name: "wait", text: "for how many seconds to wait for an event, if there is none", number: true, usual: mostWait, most: mostWait},
			},
			answers: report.EventPage{},
		},
		"POST " + runs + "/{run}/retry": {
			id: "retryRun", summary: "Start a run that repeats this one, which has ended, with the same files", role: access.Deployer, handle: API.retry,
			body: report.RunOptions{}, options: repeating().Options, status: http.StatusAccepted, answers: report.Run{}, other: report.Accepted{},
		},
		"GET " + runs + "/{run}/plan": {
			id: "showPlan", summary: "Show what the plan of a run would change", role: access.Reader, handle: API.plan, answers: plan.Changes{},
		},
		"GET " + runs + "/{run}/execution": {
			id: "showExecution", summary: "Show whether an execution of the state machine executes a run", role: access.Reader, handle: API.execution, answers: report.Execution{},
		},
		"GET " + of + "/lock": {
			id: "showLock", summary: "Show which run holds the lock of a project, and which runs are queued", role: access.Reader, handle: API.lock, answers: report.Lock{}, first: true,
		},
		"GET " + of + "/schedules": {
			id: "listSchedules", summary: "List the schedules of a project, with the next times of each", role: access.Reader, handle: API.schedules, answers: report.SchedulePage{},
		},
		"GET " + of + "/stacks": {
			id: "listStacks", summary: "List the recorded stacks of a project with their outputs, sorted by name", role: access.Reader, handle: API.stacks,
			query:   []parameter{{name: "after", text: "the name of a stack: the page has the stacks behind it"}},
			answers: report.StackPage{},
		},
		"GET " + of + "/stacks/resources": {
			id: "listResources", summary: "List the resources of a recorded stack, as CloudFormation reports them now", role: access.Reader, handle: API.resources,
			query: ofStack(), answers: report.ResourcePage{},
		},
		"GET " + of + "/stacks/events": {
			id: "listResourceEvents", summary: "List CloudFormation's own events of a recorded stack and its resources, newest first", role: access.Reader, handle: API.resourceEvents,
			query: ofStack(), answers: report.ResourceEventPage{},
		},
		"GET " + of + "/stacks/history": {
			id: "listHistory", summary: "List the steps of runs that changed a stack, or tried to, newest first", role: access.Reader, handle: API.history,
			query:   append(ofStack(), parameter{name: "limit", text: "how many steps a page has at most", number: true, usual: usualRuns, least: 1, most: mostRuns}),
			answers: report.HistoryPage{},
		},
		"GET " + of + "/stacks/why": {
			id: "showWhy", summary: "Say what is known of why a stack is changed or not: what is recorded, what the newest plan says, on what it depends, and its last changes", role: access.Reader, handle: API.why,
			query: ofStack()[:1], answers: report.Why{},
		},
		"GET " + of: {
			id: "showEnvironment", summary: "Show an environment of a project: its newest run, its lock, and what needs attention", role: access.Reader, handle: API.environment, answers: report.Environment{},
		},
		"GET " + of + "/audit": {
			id: "listAudit", summary: "List the changes that were requested for a project, newest first: runs, commands and answers, with who requested each", role: access.Reader, handle: API.audit,
			query: []parameter{
				{name: "before", text: "the ID of a run: the page has older runs, and what they were given"},
				{name: "limit", text: "of how many runs a page is, at most", number: true, usual: usualRuns, least: 1, most: mostRuns},
			},
			answers: report.AuditPage{},
		},
		"GET /audit": {
			id: "listAllAudit", summary: "List the changes that were requested for the projects that the caller may read and, to an admin of all projects, those of the installation, newest first", role: access.Reader, handle: API.allAudit,
			query: []parameter{
				{name: "before", text: "the cursor of the last answer: the page has older runs, and what they were given"},
				{name: "limit", text: "of how many runs a page is, at most", number: true, usual: usualRuns, least: 1, most: mostRuns},
			},
			answers: report.AuditPage{},
		},
		"GET " + of + "/access": {
			id: "showAccess", summary: "Say which role the caller has for a project and, to an admin of it, who has which", role: access.Reader, handle: API.access, answers: report.Access{}, first: true,
		},
		"GET " + of + "/approvals": {
			id: "listApprovals", summary: "List what waits for approval in a project", role: access.Reader, handle: API.approvals, answers: report.ApprovalPage{},
		},
		"GET " + of + "/revisions": {
			id: "listRevisions", summary: "List the configurations that runs of a project have deployed, newest first", role: access.Reader, handle: API.revisions,
			query: []parameter{
				{name: "before", text: "the ID of a run: the page has revisions of older runs"},
				{name: "limit", text: "of how many runs a page has the revisions, at most", number: true, usual: mostRuns, least: 1, most: mostRuns},
			},
			answers: report.RevisionPage{},
		},

		"GET " + of + "/revisions/{revision}": {
			id: "showRevision", summary: "Show the revision that a word names, as a rollback names it", role: access.Reader, handle: API.revision, answers: report.Revision{},
		},
		"GET " + of + "/snapshots": {
			id: "listSnapshots", summary: "List the snapshots of a project, newest first, each with the revision that it names", role: access.Reader, handle: API.snapshots, answers: report.SnapshotPage{},
		},
		"GET " + of + "/revisions/{from}/diff/{to}": {
			id: "showDifference", summary: "Show what differs between two revisions: files, stacks and templates", role: access.Reader, handle: API.difference,
			query: []parameter{paged("entry")}, answers: report.Difference{},
		},

		"GET /approvals": {
			id: "listAllApprovals", summary: "List what waits for approval in the projects that the caller may read", role: access.Reader, handle: API.allApprovals, answers: report.ApprovalPage{},
		},
		"GET /projects/{project}": {
			id: "listEnvironments", summary: "List the environments of a project that the caller may read, sorted by name", role: access.Reader, handle: API.environments,
			query: []parameter{{name: "after", text: "the name of an environment: the page has the environments behind it"}}, answers: report.EnvironmentPage{},
		},
		"GET /installation": {
			id: "showInstallation", summary: "Describe the installation, and say as whom it knows the caller", role: access.Reader, handle: API.installation, answers: report.Installation{},
		},
		"GET /openapi.json": {
			id: "showDocument", summary: "Describe this API, in OpenAPI 3.1", role: access.Reader, handle: API.document, answers: json.RawMessage{},
		},
		"GET /docs": {
			id: "showDocs", summary: "Describe this API on a page for people", role: access.Reader, handle: API.docs, media: []string{htmlType},
		},
		"GET /projects": {
			id: "listProjects", summary: "List the projects that the caller may read", role: access.Reader, handle: API.projects,
			query:   []parameter{{name: "run", text: "the ID of a run: only its project is listed"}},
			answers: report.ProjectPage{},
		},
		"GET /targets": {
			id: "listTargets", summary: "List the targets, sorted by name; with external IDs only for an admin of all projects", role: access.Reader, handle: API.targets, answers: report.TargetPage{},
		},
		"PUT /targets/{target}": {
			id: "putTarget", summary: "Register a target, or change it", role: access.Admin, handle: API.addTarget, body: report.TargetRequest{}, answers: report.Target{},
		},
		"GET /targets/{target}/accounts": {
			id: "listUnitAccounts", summary: "List the accounts of a target of an organizational unit, as AWS Organizations has listed them within the last half minute", role: access.Reader, handle: API.unitAccounts, answers: report.UnitAccountPage{},
		},
		"DELETE /targets/{target}": {
			id: "removeTarget", summary: "Remove a target that has no stacks", role: access.Admin, handle: API.removeTarget, answers: report.RemovedTarget{},
		},
	}
	maps.Copy(all, listRoutes())
	all["POST /purge"] = route{
		id: "purge", summary: "Delete old runs, and objects in the bucket that nothing names any more, or say what would be deleted", role: access.Admin, handle: API.purge,
		body: report.PurgeRequest{}, answers: report.Purged{},
	}
	for _, c := range run.Controls() {
		all["POST "+runs+"/{run}/"+c.Name] = commandRoute(c)
	}
	for key, r := range all {
		if _, raw := r.answers.(json.RawMessage); strings.HasPrefix(key, http.MethodGet+" ") && r.answers != nil && !raw {
			r.query = append(r.query, selectable())
			all[key] = r
		}
	}
	return all
}

// paged is the parameter of a route whose answers have pages of numbered entries.
func paged(entry string) parameter {
	return parameter{name: "from", text: "the number of the first " + entry + " of the page", number: true, most: math.MaxInt32}
}

// ofStack are the parameters of a route about one stack. Its name is not in the path: names have slashes, which API Gateway
// takes for those of the path.
func ofStack() []parameter {
	return []parameter{
		{name: "stack", text: "the name of the stack in the project", needed: true},
		{name: "after", text: "the cursor of the last answer: the page has what is behind it"},
	}
}

// commandRoute is the route of a command.
func commandRoute(c run.Control) route {
	r := route{
		id: c.Name + "Run", summary: c.Summary, role: c.Role(), body: report.CommandRequest{}, options: c.Options, status: http.StatusAccepted, answers: report.Run{}, other: report.Accepted{},
		handle: func(a API, ctx context.Context, q question) (answer, error) { return a.command(ctx, q, c) },
	}
	if c.NeedsReason {
		r.needs = append(r.needs, plan.OptionReason)
	}
	if c.Answers {
		r.needs = append(r.needs, plan.OptionDigest)
	}
	return r
}

// Routes lists the keys of the routes that are answered, sorted.
func Routes() []string { return slices.Sorted(maps.Keys(routes())) }
