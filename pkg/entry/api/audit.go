package api

import (
	"context"

	"github.com/stackwright/stackwright/pkg/entry/report"
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
