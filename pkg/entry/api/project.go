package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Records reads what is recorded of projects.
type Records interface {
	// Projects lists the projects that have had a run, as "shop@prod", sorted.
	Projects(ctx context.Context) ([]string, error)

	// Records returns the records of a project by node.
	Records(ctx context.Context, project string) (map[string]plan.Record, error)

	// Targets returns the registered targets by name.
	Targets(ctx context.Context) (map[string]project.Access, error)
}

// Schedules reads the schedules of projects.
type Schedules interface {
	// List returns the schedules of a project, sorted by name.
	List(ctx context.Context, project string) ([]project.Scheduled, error)
}

// Executions reads executions of the state machine.
type Executions interface {
	// ExecutionStatus returns the status of the execution of the given name.
	ExecutionStatus(ctx context.Context, name string) (engine.ExecutionStatus, error)
}

// projects lists the projects that the caller may read: all of them, or the one of a run.
func (a API) projects(ctx context.Context, q question) (answer, error) {
	if err := q.understood("run"); err != nil {
		return answer{}, err
	}
	all, err := a.candidates(ctx, q)
	if err != nil {
		return answer{}, err
	}
	readable, err := a.Among(ctx, q.by, access.Reader, all)
	return answer{status: http.StatusOK, body: map[string][]string{"projects": append([]string{}, readable...)}}, err
}

// candidates lists the projects that a request for projects is about.
func (a API) candidates(ctx context.Context, q question) ([]string, error) {
	id, one := q.QueryStringParameters["run"]
	if !one {
		return a.Records.Projects(ctx)
	}
	if !runID.MatchString(id) {
		return nil, nil
	}
	r, err := a.Reader.Run(ctx, id)
	if fault.Is(err, fault.Missing) {
		return nil, nil
	}
	return []string{r.Project}, err
}

// lock shows which run holds the lock of a project, and which runs are queued.
func (a API) lock(ctx context.Context, q question) (answer, error) {
	l, err := a.Reader.Lock(ctx, q.project)
	return answer{status: http.StatusOK, body: report.LockOf(q.project, l)}, err
}

// stacks lists the recorded stacks of a project, sorted by name.
func (a API) stacks(ctx context.Context, q question) (answer, error) {
	if err := q.understood("after"); err != nil {
		return answer{}, err
	}
	records, err := a.Records.Records(ctx, q.project)
	if err != nil {
		return answer{}, err
	}
	page := struct {
		Stacks []json.RawMessage `json:"stacks"`
		After  string            `json:"after,omitempty"` // the parameter of the request for the next page; empty on the last page
	}{Stacks: []json.RawMessage{}}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(records)) {
		if name > q.QueryStringParameters["after"] {
			names = append(names, name)
		}
	}
	more, err := fill(len(names), func(i int) any { return report.StackOf(records[names[i]]) }, &page.Stacks)
	if more > 0 {
		page.After = names[more-1]
	}
	return answer{status: http.StatusOK, body: page}, err
}

// schedules lists the schedules of a project.
func (a API) schedules(ctx context.Context, q question) (answer, error) {
	all, err := a.Schedules.List(ctx, q.project)
	return answer{status: http.StatusOK, body: map[string][]project.Scheduled{"schedules": append([]project.Scheduled{}, all...)}}, err
}

// execution shows the newest execution of a run.
func (a API) execution(ctx context.Context, q question) (answer, error) {
	r, err := a.find(ctx, q.project, q.PathParameters["run"])
	if err != nil {
		return answer{}, err
	}
	if r.Epoch == 0 {
		return answer{status: http.StatusOK, body: report.Execution{}}, nil
	}
	name := engine.ExecutionName(r.ID, r.Epoch)
	s, err := a.Executions.ExecutionStatus(ctx, name)
	return answer{status: http.StatusOK, body: report.Execution{Execution: name, Started: s.Started, Running: s.Running, Why: s.Why}}, err
}

// mostPage is how many bytes of JSON one page of a list has, unless its first entry alone is larger.
const mostPage = 3 << 20

// fill adds as many of n entries as fit into a page. It returns how many it added if some are left, and otherwise 0.
func fill(n int, entry func(int) any, page *[]json.RawMessage) (more int, err error) {
	size := 0
	for i := range n {
		text, err := written(entry(i))
		if err != nil {
			return 0, err
		}
		if size += len(text); size > mostPage && i > 0 {
			return i, nil
		}
		*page = append(*page, json.RawMessage(strings.TrimSuffix(text, "\n")))
	}
	return 0, nil
}
