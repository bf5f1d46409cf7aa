package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/infra/local/api"
	"github.com/stackwright/stackwright/infra/local/sts"
)

const signature = "AWS4-HMAC-SHA256 Credential=%K/20260101/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0"

// request is signed with an access key; it is unsigned if key is "".
func request(method, url, body, key string) *http.Request {
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Authorization", strings.Replace(signature, "%K", key, 1))
	}
	return r
}

// newAPI returns an API in which the function echo answers every route.
func newAPI(t *testing.T, echo func(ctx context.Context, function string, payload []byte) ([]byte, error), keys ...string) *api.API {
	t.Helper()
	o := api.Options{Account: "000000000000", Region: "us-east-1", Invoke: echo}
	for _, k := range keys {
		o.Routes = append(o.Routes, api.Route{Key: k, Function: "f"})
	}
	a, err := api.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// route names the route and the variables that a request comes with.
func route(_ context.Context, _ string, payload []byte) ([]byte, error) {
	var e events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"route": e.RouteKey, "with": e.PathParameters})
}

// A request goes to the route with the most specific method and path.
func TestRoutes(t *testing.T) {
	keys := []string{"GET /runs/{run}", "ANY /runs/{run}", "POST /runs/{run}/cancel", "GET /runs/all", "GET /files/{path+}", "GET /files/a/{b}", "GET /"}
	a := newAPI(t, route, keys...)
	for call, want := range map[string]string{
		"GET /runs/a":           `{"route":"GET /runs/{run}","with":{"run":"a"}}`,
		"GET /runs/a%20b?x=/y":  `{"route":"GET /runs/{run}","with":{"run":"a b"}}`,
		"DELETE /runs/a":        `{"route":"ANY /runs/{run}","with":{"run":"a"}}`,
		"POST /runs/a/cancel":   `{"route":"POST /runs/{run}/cancel","with":{"run":"a"}}`,
		"GET /runs/all":         `{"route":"GET /runs/all","with":null}`,
		"GET /files/x/y/z":      `{"route":"GET /files/{path+}","with":{"path":"x/y/z"}}`,
		"GET /files/a/z":        `{"route":"GET /files/a/{b}","with":{"b":"z"}}`,
		"GET /":                 `{"route":"GET /","with":null}`,
		"GET /runs":             `{"message":"Not Found"}`,
		"GET /runs/":            `{"message":"Not Found"}`,
		"GET /runs/a/b":         `{"message":"Not Found"}`,
		"PUT /runs/a/cancel":    `{"message":"Not Found"}`,
		"POST /files/x":         `{"message":"Not Found"}`,
		"GET /runs/a/cancel/":   `{"message":"Not Found"}`,
		"GET /projects/p/e/run": `{"message":"Not Found"}`,
	} {
		method, url, _ := strings.Cut(call, " ")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, request(method, url, "", "AKID"))
		if got := strings.TrimSpace(w.Body.String()); got != want || (w.Code == 404) != strings.Contains(want, "Not Found") || w.Header().Get("Apigw-Requestid") == "" {
			t.Errorf("%s: %d %s, want %s", call, w.Code, got, want)
		}
	}
	w := httptest.NewRecorder()
	newAPI(t, route, append(keys, "$default")...).ServeHTTP(w, request("PUT", "/any/thing", "", "AKID"))
	if got := strings.TrimSpace(w.Body.String()); got != `{"route":"$default","with":null}` {
		t.Errorf("%d %s", w.Code, got)
	}
	for _, key := range []string{"", "GET", "GET runs", "FETCH /runs", "GET /{a+}/b", "GET /a//b", "GET /{a", "GET /a/", "get /a", "/a"} {
		if _, err := api.New(api.Options{Routes: []api.Route{{Key: key}}}); err == nil {
			t.Errorf("the key %q is taken", key)
		}
	}
}

