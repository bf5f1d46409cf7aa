// Package api emulates an HTTP API of API Gateway on this machine. Functions answer its routes.
package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/infra/local/gateway"
	"github.com/stackwright/stackwright/infra/local/sts"
)

// A Route sends the requests of a key ("GET /runs/{run}", "ANY /x/{rest+}", "$default") to a function, given by its
// name or ARN. An open route has no authorizer.
type Route struct {
	Key, Function string
	Open          bool
}

// Options configure the API. Account and Region are its own; Log gets the errors that API Gateway would not return to
// the caller, and nil drops them.
type Options struct {
	Account, Region string
	Routes          []Route
	Tokens          *Tokens // nil is the authorizer IAM
	Invoke          func(ctx context.Context, function string, payload []byte) ([]byte, error)
	Log             io.Writer
}

// API is an http.Handler. Requests must be signed with credentials of the account, as with the authorizer IAM, whose
// signature is not checked; or have a token, whose signature is. Use New.
type API struct {
	opts   Options
	routes []route
}

// New makes the API. The error names a route key that API Gateway would refuse.
func New(opts Options) (*API, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	a := &API{opts: opts}
	for _, r := range opts.Routes {
		parsed, err := parse(r)
		if err != nil {
			return nil, err
		}
		a.routes = append(a.routes, parsed)
	}
	return a, nil
}

// The limits of API Gateway:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
const (
	maxBody = 10 << 20
	maxWait = 30 * time.Second
)

// ServeHTTP invokes the function of the route, or returns the error that API Gateway would return.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := rand.Text()
	w.Header().Set("Apigw-Requestid", id)
	chosen, parameters, ok := a.match(r.Method, r.URL.Path)
	if !ok {
		answerMessage(w, http.StatusNotFound, "Not Found")
		return
	}
	by, status := authorizer{}, 0
	if !chosen.Open {
		by, status = a.authorize(r)
	}
	if status != 0 {
		answerMessage(w, status, http.StatusText(status))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		answerMessage(w, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
		return
	}
	if err != nil {
		answerMessage(w, http.StatusBadRequest, "Bad Request")
		return
	}
	payload, err := json.Marshal(a.event(r, received{id: id, at: time.Now(), route: chosen, parameters: parameters, by: by, body: body}))
	if err == nil {
		payload, err = a.invoke(r.Context(), chosen.Function, payload)
	}
	if err == nil {
		err = reply(w, payload)
	}
	switch {
	case errors.Is(err, errLate):
		answerMessage(w, http.StatusServiceUnavailable, "Service Unavailable")
	case err != nil:
		_, _ = fmt.Fprintf(a.opts.Log, "%s: request %s: %v\n", chosen.Key, id, err) // an error of the log cannot be logged
		answerMessage(w, http.StatusInternalServerError, "Internal Server Error")
	}
}

// errLate is the error of a function that exceeds API Gateway's timeout.
var errLate = errors.New("the function takes too long")

// invoke calls a function. The function continues if the API no longer waits for it.
func (a *API) invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxWait, errLate)
	defer cancel()
	return a.opts.Invoke(ctx, function, payload)
}

// A signer is the principal that signed a request.
type signer struct {
	key string
	sts.Identity
}

// authorize identifies the caller by the authorizer of the API, or returns the status of the refusal.
func (a *API) authorize(r *http.Request) (authorizer, int) {
	if a.opts.Tokens != nil {
		claims, ok := a.opts.Tokens.claims(r, time.Now())
		if !ok {
			return authorizer{}, http.StatusUnauthorized
		}
		return authorizer{JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: claims}}, 0
	}
	who, ok := a.caller(r)
	if !ok {
		return authorizer{}, http.StatusForbidden
	}
	return authorizer{IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{
		AccessKey: who.key, AccountID: who.Account, CallerID: who.UserID, UserARN: who.Arn, UserID: who.UserID,
	}}, 0
}

// authorizer is what an authorizer says of a caller.
type authorizer = events.APIGatewayV2HTTPRequestContextAuthorizerDescription

// caller identifies the signer. It reports false for an unsigned request, expired credentials, and credentials of
// another account.
func (a *API) caller(r *http.Request) (signer, bool) {
	key, _, signed := gateway.Scope(r)
	if h, ok := sts.ParseAccessKey(key); ok && (!time.Now().Before(h.Expires) || h.Account != a.opts.Account) {
		return signer{}, false
	}
	return signer{key, sts.Caller(a.opts.Account, key)}, signed
}

// answerMessage answers as API Gateway itself does.
func answerMessage(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message}) // the caller is gone if this fails
}
