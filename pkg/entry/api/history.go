package api

import (
	"context"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// historyPlace is the form of a place in a history.
var historyPlace = pattern.New(`^[0-9TZ:.-]{30}#[a-z0-9]{1,20}#[0-9]{5}$`)

// history lists the steps that changed a stack, or tried to. The stack need not be recorded any more.
func (a API) history(ctx context.Context, q question) (answer, error) {
	name := q.QueryStringParameters["stack"]
	list := strings.Join([]string{q.route.id, q.project, name}, " ")
	before, err := q.cursorOf(list)
	if err == nil && before != "" && !historyPlace.MatchString(before) {
		err = q.notOf()
	}
	if err != nil {
		return answer{}, err
	}
	steps, next, err := a.Records.History(ctx, q.project, name, before, q.number("limit"))
	if err == nil && before == "" && len(steps) == 0 {
		err = a.recorded(ctx, q.project, name)
	}
	return answer{body: report.HistoryPage{Steps: report.HistoryOf(steps), After: cursorTo(list, next)}}, err
}

// recorded returns an error of kind Missing if a stack is not recorded.
func (a API) recorded(ctx context.Context, project, name string) error {
	records, err := a.Records.RecordsOf(ctx, project, []string{name})
	if _, recorded := records[name]; err == nil && !recorded {
		err = noRecord(project, name)
	}
	return err
}

// noRecord is the error about a stack that is not recorded.
func noRecord(project, name string) error {
	return fault.New(fault.Missing, "no stack %.200q of %s is recorded: GET …/stacks lists those that are", name, project)
}
