package api

import (
	"context"

	"github.com/stackwright/stackwright/pkg/entry/report"
)

// why says what is known of why a stack is changed or not: what is recorded, the newest plan, and the last changes. It asks neither
// CloudFormation nor the files of the project. The stack need not be recorded any more.
func (a API) why(ctx context.Context, q question) (answer, error) {
	name := q.QueryStringParameters["stack"]
	records, err := a.Records.Records(ctx, q.project)
	if err != nil {
		return answer{}, err
	}
	steps, _, err := a.Records.History(ctx, q.project, name, "", report.MostChanges)
	if err != nil {
		return answer{}, err
	}
	if _, recorded := records[name]; !recorded && len(steps) == 0 {
		return answer{}, noRecord(q.project, name)
	}
	w := report.WhyOf(q.project, name, records, report.HistoryOf(steps))
	runs, err := a.Reader.List(ctx, q.project, mostRuns)
	if err != nil {
		return answer{}, err
	}
	w.Planned, err = report.PlannedOf(ctx, a.Plans, runs, name)
	return answer{body: w}, err
}
