package api

import (
	"context"

	"github.com/stackwright/stackwright/pkg/entry/report"
)

// snapshots lists the snapshots of a project.
func (a API) snapshots(ctx context.Context, q question) (answer, error) {
	l, err := a.Reader.Lock(ctx, q.project)
	if err != nil {
		return answer{}, err
	}
	return answer{body: report.SnapshotPage{Snapshots: report.SnapshotsOf(l.History)}}, nil
}
