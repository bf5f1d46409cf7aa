// Package api answers requests over HTTP: it starts runs, shows them and steers
// them.
package api

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// Engine starts and steers runs.
type Engine interface {
	// Start makes a run of what is asked, once for each ID.
	Start(ctx context.Context, q run.Request) error

	// Steer carries out, once for each ID, what is asked of a run.
	Steer(ctx context.Context, q run.Request) error
}

// Book is where runs are read.
type Reader interface {
	report.Runs

	// Load returns a run with its steps, or an error of kind Missing.
	Load(ctx context.Context, id string) (run.Run, error)

	// List returns the newest runs of a project, newest first, without steps.
	List(ctx context.Context, project string, most int) ([]run.Run, error)

	// Before lists the newest runs that are older than r, of the same project.
	Before(ctx context.Context, r run.Run, most int) ([]run.Run, error)
}

// An API answers requests. All its fields are needed.
type API struct {
	Engine Engine
	Reader Reader

	// Asked reads what is asked for of a project, and Wished what is wished of a
	// run. What is wrong with a text is in the Problems of what they return.
	ParseRequest func(project string, text []byte) run.Request
	ParseCommand func(project, run string, text []byte) run.Request
}

// routes are what is answered, by API Gateway's keys of routes.
func routes() map[string]func(API, context.Context, question) (answer, error) {
	return map[string]func(API, context.Context, question) (answer, error){
		"POST /projects/{project}/{environment}/runs": API.start,
		"GET /projects/{project}/{environment}/runs":  API.list,
		"GET /runs/{run}":         API.show,
		"POST /runs/{run}/wishes": API.command,
	}
}

// Routes lists the keys of the routes that are answered, sorted.
func Routes() []string { return slices.Sorted(maps.Keys(routes())) }

// Answer answers a request. The error is the one that the answer tells of, nil
// if it tells of none.
func (a API) Answer(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	said, err := a.answer(ctx, e)
	if err == nil {
		var r events.APIGatewayV2HTTPResponse
		if r, err = said.response(); err == nil {
			return r, nil
		}
	}
	return failed(err, e.RequestContext.RequestID), err
}

// answer finds out who asks for what, and what is to be said to that.
func (a API) answer(ctx context.Context, e events.APIGatewayV2HTTPRequest) (answer, error) {
	route, ok := routes()[e.RouteKey]
	if !ok {
		return answer{}, noRoute(e)
	}
	who, err := caller(e)
	if err != nil {
		return answer{}, err
	}
	return route(a, ctx, question{APIGatewayV2HTTPRequest: e, who: who})
}
