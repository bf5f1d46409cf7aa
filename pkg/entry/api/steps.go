package api

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// mostSteps is the largest number of listed steps.
const mostSteps = 1000

// metrics shows what a run took.
func (a API) metrics(ctx context.Context, q question) (answer, error) {
	r, err := of(ctx, q.project, q.PathParameters["run"], a.Reader.Follow)
	return answer{body: report.MetricsOf(r)}, err
}

// steps lists the steps of a run.
func (a API) steps(ctx context.Context, q question) (answer, error) {
	r, err := of(ctx, q.project, q.PathParameters["run"], a.Reader.Follow)
	if err != nil {
		return answer{}, err
	}
	status, stack := run.Status(q.QueryStringParameters["status"]), q.QueryStringParameters["stack"]
	all := report.Of(r, time.Now()).Steps
	var numbers []int
	for n := min(q.number("from"), len(all)); n < len(all); n++ {
		if (status == "" || all[n].Status == status) && (stack == "" || all[n].Stack == stack) {
			numbers = append(numbers, n)
		}
	}
	fits, err := fill(min(len(numbers), q.number("limit")), func(i int) report.Step { return all[numbers[i]] })
	page := report.StepPage{Steps: append([]report.Step{}, fits...)}
	if len(fits) < len(numbers) {
		page.Next = numbers[len(fits)]
	}
	return answer{body: page}, err
}
