package api

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Records reads what is recorded of projects.
type Records interface {
	// Projects lists the projects that have had a run, as "shop@prod", sorted.
	Projects(ctx context.Context) ([]string, error)

	// Exists reports whether a project has had a run.
	Exists(ctx context.Context, project string) (bool, error)

	// Records returns the records of a project by node.
	Records(ctx context.Context, project string) (map[string]plan.Record, error)

	// RecordsOf returns the records of some nodes.
	RecordsOf(ctx context.Context, project string, nodes []string) (map[string]plan.Record, error)

	// Lifetime returns the lifetime of an environment; the zero Lifetime if it lives for ever.
	Lifetime(ctx context.Context, project string) (project.Lifetime, error)

	// Stacks returns how many records a project has.
	Stacks(ctx context.Context, project string) (int, error)

	// History returns a page of the steps that changed a stack, or tried to, newest first, and the place of the next page.
	History(ctx context.Context, project, stack, before string, most int) (page []run.StepOf, next string, err error)

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
	all, err := a.candidates(ctx, q)
	if err != nil {
		return answer{}, err
	}
	readable, err := a.Among(ctx, q.by, access.Reader, all)
	return answer{body: report.ProjectPage{Projects: append([]string{}, readable...)}}, err
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
	return answer{body: report.LockOf(q.project, l)}, err
}

// stacks lists the recorded stacks of a project, sorted by name.
func (a API) stacks(ctx context.Context, q question) (answer, error) {
	records, err := a.Records.Records(ctx, q.project)
	if err != nil {
		return answer{}, err
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(records)) {
		if name > q.QueryStringParameters["after"] {
			names = append(names, name)
		}
	}
	fits, err := fill(len(names), func(i int) report.Stack { return report.StackOf(records[names[i]]) })
	page := report.StackPage{Stacks: append([]report.Stack{}, fits...)}
	if 0 < len(fits) && len(fits) < len(names) {
		page.After = names[len(fits)-1]
	}
	return answer{body: page}, err
}

// schedules lists the schedules of a project.
func (a API) schedules(ctx context.Context, q question) (answer, error) {
	all, err := a.Schedules.List(ctx, q.project)
	page := report.SchedulePage{Schedules: []report.Schedule{}}
	for _, s := range all {
		page.Schedules = append(page.Schedules, report.ScheduleOf(s, time.Now()))
	}
	return answer{body: page}, err
}

// execution shows the newest execution of a run.
func (a API) execution(ctx context.Context, q question) (answer, error) {
	r, err := a.find(ctx, q.project, q.PathParameters["run"])
	if err != nil {
		return answer{}, err
	}
	if r.Epoch == 0 {
		return answer{body: report.Execution{}}, nil
	}
	name := engine.ExecutionName(r.ID, r.Epoch)
	s, err := a.Executions.ExecutionStatus(ctx, name)
	return answer{body: report.Execution{Execution: name, Started: s.Started, Running: s.Running, Why: s.Why}}, err
}

// mostPage is how many bytes of JSON one page of a list has, unless its first entry alone is larger.
const mostPage = 3 << 20

// cut returns those of n entries that fit into the page which begins with an entry, and the number of the entry with which the next
// page begins: 0 if there is none.
func cut[T any](from, n int, entry func(int) T) (page []T, next int, err error) {
	from = min(from, n)
	page, err = fill(n-from, func(i int) T { return entry(from + i) })
	if end := from + len(page); end < n {
		next = end
	}
	return page, next, err
}

// fill returns as many of n entries as fit into a page.
func fill[T any](n int, entry func(int) T) ([]T, error) {
	var page []T
	size := 0
	for i := range n {
		e := entry(i)
		text, err := written(e)
		if err != nil {
			return nil, err
		}
		if size += len(text); size > mostPage && i > 0 {
			break
		}
		page = append(page, e)
	}
	return page, nil
}
