package api

import (
	"context"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// audit lists the changes that were requested for a project.
func (a API) audit(ctx context.Context, q question) (answer, error) {
	most := q.number("limit")
	runs, err := a.page(ctx, q.project, most, q.QueryStringParameters["before"])
	if err != nil {
		return answer{}, err
	}
	page := report.AuditPage{}
	if len(runs) == most {
		page.Before = runs[most-1].ID
	}
	page.Entries, err = report.AuditOf(ctx, runs, a.Reader.Audit)
	return answer{body: page}, err
}

// allAudit lists the changes that were requested for the projects that the caller may read and, to an admin of all projects, those of the
// installation.
func (a API) allAudit(ctx context.Context, q question) (answer, error) {
	before, err := q.beforeOf()
	if err != nil {
		return answer{}, err
	}
	may, err := a.readable(ctx, q)
	if err != nil {
		return answer{}, err
	}
	most := q.number("limit")
	runs, err := a.newest(ctx, may, before, most)
	if err != nil {
		return answer{}, err
	}
	page, since := report.AuditPage{}, time.Time{}
	if len(runs) == most {
		since = runs[most-1].Requested
		page.Before = q.behind(runs[most-1])
	}
	admin, err := a.Among(ctx, q.by, access.Admin, []string{access.Everywhere})
	var changes []run.AuditEntry
	if err == nil && len(admin) > 0 {
		changes, err = a.Reader.AuditOfInstallation(ctx, since, before.Requested)
	}
	if err != nil {
		return answer{}, err
	}
	page.Entries, err = report.AuditOf(ctx, runs, a.Reader.Audit, changes...)
	return answer{body: page}, err
}

// newest lists the newest runs of some projects, newest first, that are older than a run; without a time, it is later than all.
func (a API) newest(ctx context.Context, projects []string, before run.Run, most int) ([]run.Run, error) {
	var all []run.Run
	for r, err := range report.NewestRuns(ctx, a.Reader, projects, before, some(most, len(projects))) {
		if err != nil {
			return nil, err
		}
		if all = append(all, r); len(all) == most {
			break
		}
	}
	return all, nil
}

// beforeOf is the run that the cursor of a request is behind, without an ID if it has no cursor.
func (q question) beforeOf() (run.Run, error) {
	text := q.QueryStringParameters["before"]
	if text == "" {
		return run.Run{}, nil
	}
	of, place, _ := strings.Cut(decoded(text), "\n")
	requested, id, _ := strings.Cut(place, " ")
	at, err := time.Parse(time.RFC3339Nano, requested)
	if err != nil || of != q.route.id || !runID.MatchString(id) {
		return run.Run{}, fault.New(fault.Invalid, "before: %.80q is not from an answer of this list: begin without it", text)
	}
	return run.Run{Request: run.Request{ID: id}, Requested: at}, nil
}
