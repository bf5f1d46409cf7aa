package wire

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/trigger"
)

// API answers a request over HTTP. It never fails: what goes wrong is in the
// answer. What a request says wrongly is not logged, for who knows what that is.
func (h *App) API(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	a := api.API{Engine: &h.engine, Reader: h.table, ParseRequest: trigger.ParseRequest, ParseCommand: trigger.ParseCommand}
	r, err := a.Answer(ctx, e)
	if r.StatusCode < http.StatusInternalServerError && r.StatusCode != http.StatusTooManyRequests {
		err = nil
	}
	h.note(ctx, err, "api", slog.String("request", e.RequestContext.RequestID), slog.String("route", e.RouteKey),
		slog.Int("status", r.StatusCode), slog.String("location", r.Headers["location"]))
	return r, nil
}
