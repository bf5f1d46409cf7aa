package api

import (
	"encoding/base64"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// received is what is known of a request besides the request itself.
type received struct {
	id         string
	at         time.Time
	route      route
	parameters map[string]string
	by         authorizer
	body       []byte
}

// name is the API's ID.
const name = "stackwright"

// event is the request in payload format 2.0.
// https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
func (a *API) event(r *http.Request, in received) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: in.route.Key, RawPath: r.URL.Path, RawQueryString: r.URL.RawQuery, Cookies: cookies(r.Header),
		Headers: headers(r), QueryStringParameters: joined(r.URL.Query()), PathParameters: in.parameters,
	}
	if e.Body = string(in.body); !text(r.Header.Get("Content-Type")) {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(in.body), len(in.body) > 0
	}
	source, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		source = r.RemoteAddr // it has no port
	}
	prefix, _, _ := strings.Cut(r.Host, ".")
	e.RequestContext = events.APIGatewayV2HTTPRequestContext{
		RouteKey: in.route.Key, AccountID: a.opts.Account, Stage: "$default", RequestID: in.id, APIID: name, DomainName: r.Host, DomainPrefix: prefix,
		Time: in.at.UTC().Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: in.at.UnixMilli(),
		HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
			Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: source, UserAgent: r.UserAgent(),
		},
		Authorizer: &in.by,
	}
	return e
}

// text reports whether a body of a media type is passed as text; any other body is encoded as base64.
func text(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	known := []string{"application/json", "application/xml", "application/javascript"}
	return err == nil && (strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || slices.Contains(known, kind))
}

// headers are those of a request, in lower case; cookies have a field of their own.
func headers(r *http.Request) map[string]string {
	all := map[string]string{"host": r.Host, "x-forwarded-proto": "https"}
	for name, values := range joined(r.Header) {
		all[strings.ToLower(name)] = values
	}
	delete(all, "cookie")
	return all
}

// joined joins repeated values with commas.
func joined(values map[string][]string) map[string]string {
	all := map[string]string{}
	for name, v := range values {
		all[name] = strings.Join(v, ",")
	}
	return all
}

func cookies(h http.Header) []string {
	var all []string
	for _, line := range h.Values("Cookie") {
		for c := range strings.SplitSeq(line, ";") {
			all = append(all, strings.TrimSpace(c))
		}
	}
	return all
}
