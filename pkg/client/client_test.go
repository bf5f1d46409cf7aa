package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/stackwright/stackwright/pkg/client"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
)

const token = "eyJ.secret-token.x"

// A wire carries requests to a handler without a network.
type wire struct{ http.Handler }

// RoundTrip is http.RoundTripper.
func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	got := httptest.NewRecorder()
	w.ServeHTTP(got, r)
	return got.Result(), nil
}

// reach returns a client of an API.
func reach(t *testing.T, o client.Options, api http.HandlerFunc) *client.Client {
	t.Helper()
	o.Transport = wire{api}
	if o.URL == "" {
		o.URL = "https://abc.execute-api.eu-west-1.amazonaws.com/"
	}
	if o.Token == "" {
		o.Credentials = credentials.NewStaticCredentialsProvider("AKID", "SECRET", "SESSION")
	}
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answers answers each request alike.
func answers(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// What goes wrong at an API is reported with what to do. No message has the token.
func TestErrors(t *testing.T) {
	const gone = `{"kind":"Missing","message":"x","messages":["there is no run of shop@prod"]}`
	for _, c := range []struct {
		name  string
		token bool
		api   http.HandlerFunc
		kind  fault.Kind
		says  []string
	}{
		{"a website", true, answers(200, "<html>", "Content-Type: text/html"), fault.Invalid, []string{"there is no API of Stackwright at https://abc", "it answered 200 with text/html", "output ApiUrl"}},
		{"another API", true, answers(200, `[1]`), fault.Invalid, []string{"there is no API of Stackwright"}},
		{"another error", true, answers(404, "no such page", "Content-Type: text/plain"), fault.Invalid, []string{"there is no API of Stackwright", "404"}},
		{"a redirect", true, answers(302, "", "Location: https://evil.example/"), fault.Invalid, []string{"there is no API of Stackwright", "302"}},
		{"another version", false, answers(404, `{"message":"Not Found"}`), fault.Invalid, []string{"has no GET /projects/shop/prod/runs", "another version than this command"}},
		{"a token is needed", false, answers(401, `{"message":"Unauthorized"}`), fault.Denied, []string{"takes tokens and no signatures", "set STACKWRIGHT_TOKEN"}},
		{"the token has expired", true, answers(401, `{"message":"Unauthorized"}`), fault.Denied, []string{"does not accept the token in STACKWRIGHT_TOKEN", "get a new token"}},
		{"IAM denies", false, answers(403, `{"message":"Forbidden"}`), fault.Denied, []string{"log in again", "aws sso login", "execute-api:Invoke on arn:aws:execute-api:eu-west-1:*:*/*/GET/projects/shop/prod/runs", "ask the owner"}},
		{"the clock is wrong", false, answers(403, `{"message":"Signature expired"}`, "Date: Mon, 02 Jan 2006 15:04:05 GMT"), fault.Denied, []string{"Signature expired", "the clock of this machine is", "set it"}},
		{"the access file denies", true, answers(403, `{"kind":"Denied","message":"not allowed","messages":["not allowed"]}`), fault.Denied, []string{"not allowed: GET /projects/shop/prod/runs: ask the owner of the installation for a role for shop@prod"}},
		{"no such thing", true, answers(404, gone), fault.Missing, []string{"there is no run of shop@prod"}},
		{"two errors", true, answers(400, `{"kind":"Invalid","messages":["one","two"]}`), fault.Invalid, []string{"one", "two"}},
		{"too many requests", false, answers(429, `{"message":"Too Many Requests"}`, "Retry-After: 1"), fault.Throttled, []string{"too many requests"}},
		{"the function fails", false, answers(500, `{"message":"Internal Server Error"}`), fault.Unavailable, []string{"answered 500"}},
		{"a proxy fails", false, answers(502, `bad gateway`, "Content-Type: text/html"), fault.Unavailable, []string{"answered 502"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := client.Options{}
				if c.token {
					o.Token = token
				}
				_, err := reach(t, o, c.api).ListRuns(t.Context(), "shop", "prod", client.ListRunsQuery{})
				if err == nil || !fault.Is(err, c.kind) && c.name != "two errors" || strings.Contains(err.Error(), "secret") {
					t.Fatalf("%v, of kind %s", err, fault.KindOf(err))
				}
				for _, says := range c.says {
					if !strings.Contains(err.Error(), says) {
						t.Errorf("no %q in %v", says, err)
					}
				}
			})
		})
	}
}

