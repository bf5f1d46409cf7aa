package api

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// The default and the largest number of listed runs.
const (
	usualRuns = 20
	mostRuns  = 100
)

// projectOf returns the project that a path names, as in "shop@prod".
func projectOf(path map[string]string) (string, error) {
	name, environment := path["project"], path["environment"]
	if !project.Name.MatchString(name) || !project.EnvironmentName.MatchString(environment) {
		return "", fault.New(fault.Invalid, "the path names project %.70q and environment %.70q, which cannot be: names are letters, digits and hyphens, 64 at most", name, environment)
	}
	return project.ID(name, environment), nil
}

// list lists a project's runs.
func (a API) list(ctx context.Context, q question) (answer, error) {
	most := q.number("limit")
	runs, err := a.page(ctx, q.project, most, q.QueryStringParameters["before"])
	if err != nil {
		return answer{}, err
	}
	page := report.RunPage{Runs: []report.Run{}}
	for _, r := range runs {
		page.Runs = append(page.Runs, report.Of(r, time.Now()))
	}
	if len(runs) == most {
		page.Before = runs[most-1].ID
	}
	return answer{body: page}, nil
}

// page returns the runs of one page of a project's list.
func (a API) page(ctx context.Context, id string, most int, before string) ([]run.Run, error) {
	if before == "" {
		return a.Reader.List(ctx, id, most)
	}
	r, err := a.find(ctx, id, before)
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	return a.Reader.Before(ctx, r, most)
}

// show shows a run.
func (a API) show(ctx context.Context, q question) (answer, error) {
	r, err := of(ctx, q.project, q.PathParameters["run"], a.Reader.Follow)
	if err != nil {
		return answer{}, err
	}
	shown, err := a.shown(ctx, r)
	if err != nil {
		return answer{}, err
	}
	return pageOf(shown, q.number("from"))
}

// pageOf is the answer with the page of a run that begins with a step. Its tag does not depend on the forecast, which changes while nothing
// happens.
func pageOf(page report.Run, from int) (answer, error) {
	steps := page.Steps
	var err error
	page.Steps, page.NextStep, err = cut(from, len(steps), func(i int) report.Step { return steps[i] })
	same := page
	same.ExpectedEnd, same.CriticalPath = time.Time{}, nil
	return answer{body: page, same: same}, err
}

// plan shows what the plan of a run would change.
func (a API) plan(ctx context.Context, q question) (answer, error) {
	r, err := a.find(ctx, q.project, q.PathParameters["run"])
	if err != nil {
		return answer{}, err
	}
	if !plan.IsPreview(r.Operation) && r.Changes == "" {
		return answer{}, fault.New(fault.Missing, "run %s is a %s: only runs of the operation plan, and of those that begin with plan-, and runs that have to be approved, show what they would change", r.ID, r.Operation)
	}
	switch {
	case r.Changes == "" && !r.State.Over():
		return answer{}, fault.New(fault.Missing, "run %s is %s: what its plan changes is stored when the run has succeeded", r.ID, r.State)
	case r.Changes == "":
		return answer{}, fault.New(fault.Missing, "run %s is %s, so it has no plan: the messages of the run say why", r.ID, r.State)
	}
	if !plan.IsPreview(r.Operation) {
		if r, err = a.Reader.Follow(ctx, r.ID); err != nil {
			return answer{}, err
		}
	}
	text, err := report.Changes(ctx, a.Plans, r)
	return answer{body: json.RawMessage(text)}, err
}

// shown is a run in JSON, with the lock of its project.
func (a API) shown(ctx context.Context, r run.Run) (report.Run, error) {
	shown := report.Of(r, time.Now())
	line, err := report.QueueEntryOf(ctx, a.Reader, r.Project)
	shown.Lock = line
	return shown, err
}

// find returns a run of a project, without its steps.
func (a API) find(ctx context.Context, project, id string) (run.Run, error) {
	return of(ctx, project, id, a.Reader.Run)
}

// of reads a run of a project. A run of another project is answered as one that does not
// exist, so that nobody learns which runs other projects have.
func of(ctx context.Context, project, id string, read func(context.Context, string) (run.Run, error)) (run.Run, error) {
	if !runID.MatchString(id) {
		return run.Run{}, fault.New(fault.Missing, "there is no run %.40q: its ID has 20 lower-case letters and digits", id)
	}
	r, err := read(ctx, id)
	if fault.Is(err, fault.Missing) || err == nil && r.Project != project {
		return run.Run{}, fault.New(fault.Missing, "there is no run %s of %s", id, project)
	}
	return r, err
}

// runID is the form of the IDs that engine.RunID makes.
var runID = pattern.New(`^[a-z2-7]{20}$`)
