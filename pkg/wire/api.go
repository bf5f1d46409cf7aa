package wire

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/aws/sts"
	"github.com/stackwright/stackwright/pkg/entry/api"
	reports "github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/target"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/unit"
)

// API answers a request over HTTP. Its error is always nil: the answer says what
// went wrong. Faults in the request itself are not logged, because the request
// may hold a secret.
func (h *App) API(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	if r, ok := h.page.answer(ctx, e, h.log); ok {
		return r, nil
	}
	r, err := h.server().Answer(ctx, e)
	if r.StatusCode < http.StatusInternalServerError && r.StatusCode != http.StatusTooManyRequests {
		err = nil
	}
	h.logResult(ctx, err, "api", slog.String("request", e.RequestContext.RequestID), slog.String("route", e.RouteKey),
		slog.Int("status", r.StatusCode), slog.String("location", r.Headers["location"]))
	return r, nil
}

// server is what answers requests.
func (h *App) server() api.API {
	return api.API{
		Engine: &h.engine, Reader: h.table, Plans: h.bucket, Records: h.table, Schedules: h.schedules, Executions: h.engine.Machine, Uploads: h.uploads, Inside: h.inside,
		Configurations: configurations{&loader{bucket: h.bucket, registry: h.table, units: &unit.Follower{Organization: h.recent(), Registered: h.table.Targets}, home: h.home, store: packages.Store{Bucket: h.own.Bucket, Region: h.home.Region}}},
		Installation:   reports.Installation{Name: h.own.Stack, Bucket: h.own.Bucket, Home: reports.TargetOf(h.access), Place: h.place},
		Targets: target.Registry{
			Store: h.table, Organization: h.organization(), Shown: h.recent(), Home: h.access, NewExternalID: sts.NewExternalID,
			Reach: project.Reach{Home: h.home, Stack: h.own.Stack, Accounts: h.accounts, Units: h.organizationRole != ""},
		},
		Purger:       h.purge,
		Rate:         h.rate,
		ParseCommand: trigger.ParseCommand, Allows: h.allows, Among: h.among, Grants: h.grants,
		ParseRequest: func(project string, text []byte) run.Request {
			return trigger.ParseRequest(h.engine.Operations, project, text)
		},
	}
}
