// Package api answers requests over HTTP: it starts runs, shows them and gives them
// commands.
package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Engine starts runs and gives them commands.
type Engine interface {
	// Start makes a run of a request, once for each ID.
	Start(ctx context.Context, q run.Request) error

	// Command carries out, once for each ID, the command that q gives to a run.
	Command(ctx context.Context, q run.Request) error
}

// Reader reads runs.
type Reader interface {
	report.Runs

	// Follow returns a run with its steps, or an error of kind Missing. A process that
	// follows a run again reads only what has changed.
	Follow(ctx context.Context, id string) (run.Run, error)

	// List returns the newest runs of a project, newest first, without steps.
	List(ctx context.Context, project string, most int) ([]run.Run, error)

	// Audit returns the commands and answers that a run was given, in the order of time.
	Audit(ctx context.Context, id string) ([]run.AuditEntry, error)

	// AuditOfInstallation returns the changes of the installation since a time and before another one, newest first. The zero time is no limit.
	AuditOfInstallation(ctx context.Context, since, before time.Time) ([]run.AuditEntry, error)

	// Before lists the newest runs that are older than r, of the same project.
	Before(ctx context.Context, r run.Run, most int) ([]run.Run, error)
}

// An API answers requests. All its fields are needed.
type API struct {
	Engine Engine
	Reader Reader
	Plans  report.Plans

	Installation report.Installation // without a caller
	Records      Records
	Schedules    Schedules
	Executions   Executions
	Uploads      Uploads
	Inside       Inside

	Configurations Configurations
	Targets        Targets
	Purger         Purger

	Rate int // how many requests a second the gateway lets through, for all callers together; 0 is no limit

	// ParseRequest reads the request for a run, and ParseCommand the options of a
	// command. The Problems of the result list its errors.
	ParseRequest func(project string, text []byte) run.Request
	ParseCommand func(c run.Control, project, id string, text []byte) run.Request

	// Allows decides whether a principal may do what needs a role with a project. The error says
	// why nothing can be decided.
	Allows func(ctx context.Context, by access.Principal, needed access.Role, project string) (bool, error)

	// Among returns those of some projects with which a principal may do what needs a role.
	Among func(ctx context.Context, by access.Principal, needed access.Role, projects []string) ([]string, error)

	// Grants says which role a principal has for a project and, if it is admin, who has which.
	Grants func(ctx context.Context, by access.Principal, project string) (report.Access, error)
}

// Answer answers a request. The error is the one that the answer reports, nil if it
// reports none.
func (a API) Answer(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	said, err := a.answer(ctx, e)
	var r events.APIGatewayV2HTTPResponse
	if err == nil {
		r, err = said.response(e)
	}
	if err != nil {
		r = failed(err, e.RequestContext.RequestID)
	}
	if a.Rate > 0 {
		r.Headers["ratelimit-policy"] = `"all-callers";q=` + strconv.Itoa(a.Rate) + `;w=1` // https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
	}
	return r, err
}

// answer finds the route, the project and the caller of a request, and returns what the route
// answers.
func (a API) answer(ctx context.Context, e events.APIGatewayV2HTTPRequest) (answer, error) {
	to, ok := routes()[e.RouteKey]
	if !ok {
		return answer{}, noRoute(e)
	}
	who, err := caller(e)
	if err != nil {
		return answer{}, err
	}
	project, err := to.subject(e)
	if err != nil {
		return answer{}, err
	}
	switch allowed, err := a.Allows(ctx, principal(e), to.role, project); {
	case err != nil:
		return answer{}, err
	case !allowed:
		return answer{}, refusal{status: http.StatusForbidden, error: fault.New(fault.Denied, "not allowed")}
	}
	q := question{APIGatewayV2HTTPRequest: e, by: principal(e), who: who, project: project, route: to}
	if err := q.understood(); err != nil {
		return answer{}, err
	}
	if err := a.known(ctx, q); err != nil {
		return answer{}, err
	}
	said, err := to.handle(a, ctx, q)
	said.status = cmp.Or(to.status, http.StatusOK)
	said.fields = q.QueryStringParameters[fieldsName]
	said.only, _ = q.selection() // it has been found valid
	return said, err
}
