package api_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

var (
	anID      = regexp.MustCompile(`^[a-z2-7]{20}$`)
	aProject  = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9]{0,63}@[A-Za-z0-9][-A-Za-z0-9]{0,63}$`)
	aLocation = regexp.MustCompile(`^/projects/[A-Za-z][-A-Za-z0-9]{0,63}/[A-Za-z0-9][-A-Za-z0-9]{0,63}/runs/[a-z2-7]{20}$`)
	statuses  = []int{200, 202, 400, 403, 404, 409, 413, 415}
)

// Whatever bytes come as an event of API Gateway are answered in JSON, twice
// alike: with a run that is requested once, in the name of who asks; or with what
// is wrong, and then nothing was requested.
func FuzzAPI(f *testing.F) {
	for _, e := range []events.APIGatewayV2HTTPRequest{
		call(runs, aDeploy), call(runs, aDeploy, "header.idempotency-key=a b"), call(runs, `{"operation":"retry","options":{"run":"`+oldest+`","force":true}}`),
		call(runs, `{"operation":"destroy","options":{"who":"boss","only":[""],"max_deletions":-1}}`), call(runs, ``), call(runs, `{"operation":"unlock"}`),
		call(runs, aDeploy, "project=a b", "header.content-type=text/plain"), call(list, ""), call(list, "", "query.limit=2", "query.before="+middle),
		call(list, "", "query.before="+others, "query.x=y"), call(show, ""), call(show, "", "run="+missing), call(to("cancel"), `{"rollback":true,"force":true,"reason":"a"}`),
		call(to("pause"), `{"REASON":"a","reason":"b"}`), call(to("unlock"), ""), call("$default", "x"),
	} {
		f.Add(event(f, e))
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(e.Body)), true
		f.Add(event(f, e))
		e.RequestContext.Authorizer = nil
		f.Add(event(f, e))
	}
	f.Add([]byte(`{"routeKey":"GET /projects/{project}/{environment}/runs/{run}","requestContext":{"authorizer":{"jwt":{"claims":{"sub":"a","email":"b"},"scopes":null}}},"pathParameters":{"project":"shop","environment":"prod","run":"` + newest + `"}}`))
	f.Add([]byte(`{"routeKey":"GET /projects/{project}/{environment}/runs/{run}","requestContext":{"authorizer":{"iam":null}},"headers":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		one, two := newApp(), newApp()
		var first, second *events.APIGatewayV2HTTPResponse
		synctest.Test(t, func(t *testing.T) { // at the same time, which the expected end of a run depends on
			contract.Memory(t, len(text), 1<<20, 500, func() { first = one.invoke(t, text) })
			second = two.invoke(t, text)
		})
		if !cmp.Equal(first, second) {
			t.Errorf("the second time the answer is another:\n%s", cmp.Diff(first, second))
		}
		if first == nil {
			return
		}
		requested := append(one.requested, one.commands...)
		if ok := first.StatusCode == 202; ok != (len(requested) == 1) && first.StatusCode != 409 || len(requested) > 1 {
			t.Errorf("%d, and requested is %+v", first.StatusCode, requested)
		}
		for _, q := range requested {
			sound(t, q)
		}
		if kind := first.Headers["content-type"]; strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "text/") {
			return // a drawing
		}
		wellFormed(t, len(text), *first)
		var e events.APIGatewayV2HTTPRequest
		if json.Unmarshal(text, &e) == nil {
			api.Fits(t, e, *first)
		}
	})
}

// event is a request as the function is given it.
func event(t testing.TB, e events.APIGatewayV2HTTPRequest) []byte {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// invoke answers an event, read as Lambda reads it; nil if that cannot be read.
func (h *app) invoke(t *testing.T, text []byte) *events.APIGatewayV2HTTPResponse {
	t.Helper()
	var said *events.APIGatewayV2HTTPResponse
	_, _ = lambda.NewHandler(func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (struct{}, error) {
		r, _ := h.api().Answer(ctx, e) // the error is in the answer
		said = &r
		return struct{}{}, nil
	}).Invoke(t.Context(), text) // of what is no event there is no answer
	return said
}

// sound says whether a request is one that the engine takes.
func sound(t *testing.T, q run.Request) {
	t.Helper()
	if !anID.MatchString(q.ID) || !aProject.MatchString(q.Project) || q.Who == "" || len(q.Problems) > 0 || q.Upload {
		t.Errorf("requested is %+v", q)
	}
	_, command := run.ControlNamed(q.Operation)
	about := command || q.Operation == "retry"
	if about != (q.Of != "") || about && !anID.MatchString(q.Of) {
		t.Errorf("a %s of run %q", q.Operation, q.Of)
	}
	if size := len(q.Source.Key) + len(q.Source.Version) + len(q.Who) + len(q.Reason); size > 4<<10 {
		t.Errorf("%d bytes are stored of it", size)
	}
}

// wellFormed says whether an answer to an event of n bytes is one.
func wellFormed(t *testing.T, n int, r events.APIGatewayV2HTTPResponse) {
	t.Helper()
	kind := "application/json"
	if r.StatusCode >= 400 {
		kind = "application/problem+json"
	}
	if !slices.Contains(statuses, r.StatusCode) || r.IsBase64Encoded || r.Headers["content-type"] != kind {
		t.Errorf("%d %v %s", r.StatusCode, r.Headers, r.Body)
	}
	if (r.StatusCode == 202) != aLocation.MatchString(r.Headers["location"]) {
		t.Errorf("%d, to be read at %q", r.StatusCode, r.Headers["location"])
	}
	var e report.Problem
	if err := json.Unmarshal([]byte(r.Body), &e); err != nil {
		t.Fatalf("%q: %v", r.Body, err)
	}
	if r.StatusCode >= 400 && (e.Kind == "" || e.Detail == "" || e.Status != r.StatusCode || len(e.Messages) == 0 || slices.Contains(e.Messages, "") || len(r.Body) > 10_000+10*n) {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}
