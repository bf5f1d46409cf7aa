package wire

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
	"github.com/stackwright/stackwright/pkg/run"
)

// API answers a request over HTTP. Its error is always nil: the answer says what
// went wrong. Faults in the request itself are not logged, because the request
// may hold a secret.
func (h *App) API(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	server := api.API{Engine: &h.engine, Reader: h.table, Plans: h.bucket, ParseCommand: trigger.ParseCommand, Allows: h.allows}
	server.ParseRequest = func(project string, text []byte) run.Request {
		return trigger.ParseRequest(h.engine.Operations, project, text)
	}
	r, err := server.Answer(ctx, e)
	if r.StatusCode < http.StatusInternalServerError && r.StatusCode != http.StatusTooManyRequests {
		err = nil
	}
	h.logResult(ctx, err, "api", slog.String("request", e.RequestContext.RequestID), slog.String("route", e.RouteKey),
		slog.Int("status", r.StatusCode), slog.String("location", r.Headers["location"]))
	return r, nil
}