// The function gets the event that API Gateway makes of a request.
func TestEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
		var got events.APIGatewayV2HTTPRequest
		a := newAPI(t, func(_ context.Context, function string, payload []byte) ([]byte, error) {
			got = events.APIGatewayV2HTTPRequest{}
			if function != "f" {
				t.Errorf("function %s is called", function)
			}
			return []byte(`{"statusCode":204}`), json.Unmarshal(payload, &got)
		}, "POST /runs/{run}/cancel")
		r := request("POST", "/runs/a/cancel?x=1&y=2&x=3", `{"reason":"x"}`, "AKID")
		r.Host = "x.execute-api.localhost"
		r.Header["Content-Type"], r.Header["X-Many"] = []string{"application/json"}, []string{"a", "b"}
		r.Header["Cookie"], r.Header["User-Agent"] = []string{"c=1; d=2"}, []string{"test"}
		authorization := r.Header.Get("Authorization")
		a.ServeHTTP(httptest.NewRecorder(), r)
		id := got.RequestContext.RequestID
		want := events.APIGatewayV2HTTPRequest{
			Version: "2.0", RouteKey: "POST /runs/{run}/cancel", RawPath: "/runs/a/cancel", RawQueryString: "x=1&y=2&x=3", Cookies: []string{"c=1", "d=2"},
			Headers: map[string]string{
				"authorization": authorization, "content-type": "application/json", "x-many": "a,b", "user-agent": "test", "host": "x.execute-api.localhost", "x-forwarded-proto": "https",
			},
			QueryStringParameters: map[string]string{"x": "1,3", "y": "2"}, PathParameters: map[string]string{"run": "a"}, Body: `{"reason":"x"}`,
			RequestContext: events.APIGatewayV2HTTPRequestContext{
				RouteKey: "POST /runs/{run}/cancel", AccountID: "000000000000", Stage: "$default", RequestID: id, APIID: "stackwright",
				DomainName: "x.execute-api.localhost", DomainPrefix: "x", Time: "01/Mar/2026:12:00:00 +0000", TimeEpoch: 1772366400000,
				HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: "POST", Path: "/runs/a/cancel", Protocol: "HTTP/1.1", SourceIP: "192.0.2.1", UserAgent: "test"},
				Authorizer: &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{
					AccessKey: "AKID", AccountID: "000000000000", CallerID: "000000000000", UserARN: "arn:aws:iam::000000000000:root", UserID: "000000000000",
				}},
			},
		}
		if d := cmp.Diff(want, got); d != "" || id == "" {
			t.Errorf("request %q: %s", id, d)
		}
		for kind, coded := range map[string]bool{"application/json": false, "application/vnd.x+json; charset=utf-8": false, "text/plain": false, "": true, "application/x-www-form-urlencoded": true, "image/png": true} {
			r := request("POST", "/runs/a/cancel", "{}", "AKID")
			r.Header.Set("Content-Type", kind)
			if a.ServeHTTP(httptest.NewRecorder(), r); got.IsBase64Encoded != coded || (got.Body == "e30=") != coded || got.RequestContext.RequestID == id {
				t.Errorf("of %q the body is %q, in base64: %v", kind, got.Body, got.IsBase64Encoded)
			}
		}
	})
}

// An unsigned request, and one with expired credentials or those of another account, is
// refused by every route.
func TestForbidden(t *testing.T) {
	a := newAPI(t, func(_ context.Context, _ string, payload []byte) ([]byte, error) {
		var e events.APIGatewayV2HTTPRequest
		err := json.Unmarshal(payload, &e)
		return []byte(`{"statusCode":200,"body":"` + e.RequestContext.Authorizer.IAM.UserARN + `"}`), err
	}, "GET /runs/{run}")
	holder := func(account string, until time.Duration) string {
		return sts.AssumedRole{Account: account, Role: "ops", Session: "ann", Expires: time.Now().Add(until)}.AccessKey()
	}
	for key, want := range map[string]string{
		"":                                 `{"message":"Forbidden"}`,
		holder("000000000000", -time.Hour): `{"message":"Forbidden"}`,
		holder("111111111111", time.Hour):  `{"message":"Forbidden"}`,
		holder("000000000000", time.Hour):  "arn:aws:sts::000000000000:assumed-role/ops/ann",
		"AKID":                             "arn:aws:iam::000000000000:root",
	} {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, request("GET", "/runs/a", "", key))
		if got := strings.TrimSpace(w.Body.String()); got != want || (w.Code == 403) != (want[0] == '{') {
			t.Errorf("%q: %d %s, want %s", key, w.Code, got, want)
		}
	}
}