// A token is never sent to another place than the API, or without encryption.
func TestTokenGoesOnlyToTheAPI(t *testing.T) {
	for _, url := range []string{"", "abc", "http://abc.example", "ftp://localhost", "https://ann:x@abc.example", "https://abc.example?x=1", "http://localhost.evil.example"} {
		if _, err := client.New(client.Options{URL: url, Token: token}); !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, url := range []string{"http://127.0.0.1:4566", "http://localhost:1", "http://[::1]:1", "https://abc.example/stage/"} {
		if _, err := client.New(client.Options{URL: url, Token: token}); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
	var seen []string
	c := reach(t, client.Options{Token: token}, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Host+" "+r.Header.Get("Authorization"))
		switch {
		case strings.HasSuffix(r.URL.Path, "/uploads"):
			answers(201, `{"key":"revisions/shop/prod/a.zip","method":"PUT","url":"https://bucket.example/a?X-Amz-Signature=hidden","headers":{"content-length":"7"}}`)(w, r)
		case r.Method == http.MethodPut:
			answers(200, "", "X-Amz-Version-Id: v1")(w, r)
		default:
			answers(202, `{"run":"abcdefghijklmnopqrst"}`)(w, r)
		}
	})
	key, version, err := c.Upload(t.Context(), "shop", "prod", []byte("archive"))
	if err != nil {
		t.Fatal(err)
	}
	started, err := c.StartRun(t.Context(), "shop", "prod", report.RunRequest{Operation: "deploy", Key: key, Version: version})
	if got, want := strings.Join(seen, ", "), "abc.execute-api.eu-west-1.amazonaws.com Bearer "+token+", bucket.example , abc.execute-api.eu-west-1.amazonaws.com Bearer "+token; err != nil || started.Run != "abcdefghijklmnopqrst" || got != want {
		t.Errorf("%v: %s", err, got)
	}
}

// A request is signed for the region of the API, and a POST that got no answer is sent again with the same key.
func TestSignatureAndKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys []string
		c := reach(t, client.Options{Region: "us-east-1"}, func(w http.ResponseWriter, r *http.Request) {
			if a := r.Header.Get("Authorization"); !strings.Contains(a, "/eu-west-1/execute-api/aws4_request") || r.Header.Get("X-Amz-Security-Token") != "SESSION" {
				t.Errorf("signed %s", a)
			}
			if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) < 3 {
				answers(503, `{"message":"Service Unavailable"}`)(w, r)
				return
			}
			answers(202, `{"run":"abcdefghijklmnopqrst"}`)(w, r)
		})
		if _, err := c.StartRun(t.Context(), "shop", "prod", report.RunRequest{Operation: "refresh"}); err != nil {
			t.Fatal(err)
		}
		if len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
			t.Errorf("the keys are %q", keys)
		}
	})
}

// A command that ends does not wait for an API that does not answer.
func TestCancelledRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := reach(t, client.Options{Token: token}, answers(503, `{"message":"x"}`, "Retry-After: 3600"))
		began := time.Now()
		if _, err := c.ListProjects(t.Context(), client.ListProjectsQuery{}); !fault.Is(err, fault.Unavailable) || time.Since(began) > time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// Only a laptop's API is called without saying by whom.
func TestCredentials(t *testing.T) {
	if _, err := client.New(client.Options{URL: "https://abc.example"}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "give AWS credentials or a token") {
		t.Errorf("without credentials: %v", err)
	}
	c, err := client.New(client.Options{URL: "http://localhost:1/", Transport: wire{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a, given := r.Header["Authorization"]; given {
			t.Errorf("sent %q", a)
		}
		answers(200, `{"projects":["shop@prod"]}`)(w, r)
	})}})
	if err != nil || c.URL() != "http://localhost:1" {
		t.Fatal(err)
	}
	if got, err := c.ListProjects(t.Context(), client.ListProjectsQuery{}); err != nil || len(got.Projects) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// An answer that is no JSON is returned as it is, if it has a content type that the API gives.
