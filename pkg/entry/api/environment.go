package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// mostEnvironments is how many environments a page has at most: each is read with its newest runs.
const mostEnvironments = 50

// environments lists the environments of a project that the caller may read. To others, it is a project that does not exist.
func (a API) environments(ctx context.Context, q question) (answer, error) {
	name := q.PathParameters["project"]
	all, err := a.Records.Projects(ctx)
	if err != nil {
		return answer{}, err
	}
	all = slices.DeleteFunc(all, func(id string) bool { return !strings.HasPrefix(id, name+"@") })
	if all, err = a.Among(ctx, q.by, access.Reader, all); err != nil {
		return answer{}, err
	}
	if len(all) == 0 {
		return answer{}, fault.New(fault.Missing, "there is no project %.70q that you may read: GET /projects lists those", name)
	}
	var found []report.Environment
	for _, id := range all {
		if id <= name+"@"+q.QueryStringParameters["after"] {
			continue
		}
		e, err := a.environmentOf(ctx, id)
		if err != nil {
			return answer{}, err
		}
		if found = append(found, e); len(found) > mostEnvironments {
			break
		}
	}
	fits, err := fill(min(len(found), mostEnvironments), func(i int) report.Environment { return found[i] })
	page := report.EnvironmentPage{Environments: append([]report.Environment{}, fits...)}
	if 0 < len(fits) && len(fits) < len(found) {
		page.After = fits[len(fits)-1].Environment
	}
	return answer{body: page}, err
}

// environment shows an environment of a project.
func (a API) environment(ctx context.Context, q question) (answer, error) {
	e, err := a.environmentOf(ctx, q.project)
	return answer{body: e}, err
}

// environmentOf reads an environment of a project.
func (a API) environmentOf(ctx context.Context, id string) (report.Environment, error) {
	_, environment, _ := strings.Cut(id, "@")
	e := report.Environment{Project: id, Environment: environment}
	stacks, err := a.Records.Stacks(ctx, id)
	if err != nil {
		return e, err
	}
	runs, err := a.Reader.List(ctx, id, mostRuns)
	if err != nil {
		return e, err
	}
	l, err := a.Reader.Lock(ctx, id)
	if err != nil {
		return e, err
	}
	shown := func(r run.Run) *report.Run {
		one := report.Of(r, time.Now())
		return &one
	}
	lifetime, err := a.Records.Lifetime(ctx, id)
	if err != nil {
		return e, err
	}
	e.Stacks, e.LastSuccessful, e.Lifetime = stacks, l.LastSuccessful, report.LifetimeOf(lifetime)
	if len(runs) > 0 {
		e.LastRun = shown(runs[0])
	}
	if failed, ok := report.Unrepaired(runs); ok {
		e.Attention = shown(failed)
	}
	if p, ok := report.Promoting(runs); ok {
		e.Promotion = shown(p)
	}
	e.Lock, err = report.QueueEntryOf(ctx, a.Reader, id)
	return e, err
}

// living reads what the list of environments says of each.
type living struct {
	Records
	reader Reader
}

// List implements report.Lives.
func (l living) List(ctx context.Context, id string, most int) ([]run.Run, error) {
	return l.reader.List(ctx, id, most)
}

// allEnvironments lists the environments that live, of the projects that the caller may read.
func (a API) allEnvironments(ctx context.Context, q question) (answer, error) {
	projects, err := a.readable(ctx, q)
	if err != nil {
		return answer{}, err
	}
	page, read := report.LivingPage{Environments: []report.LivingEnvironment{}}, 0
	last := q.QueryStringParameters["after"]
	for _, id := range slices.Sorted(slices.Values(projects)) {
		if id <= last {
			continue
		}
		if read++; read > mostProjects || len(page.Environments) >= mostEnvironments {
			page.After = last
			break
		}
		e, lives, err := report.Living(ctx, living{a.Records, a.Reader}, id)
		if err != nil {
			return answer{}, err
		}
		if last = id; lives {
			page.Environments = append(page.Environments, e)
		}
	}
	return answer{body: page}, nil
}

// approvals lists what waits for approval in a project.
func (a API) approvals(ctx context.Context, q question) (answer, error) {
	return a.questions(ctx, []string{q.project})
}

// allApprovals lists what waits for approval in all projects that the caller may read.
func (a API) allApprovals(ctx context.Context, q question) (answer, error) {
	all, err := a.Records.Projects(ctx)
	if err != nil {
		return answer{}, err
	}
	readable, err := a.Among(ctx, q.by, access.Reader, all)
	if err != nil {
		return answer{}, err
	}
	return a.questions(ctx, readable)
}

// questions lists what waits for approval in some projects. Only a run that holds the lock of its project waits for approval.
func (a API) questions(ctx context.Context, projects []string) (answer, error) {
	page := report.ApprovalPage{Approvals: []report.Question{}}
	for _, id := range projects {
		l, err := a.Reader.Lock(ctx, id)
		if err != nil {
			return answer{}, err
		}
		if l.Owner.Run == "" {
			continue
		}
		r, err := a.Reader.Follow(ctx, l.Owner.Run)
		switch {
		case fault.Is(err, fault.Missing): // it ended since
		case err != nil:
			return answer{}, err
		default:
			page.Approvals = append(page.Approvals, report.Questions(r)...)
		}
	}
	return answer{body: page}, nil
}
