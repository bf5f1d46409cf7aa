package api

import (
	"context"
	"slices"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/revision"
	"github.com/stackwright/stackwright/pkg/run"
)

// revisions lists the configurations that runs of a project have deployed. The last page has also those of the history whose runs
// are not recorded any more.
func (a API) revisions(ctx context.Context, q question) (answer, error) {
	most := q.number("limit")
	runs, err := a.page(ctx, q.project, most, q.QueryStringParameters["before"])
	if err != nil {
		return answer{}, err
	}
	l, err := a.Reader.Lock(ctx, q.project)
	if err != nil {
		return answer{}, err
	}
	var before string
	var older run.History
	if len(runs) == most {
		before = runs[most-1].ID
	} else if older.Successful, err = a.unrecorded(ctx, l.Kept(), runs); err != nil {
		return answer{}, err
	}
	return answer{body: report.RevisionPage{Revisions: report.RevisionsOf(older.Revisions(plan.AllOperations(), runs), l.LastSuccessful), Before: before}}, nil
}

// unrecorded lists the revisions whose runs are not recorded any more. Some runs are known to be recorded.
func (a API) unrecorded(ctx context.Context, all []run.Revision, known []run.Run) ([]run.Revision, error) {
	var found []run.Revision
	for _, v := range all {
		if slices.ContainsFunc(known, func(r run.Run) bool { return r.ID == v.Run }) {
			continue
		}
		switch _, err := a.Reader.Run(ctx, v.Run); {
		case fault.Is(err, fault.Missing):
			found = append(found, v)
		case err != nil:
			return nil, err
		}
	}
	return found, nil
}

// revision shows the revision that a word names.
func (a API) revision(ctx context.Context, q question) (answer, error) {
	v, err := revision.Find(ctx, a.Reader, q.project, q.PathParameters["revision"])
	if err != nil {
		return answer{}, err
	}
	l, err := a.Reader.Lock(ctx, q.project)
	return answer{body: report.RevisionOf(v, l.LastSuccessful)}, err
}