func TestRawAnswers(t *testing.T) {
	media := "image/svg+xml"
	c := reach(t, client.Options{Token: token}, func(w http.ResponseWriter, r *http.Request) {
		answers(200, "<a "+r.URL.String()+">", "Content-Type: "+media)(w, r)
	})
	draw := func() ([]byte, error) {
		return c.DrawGraph(t.Context(), "shop", "prod", client.DrawGraphQuery{Format: "svg"})
	}
	for _, media = range []string{"image/svg+xml", "text/plain; charset=utf-8", "text/plain;charset=UTF-8"} {
		if got, err := draw(); err != nil || !strings.HasSuffix(string(got), "/projects/shop/prod/graph?format=svg>") {
			t.Errorf("%s: %s, %v", media, got, err)
		}
	}
	for _, media = range []string{"text/html", "image/svg", ""} {
		if _, err := draw(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "there is no API of Stackwright at https://abc") {
			t.Errorf("%q: %v", media, err)
		}
	}
	media = "text/html; charset=utf-8"
	if got, err := c.ShowDocs(t.Context()); err != nil || !strings.HasSuffix(string(got), "/docs>") {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := reach(t, client.Options{Token: token}, answers(200, "{}", "Content-Type: application/jsonx")).ShowDocument(t.Context()); !fault.Is(err, fault.Invalid) {
		t.Errorf("JSON of another type: %v", err)
	}
}

// A parameter is left out unless it was given; 0 can be given where it is not the usual value.
func TestQueries(t *testing.T) {
	var requested string
	c := reach(t, client.Options{Token: token}, func(w http.ResponseWriter, r *http.Request) {
		requested = r.URL.Path + "?" + r.URL.RawQuery
		answers(200, `{"events":[]}`)(w, r)
	})
	none, some := 0, 7
	for _, q := range []struct {
		given client.ListEventsQuery
		want  string
	}{
		{client.ListEventsQuery{}, ""},
		{client.ListEventsQuery{Wait: &none}, "wait=0"},
		{client.ListEventsQuery{After: "a&b", Limit: 5, Wait: &some}, "after=a%26b&limit=5&wait=7"},
	} {
		if _, err := c.ListEvents(t.Context(), "shop", "prod", "a/b", q.given); err != nil || requested != "/projects/shop/prod/runs/a/b/events?"+q.want {
			t.Errorf("%s, %v", requested, err)
		}
	}
}

// A command of a name goes to the route of the name.
func TestCommand(t *testing.T) {
	var requested string
	c := reach(t, client.Options{Token: token}, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		requested = r.Method + " " + r.URL.Path + " " + string(body)
		answers(202, `{"run":"a"}`)(w, r)
	})
	got, err := c.Command(t.Context(), "shop", "prod", "a", "cancel", report.CommandRequest{Reason: "late"})
	if err != nil || got.Run != "a" || requested != `POST /projects/shop/prod/runs/a/cancel {"reason":"late"}` {
		t.Errorf("%s: %+v, %v", requested, got, err)
	}
}

// An answer that the caller has is not sent again.
func TestIfChanged(t *testing.T) {
	c := reach(t, client.Options{Token: token}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `W/"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		answers(200, `{"run":"a"}`, `Etag: W/"1"`)(w, r)
	})
	tag := ""
	if got, err := c.ShowRun(t.Context(), "shop", "prod", "a", client.ShowRunQuery{}, client.IfChanged(&tag)); err != nil || got.Run != "a" || tag != `W/"1"` {
		t.Errorf("%+v, %v, tag %s", got, err, tag)
	}
	if _, err := c.ShowRun(t.Context(), "shop", "prod", "a", client.ShowRunQuery{}, client.IfChanged(&tag)); !errors.Is(err, client.ErrUnchanged) || tag != `W/"1"` {
		t.Errorf("%v, tag %s", err, tag)
	}
}

// The pause before an upload is sent again ends with the context.
func TestCancelledUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		puts := 0
		c := reach(t, client.Options{Token: token}, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				puts++
				answers(503, "")(w, r)
				return
			}
			answers(201, `{"key":"k","method":"PUT","url":"https://bucket.example/a","headers":{}}`)(w, r)
		})
		began := time.Now()
		if _, _, err := c.Upload(ctx, "shop", "prod", []byte("archive")); !fault.Is(err, fault.Unavailable) || puts != 1 || time.Since(began) != 50*time.Millisecond {
			t.Errorf("%v after %v and %d uploads", err, time.Since(began), puts)
		}
	})
}

// Selected fields are a parameter of the request, beside those of the operation.
func TestFields(t *testing.T) {
	var sent []string
	c := reach(t, client.Options{Region: "us-east-1"}, func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.URL.RawQuery)
		answers(200, `{"runs":[{"run":"a"}],"owner":{"run":"a"}}`)(w, r)
	})
	runs, err := c.ListRuns(t.Context(), "shop", "prod", client.ListRunsQuery{Limit: 1}, client.Fields("runs.run", "before"))
	if err != nil || len(runs.Runs) != 1 || runs.Runs[0].Run != "a" {
		t.Errorf("%+v, %v", runs, err)
	}
	if lock, err := c.ShowLock(t.Context(), "shop", "prod", client.Fields("owner")); err != nil || lock.Owner.Run != "a" {
		t.Errorf("%+v, %v", lock, err)
	}
	if want := []string{"fields=runs.run%2Cbefore&limit=1", "fields=owner"}; !slices.Equal(sent, want) {
		t.Errorf("%q", sent)
	}
}
