package api

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/aws/aws-lambda-go/events"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/entry/target"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/strict"
)

// A question is a request about a project, with its caller.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
type question struct {
	events.APIGatewayV2HTTPRequest
	by      access.Principal
	who     string
	project string // as in "shop@prod"
	route   route
}

// The sizes in bytes of a body, an idempotency key, and a caller.
const (
	mostBody = 64 << 10
	mostKey  = 255
	mostWho  = 1 << 10
)

// Other is the key of the route that takes the requests for which there is no other. They are answered with an error.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-routes.html
const Other = "$default"

// noRoute says that a route does not exist, or that it has other methods.
func noRoute(e events.APIGatewayV2HTTPRequest) error {
	of := e.RequestContext.HTTP
	const way = "GET /openapi.json describes all routes"
	if methods := methodsOf(of.Path); len(methods) > 0 {
		all := strings.Join(methods, ", ")
		return refusal{status: http.StatusMethodNotAllowed, allow: all, error: fault.New(fault.Invalid, "%.100q takes only %s, and not %.20s: %s", of.Path, all, of.Method, way)}
	}
	return fault.New(fault.Missing, "there is no route for %.20s %.100q: %s", of.Method, of.Path, way)
}

// methodsOf lists the methods of the routes that have a path, sorted.
func methodsOf(path string) []string {
	var all []string
	parts := strings.Split(path, "/")
	for key := range routes() {
		method, form, _ := strings.Cut(key, " ")
		fits := slices.EqualFunc(strings.Split(form, "/"), parts, func(form, part string) bool {
			return form == part || strings.HasPrefix(form, "{") && part != ""
		})
		if fits {
			all = append(all, method)
		}
	}
	slices.Sort(all)
	return all
}

// principal is the caller, as the route's authorizer identified it.
func principal(e events.APIGatewayV2HTTPRequest) access.Principal {
	switch by := e.RequestContext.Authorizer; {
	case by == nil:
	case by.IAM != nil:
		return access.Principal{ARN: by.IAM.UserARN}
	case by.JWT != nil:
		return access.Principal{Claims: by.JWT.Claims}
	}
	return access.Principal{}
}

// caller names the caller, as the route's authorizer identified it.
func caller(e events.APIGatewayV2HTTPRequest) (string, error) {
	by := principal(e)
	who := by.ARN
	if by.Claims != nil {
		who = claimed(by.Claims)
	}
	switch {
	case who == "":
		return "", refusal{status: http.StatusForbidden, error: fault.New(fault.Denied, "the request has no identity: sign the request with credentials of AWS, or send a token, as the authorizer of the route wants it")}
	case len(who) > mostWho || strings.ContainsFunc(who, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", refusal{status: http.StatusForbidden, error: fault.New(fault.Denied, "the name of the requester cannot be stored: it has %d bytes, at most %d are allowed, and it must not have control characters", len(who), mostWho)}
	}
	return who, nil
}

// claimed names the user of a token: by the subject, which users cannot choose, with the
// issuer, and for people by the e-mail address if it is verified. Some issuers let people write
// any address, and then do not say that it is verified.
func claimed(claims map[string]string) string {
	who, email := claims["sub"], claims["email"]
	if who == "" {
		return ""
	}
	if email != "" && claims["email_verified"] == "true" {
		who = fmt.Sprintf("%s (%s)", email, who)
	}
	if issuer := claims["iss"]; issuer != "" {
		who += " of " + issuer
	}
	return who
}

// body returns the body, which must be JSON.
func (q question) body() ([]byte, error) {
	kind, _, err := mime.ParseMediaType(q.Headers["content-type"])
	if given := q.Headers["content-type"]; given != "" && (err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
		return nil, refusal{status: http.StatusUnsupportedMediaType, error: fault.New(fault.Invalid, "content-type: %.100q is not understood: send JSON, as application/json", given)}
	}
	text := []byte(q.Body)
	if q.IsBase64Encoded && len(text) <= base64.StdEncoding.EncodedLen(mostBody) {
		if text, err = base64.StdEncoding.DecodeString(q.Body); err != nil {
			return nil, fault.New(fault.Invalid, "the body is not in base64, though the event says so: %w", err)
		}
	}
	if len(text) > mostBody {
		return nil, refusal{status: http.StatusRequestEntityTooLarge, error: fault.New(fault.Invalid, "the body has more than %d bytes: no request needs that", mostBody)}
	}
	return text, nil
}

// read reads the body, one JSON object, into its fields.
func (q question) read(into strict.Fields) error {
	text, err := q.body()
	if err != nil {
		return err
	}
	problems, _ := strict.Read(text, into)
	return wrong(problems)
}

// from is the IP address that the request came from, as API Gateway says.
func (q question) from() string { return q.RequestContext.HTTP.SourceIP }

// requester is the caller, for the audit log.
func (q question) requester() target.Requester { return target.Requester{Who: q.who, From: q.from()} }

// subject identifies the caller: by the ARN, or by issuer and subject of the token. The e-mail address is no part of it:
// one user has tokens with and without it, and the issuer may begin to verify it.
func (q question) subject() string {
	if q.by.Claims == nil {
		return q.by.ARN
	}
	return q.by.Claims["sub"] + " of " + q.by.Claims["iss"]
}

// id names the request about a run or a project: the same caller with the same idempotency
// key makes the same request. Without a key every request is another.
func (q question) id(about string) (string, error) {
	key, given := q.Headers["idempotency-key"]
	switch {
	case given && (key == "" || len(key) > mostKey || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })):
		return "", fault.New(fault.Invalid, "idempotency-key: it has to be 1 to %d characters of ASCII", mostKey)
	case given:
		return engine.RunID("api", about, "caller", q.subject(), "key", key), nil
	case q.RequestContext.RequestID == "":
		return "", fault.New(fault.Invalid, "idempotency-key: missing, and the event has no requestContext.requestId instead")
	}
	return engine.RunID("api", about, "request", q.RequestContext.RequestID), nil
}
