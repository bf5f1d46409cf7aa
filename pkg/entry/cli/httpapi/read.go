package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/client"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Projects lists the projects that the caller may read, sorted.
func (a *API) Projects(ctx context.Context) ([]string, error) {
	all, err := a.client.ListProjects(ctx, client.ListProjectsQuery{})
	return all.Projects, err
}

// mostRuns is how many runs the API lists in one answer.
const mostRuns = 100

// List returns the newest runs of a project, newest first, without steps; 0 is all.
func (a *API) List(ctx context.Context, project string, most int) ([]run.Run, error) {
	var runs []run.Run
	name, environment := parts(project)
	projects, q := make(map[string]string), client.ListRunsQuery{}
	for {
		q.Limit = mostRuns
		if most > 0 {
			q.Limit = min(q.Limit, most-len(runs))
		}
		page, err := a.client.ListRuns(ctx, name, environment, q)
		if err != nil {
			return nil, err
		}
		for _, shown := range page.Runs {
			r, err := report.RunOf(shown)
			if err != nil {
				return nil, err
			}
			runs, projects[r.ID] = append(runs, r), project
		}
		if page.Before == "" || len(runs) == most {
			a.learn(projects)
			return runs, nil
		}
		q.Before = page.Before
	}
}

// ListRuns returns the newest selected runs of the projects that the caller may read, newest first, without steps; 0 is all.
func (a *API) ListRuns(ctx context.Context, f report.RunFilter, most int) ([]run.Run, error) {
	var runs []run.Run
	projects := make(map[string]string)
	q := client.ListAllRunsQuery{
		Project: f.Project, Environment: f.Environment, Operation: f.Operation, State: string(f.State), Who: f.Who, Since: moment(f.Since), Until: moment(f.Until),
	}
	for {
		q.Limit = mostRuns
		if most > 0 {
			q.Limit = min(q.Limit, most-len(runs))
		}
		page, err := a.client.ListAllRuns(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, shown := range page.Runs {
			r, err := report.RunOf(shown)
			if err != nil {
				return nil, err
			}
			runs, projects[r.ID] = append(runs, r), r.Project
		}
		if page.Before == "" || most > 0 && len(runs) >= most {
			a.learn(projects)
			return runs, nil
		}
		q.Before = page.Before
	}
}

// ListEnvironments returns the environments that the caller may read and that live, sorted.
func (a *API) ListEnvironments(ctx context.Context, s report.Scope) (all []report.LivingEnvironment, err error) {
	q := client.ListAllEnvironmentsQuery{Project: s.Project, Environment: s.Environment}
	for {
		page, err := a.client.ListAllEnvironments(ctx, q)
		all = append(all, page.Environments...)
		if err != nil || page.After == "" {
			return all, err
		}
		q.After = page.After
	}
}

// ListEvents returns selected events of the projects that the caller may read, of the newest run first, and the runs of which there are more; 0 is all.
func (a *API) ListEvents(ctx context.Context, f report.EventFilter, most int) (all []report.EventOfRun, cut []string, err error) {
	q := client.ListAllEventsQuery{
		Project: f.Project, Environment: f.Environment, Stack: f.Stack, Event: string(f.Event), Since: moment(f.Since), Until: moment(f.Until),
	}
	for {
		page, err := a.client.ListAllEvents(ctx, q)
		all, cut = append(all, page.Events...), append(cut, page.Cut...)
		if err != nil || page.Before == "" || most > 0 && len(all) >= most {
			return all, cut, err
		}
		q.Before = page.Before
	}
}

// moment is a time in a query; none is empty.
func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// projectOf returns the project of a run, or an error of kind Missing.
func (a *API) projectOf(ctx context.Context, id string) (string, error) {
	a.mu.Lock()
	known := a.projects[id]
	a.mu.Unlock()
	if known != "" {
		return known, nil
	}
	found, err := a.client.ListProjects(ctx, client.ListProjectsQuery{Run: id})
	if err != nil {
		return "", err
	}
	if len(found.Projects) == 0 {
		return "", fault.New(fault.Missing, "there is no run %s", id)
	}
	a.learn(map[string]string{id: found.Projects[0]})
	return found.Projects[0], nil
}

// A page is a page of a run, with the tag of its answer.
type page struct {
	tag   string
	shown report.Run
}

// Run returns a run without its steps, or an error of kind Missing.
func (a *API) Run(ctx context.Context, id string) (run.Run, error) {
	p, err := a.page(ctx, id, 0)
	if err != nil {
		return run.Run{}, err
	}
	p.shown.Steps = nil
	return report.RunOf(p.shown)
}

// Follow returns a run with its steps, or an error of kind Missing. The first page is read first, and it has the state of
// the run, so that no step is older than that. A page that has not changed is not sent again.
func (a *API) Follow(ctx context.Context, id string) (run.Run, error) {
	first, err := a.page(ctx, id, 0)
	if err != nil {
		return run.Run{}, err
	}
	whole := first.shown
	whole.Steps = append([]report.Step{}, whole.Steps...)
	for next := whole.NextStep; next > 0; {
		p, err := a.page(ctx, id, next)
		if err != nil {
			return run.Run{}, err
		}
		whole.Steps = append(whole.Steps, p.shown.Steps...)
		next = p.shown.NextStep
	}
	return report.RunOf(whole)
}

// page reads the page of a run that begins with a step.
func (a *API) page(ctx context.Context, id string, from int) (page, error) {
	project, err := a.projectOf(ctx, id)
	if err != nil {
		return page{}, err
	}
	name, environment := parts(project)
	key := fmt.Sprint(id, " ", from)
	a.mu.Lock()
	p := a.pages[key]
	a.mu.Unlock()
	tag := p.tag
	shown, err := a.client.ShowRun(ctx, name, environment, id, client.ShowRunQuery{From: from}, client.IfChanged(&tag))
	switch {
	case errors.Is(err, client.ErrUnchanged):
		return p, nil
	case err != nil:
		return p, err
	}
	p = page{tag: tag, shown: shown}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pages[key] = p
	return p, nil
}

// Lock returns the lock of a project: its owner and the queue.
func (a *API) Lock(ctx context.Context, project string) (run.Lock, error) {
	name, environment := parts(project)
	shown, err := a.client.ShowLock(ctx, name, environment)
	found := make(map[string]string)
	for _, w := range append([]run.Writer{shown.Owner}, shown.Waiting...) {
		if w.Run != "" {
			found[w.Run] = project
		}
	}
	a.learn(found)
	return run.Lock{Owner: shown.Owner, Waiting: shown.Waiting}, err
}

// Changes returns what the plan of a run would change, as JSON of plan.Changes.
func (a *API) Changes(ctx context.Context, r run.Run) ([]byte, error) {
	name, environment := parts(r.Project)
	shown, err := a.client.ShowPlan(ctx, name, environment, r.ID)
	if err != nil {
		return nil, err
	}
	return json.Marshal(shown)
}

// Execution returns the status of the newest execution of a run.
func (a *API) Execution(ctx context.Context, r run.Run) (engine.ExecutionStatus, error) {
	name, environment := parts(r.Project)
	shown, err := a.client.ShowExecution(ctx, name, environment, r.ID)
	return engine.ExecutionStatus{Started: shown.Started, Running: shown.Running, Why: shown.Why}, err
}

// Records returns the records of a project by node.
func (a *API) Records(ctx context.Context, project string) (map[string]plan.Record, error) {
	name, environment := parts(project)
	records, q := make(map[string]plan.Record), client.ListStacksQuery{}
	for {
		page, err := a.client.ListStacks(ctx, name, environment, q)
		if err != nil {
			return nil, err
		}
		for _, s := range page.Stacks {
			records[s.Stack] = report.RecordOf(s)
		}
		if page.After == "" {
			return records, nil
		}
		q.After = page.After
	}
}

// Audited returns the changes that were requested for a project, newest first.
func (a *API) Audited(ctx context.Context, id string) ([]report.AuditEntry, error) {
	name, environment := parts(id)
	var all []report.AuditEntry
	q := client.ListAuditQuery{Limit: mostRuns}
	for {
		page, err := a.client.ListAudit(ctx, name, environment, q)
		if all = append(all, page.Entries...); err != nil || page.Before == "" {
			report.NewestFirst(all)
			return all, err
		}
		q.Before = page.Before
	}
}

// AuditedAll returns the changes that were requested for all projects that the caller may read and, to an admin of all of them, those of the
// installation, newest first.
func (a *API) AuditedAll(ctx context.Context) ([]report.AuditEntry, error) {
	var all []report.AuditEntry
	q := client.ListAllAuditQuery{Limit: mostRuns}
	for {
		page, err := a.client.ListAllAudit(ctx, q)
		if all = append(all, page.Entries...); err != nil || page.Before == "" {
			report.NewestFirst(all)
			return all, err
		}
		q.Before = page.Before
	}
}

// History returns the steps that changed a stack, or tried to, newest first. A stack that is neither recorded nor has a history has none.
func (a *API) History(ctx context.Context, id, stack string) ([]report.PastStep, error) {
	name, environment := parts(id)
	var all []report.PastStep
	q := client.ListHistoryQuery{Stack: stack, Limit: 100}
	for {
		page, err := a.client.ListHistory(ctx, name, environment, q)
		if fault.Is(err, fault.Missing) {
			return nil, nil
		}
		if all = append(all, page.Steps...); err != nil || page.After == "" {
			return all, err
		}
		q.After = page.After
	}
}

// Schedules lists the schedules of a project, sorted by name.
func (a *API) Schedules(ctx context.Context, id string) ([]project.Scheduled, error) {
	name, environment := parts(id)
	page, err := a.client.ListSchedules(ctx, name, environment)
	var all []project.Scheduled
	for _, s := range page.Schedules {
		all = append(all, s.Scheduled)
	}
	return all, err
}

// Targets returns the registered targets by name.
func (a *API) Targets(ctx context.Context) (map[string]project.Access, error) {
	all, err := a.client.ListTargets(ctx)
	targets := make(map[string]project.Access)
	for _, t := range all.Targets {
		targets[t.Target] = report.AccessOf(t)
	}
	return targets, err
}

// UnitAccounts lists the accounts of a target of an organizational unit.
func (a *API) UnitAccounts(ctx context.Context, name string) (report.UnitAccountPage, error) {
	return a.client.ListUnitAccounts(ctx, name)
}

// Access returns a registered target, or that of an account of a unit, or an error of kind Missing.
func (a *API) Access(ctx context.Context, name string) (project.Access, error) {
	all, err := a.Targets(ctx)
	if err != nil {
		return project.Access{}, err
	}
	t, registered := all[name]
	if of, account, member := project.UnitOf(name); !registered && member && all[of].Unit != "" {
		return all[of].Member(account), nil
	}
	if !registered {
		return t, fault.New(fault.Missing, "target %s is not registered", name)
	}
	return t, nil
}
