package api

import (
	"context"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/strict"
	"github.com/stackwright/stackwright/pkg/purge"
	"github.com/stackwright/stackwright/pkg/run"
)

// Purger deletes what is old.
type Purger interface {
	// Begin writes into the audit log that somebody purges the installation.
	Begin(ctx context.Context, k run.Retention, who, from string) error

	// Some deletes what is old from a place on, until it has worked for a time, and returns the place at which the next call goes on. With only, it deletes
	// nothing.
	Some(ctx context.Context, k run.Retention, only bool, after string, long time.Duration) (f purge.Freed, next string, err error)
}

// purging is how long one request deletes. The function api has 29 seconds.
const purging = 10 * time.Second

// purge deletes old runs, and objects that nothing names any more.
func (a API) purge(ctx context.Context, q question) (answer, error) {
	said := report.PurgeRequest{}
	keep := new(report.UsualKeep)
	if err := q.read(strict.Fields{"older_than": &said.OlderThan, "keep": &keep, "plan": &said.Plan, "after": &said.After}); err != nil {
		return answer{}, err
	}
	said.Keep = *keep
	k, err := said.Retention()
	if err != nil {
		return answer{}, err
	}
	place := ""
	if said.After != "" {
		of, at, _ := strings.Cut(decoded(said.After), "\n")
		if of != q.route.id || at == "" {
			return answer{}, fault.New(fault.Invalid, "after: %.80q is not from an answer of a purge: begin without it", said.After)
		}
		place = at
	}
	if place == "" && !said.Plan {
		if err := a.Purger.Begin(ctx, k, q.who, q.from()); err != nil {
			return answer{}, err
		}
	}
	freed, next, err := a.Purger.Some(ctx, k, said.Plan, place, purging)
	return answer{body: report.Purged{Plan: said.Plan, Freed: freed, After: cursorTo(q.route.id, next)}}, err
}
