package httpapi

import (
	"context"

	"github.com/stackwright/stackwright/pkg/client"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// Revisions lists the revisions of a project, newest first, each configuration once.
func (a *API) Revisions(ctx context.Context, id string) ([]report.Revision, error) {
	name, environment := parts(id)
	var all []report.Revision
	listed := make(map[run.Source]bool)
	q := client.ListRevisionsQuery{Limit: mostRuns}
	for {
		page, err := a.client.ListRevisions(ctx, name, environment, q)
		for _, v := range page.Revisions {
			if !listed[v.Source] {
				listed[v.Source] = true
				all = append(all, v)
			}
		}
		if err != nil || page.Before == "" {
			return all, err
		}
		q.Before = page.Before
	}
}

// Revision returns the revision that a word names.
func (a *API) Revision(ctx context.Context, id, word string) (report.Revision, error) {
	name, environment := parts(id)
	return a.client.ShowRevision(ctx, name, environment, word)
}

// Snapshots lists the snapshots of a project, newest first.
func (a *API) Snapshots(ctx context.Context, id string) ([]report.Snapshot, error) {
	name, environment := parts(id)
	page, err := a.client.ListSnapshots(ctx, name, environment)
	return page.Snapshots, err
}

// Difference returns what differs between the revisions that two words name.
func (a *API) Difference(ctx context.Context, id, from, to string) (report.Difference, error) {
	name, environment := parts(id)
	var whole report.Difference
	q := client.ShowDifferenceQuery{}
	for {
		page, err := a.client.ShowDifference(ctx, name, environment, from, to, q)
		if err != nil {
			return whole, err
		}
		page.Files, page.Stacks, page.Templates = append(whole.Files, page.Files...), append(whole.Stacks, page.Stacks...), append(whole.Templates, page.Templates...)
		if whole = page; whole.Next == 0 {
			return whole, nil
		}
		q.From = whole.Next
	}
}