// The API returns the answer of the function unchanged.
func TestAnswers(t *testing.T) {
	for payload, want := range map[string]struct {
		status     int
		body, kind string
	}{
		`{"statusCode":202,"headers":{"location":"/runs/a","x-n":3,"content-type":"application/json"},"cookies":["a=1","b=2"],"body":"{}","multiValueHeaders":null}`: {202, "{}", "application/json"},
		`{"statusCode":200,"body":"eMO8","isBase64Encoded":true}`: {200, "xü", "text/plain;charset=UTF-8"},
		`{"statusCode":404}`:   {404, "", "text/plain;charset=UTF-8"},
		`{"hello":"you"}`:      {200, `{"hello":"you"}`, "application/json"},
		`"hello"`:              {200, "hello", "application/json"},
		`{"statusCode":"two"}`: {500, `{"message":"Internal Server Error"}`, "application/json"},
		`{"statusCode":99}`:    {500, `{"message":"Internal Server Error"}`, "application/json"},
		`{"statusCode":200,"body":"!","isBase64Encoded":true}`: {500, `{"message":"Internal Server Error"}`, "application/json"},
		`}`: {500, `{"message":"Internal Server Error"}`, "application/json"},
	} {
		a := newAPI(t, func(context.Context, string, []byte) ([]byte, error) { return []byte(payload), nil }, "GET /a")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, request("GET", "/a", "", "AKID"))
		if w.Code != want.status || strings.TrimSpace(w.Body.String()) != want.body || w.Header().Get("Content-Type") != want.kind {
			t.Errorf("%s: %d %v %s", payload, w.Code, w.Header(), w.Body)
		}
		if w.Code == 202 && (w.Header().Get("Location") != "/runs/a" || w.Header().Get("X-N") != "3" || len(w.Header()["Set-Cookie"]) != 2) {
			t.Errorf("%v", w.Header())
		}
	}
}

// The log has the reason of a failure behind the API; the caller learns only that there
// was one.
func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		a, err := api.New(api.Options{Account: "000000000000", Log: &log, Routes: []api.Route{{Key: "GET /fails", Function: "fails"}, {Key: "POST /sleeps", Function: "sleeps"}},
			Invoke: func(ctx context.Context, function string, _ []byte) ([]byte, error) {
				if function == "fails" {
					return nil, errors.New("out of luck")
				}
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			r      *http.Request
			status int
			want   string
		}{
			{request("GET", "/fails", "", "AKID"), 500, "Internal Server Error"},
			{request("POST", "/sleeps", "", "AKID"), 503, "Service Unavailable"},
			{request("POST", "/sleeps", strings.Repeat("x", 10<<20+1), "AKID"), 413, "Request Entity Too Large"},
		} {
			w := httptest.NewRecorder()
			a.ServeHTTP(w, c.r)
			if body, err := io.ReadAll(w.Body); err != nil || w.Code != c.status || strings.TrimSpace(string(body)) != `{"message":"`+c.want+`"}` {
				t.Errorf("%s: %d %s", c.r.URL, w.Code, body)
			}
		}
		if !strings.Contains(log.String(), "GET /fails: request ") || !strings.Contains(log.String(), "out of luck") {
			t.Errorf("it logs %q", log.String())
		}
	})
}
