package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// get reads the answer to a GET.
func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	_, err := c.ask(ctx, request{method: http.MethodGet, path: path, query: query}, into)
	return err
}

// Projects lists the projects that the caller may read, sorted.
func (c *Client) Projects(ctx context.Context) ([]string, error) {
	var all struct{ Projects []string }
	err := c.get(ctx, "/projects", nil, &all)
	return all.Projects, err
}

// mostRuns is how many runs the API lists in one answer.
const mostRuns = 100

// List returns the newest runs of a project, newest first, without steps; 0 is all.
func (c *Client) List(ctx context.Context, project string, most int) ([]run.Run, error) {
	var runs []run.Run
	projects, query := make(map[string]string), url.Values{}
	for {
		want := mostRuns
		if most > 0 {
			want = min(want, most-len(runs))
		}
		query.Set("limit", strconv.Itoa(want))
		var page struct {
			Runs   []report.Run
			Before string
		}
		if err := c.get(ctx, pathOf(project)+"/runs", query, &page); err != nil {
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
			c.learn(projects)
			return runs, nil
		}
		query.Set("before", page.Before)
	}
}

// projectOf returns the project of a run, or an error of kind Missing.
func (c *Client) projectOf(ctx context.Context, id string) (string, error) {
	c.mu.Lock()
	known := c.projects[id]
	c.mu.Unlock()
	if known != "" {
		return known, nil
	}
	var found struct{ Projects []string }
	if err := c.get(ctx, "/projects", url.Values{"run": {id}}, &found); err != nil {
		return "", err
	}
	if len(found.Projects) == 0 {
		return "", fault.New(fault.Missing, "there is no run %s", id)
	}
	c.learn(map[string]string{id: found.Projects[0]})
	return found.Projects[0], nil
}

// pathOfRun is the path of a run.
func (c *Client) pathOfRun(ctx context.Context, id string) (string, error) {
	project, err := c.projectOf(ctx, id)
	return pathOf(project) + "/runs/" + url.PathEscape(id), err
}

// A page is a page of a run, with the tag of its answer.
type page struct {
	tag   string
	shown report.Run
}

// Run returns a run without its steps, or an error of kind Missing.
func (c *Client) Run(ctx context.Context, id string) (run.Run, error) {
	p, err := c.page(ctx, id, 0)
	if err != nil {
		return run.Run{}, err
	}
	p.shown.Steps = nil
	return report.RunOf(p.shown)
}

// Follow returns a run with its steps, or an error of kind Missing. The first page is read first, and it has the state of
// the run, so that no step is older than that. A page that has not changed is not sent again.
func (c *Client) Follow(ctx context.Context, id string) (run.Run, error) {
	first, err := c.page(ctx, id, 0)
	if err != nil {
		return run.Run{}, err
	}
	whole := first.shown
	whole.Steps = append([]report.Step{}, whole.Steps...)
	for next := whole.NextStep; next > 0; {
		p, err := c.page(ctx, id, next)
		if err != nil {
			return run.Run{}, err
		}
		whole.Steps = append(whole.Steps, p.shown.Steps...)
		next = p.shown.NextStep
	}
	return report.RunOf(whole)
}

// page reads the page of a run that begins with a step.
func (c *Client) page(ctx context.Context, id string, from int) (page, error) {
	path, err := c.pathOfRun(ctx, id)
	if err != nil {
		return page{}, err
	}
	q := request{method: http.MethodGet, path: path}
	if from > 0 {
		q.query = url.Values{"from": {strconv.Itoa(from)}}
	}
	name := fmt.Sprint(id, " ", from)
	c.mu.Lock()
	p := c.pages[name]
	c.mu.Unlock()
	q.tag = p.tag
	var shown report.Run
	got, err := c.ask(ctx, q, &shown)
	if err != nil || got.same {
		return p, err
	}
	p = page{tag: got.tag, shown: shown}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages[name] = p
	return p, nil
}

// Lock returns the lock of a project: its owner and the queue.
func (c *Client) Lock(ctx context.Context, project string) (run.Lock, error) {
	var shown report.Lock
	err := c.get(ctx, pathOf(project)+"/lock", nil, &shown)
	found := make(map[string]string)
	for _, w := range append([]run.Writer{shown.Owner}, shown.Waiting...) {
		if w.Run != "" {
			found[w.Run] = project
		}
	}
	c.learn(found)
	return run.Lock{Owner: shown.Owner, Waiting: shown.Waiting}, err
}

// Changes returns what the plan of a run would change, as JSON of plan.Changes.
func (c *Client) Changes(ctx context.Context, r run.Run) ([]byte, error) {
	var text json.RawMessage
	err := c.get(ctx, pathOf(r.Project)+"/runs/"+url.PathEscape(r.ID)+"/plan", nil, &text)
	return text, err
}

// Execution returns the status of the newest execution of a run.
func (c *Client) Execution(ctx context.Context, r run.Run) (engine.ExecutionStatus, error) {
	var shown report.Execution
	err := c.get(ctx, pathOf(r.Project)+"/runs/"+url.PathEscape(r.ID)+"/execution", nil, &shown)
	return engine.ExecutionStatus{Started: shown.Started, Running: shown.Running, Why: shown.Why}, err
}

// Records returns the records of a project by node.
func (c *Client) Records(ctx context.Context, project string) (map[string]plan.Record, error) {
	records, query := make(map[string]plan.Record), url.Values{}
	for {
		var page struct {
			Stacks []report.Stack
			After  string
		}
		if err := c.get(ctx, pathOf(project)+"/stacks", query, &page); err != nil {
			return nil, err
		}
		for _, s := range page.Stacks {
			records[s.Stack] = report.RecordOf(s)
		}
		if page.After == "" {
			return records, nil
		}
		query.Set("after", page.After)
	}
}

// Schedules lists the schedules of a project, sorted by name.
func (c *Client) Schedules(ctx context.Context, id string) ([]project.Scheduled, error) {
	var all struct{ Schedules []project.Scheduled }
	err := c.get(ctx, pathOf(id)+"/schedules", nil, &all)
	return all.Schedules, err
}

// Targets returns the registered targets by name.
func (c *Client) Targets(ctx context.Context) (map[string]project.Access, error) {
	var all struct{ Targets []report.Target }
	err := c.get(ctx, "/targets", nil, &all)
	targets := make(map[string]project.Access)
	for _, t := range all.Targets {
		targets[t.Target] = report.AccessOf(t)
	}
	return targets, err
}

// Access returns a registered target, or an error of kind Missing.
func (c *Client) Access(ctx context.Context, name string) (project.Access, error) {
	all, err := c.Targets(ctx)
	if err != nil {
		return project.Access{}, err
	}
	a, registered := all[name]
	if !registered {
		return a, fault.New(fault.Missing, "target %s is not registered", name)
	}
	return a, nil
}
