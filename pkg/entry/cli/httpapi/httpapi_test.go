package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/stackwright/stackwright/pkg/client"
	"github.com/stackwright/stackwright/pkg/entry/cli/httpapi"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
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
func reach(t *testing.T, o client.Options, api http.HandlerFunc) *httpapi.API {
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
	return httpapi.New(c)
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
				_, err := reach(t, o, c.api).List(t.Context(), "shop@prod", 0)
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
	id, err := c.Deploy(t.Context(), "shop@prod", []byte("archive"))
	if got, want := strings.Join(seen, ", "), "abc.execute-api.eu-west-1.amazonaws.com Bearer "+token+", bucket.example , abc.execute-api.eu-west-1.amazonaws.com Bearer "+token; err != nil || id != "abcdefghijklmnopqrst" || got != want {
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
		if _, err := c.Request(t.Context(), run.Request{Project: "shop@prod", Operation: "refresh", Claim: "root"}); err != nil {
			t.Fatal(err)
		}
		if len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
			t.Errorf("the keys are %q", keys)
		}
	})
}

// An upload that fails starts nothing, and no message has its URL.
func TestFailedUploads(t *testing.T) {
	for _, c := range []struct {
		name, headers string
		s3            http.HandlerFunc
		says          string
	}{
		{"refused", "", answers(403, `<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>`), "S3 refuses the upload (SignatureDoesNotMatch: no): nothing was started"},
		{"without versions", "", answers(200, ""), "turn on versioning"},
		{"another size", `"content-length":"99"`, answers(200, "", "X-Amz-Version-Id: v1"), "signed an upload of 99 bytes, and this one has 7"},
		{"interrupted", "", func(http.ResponseWriter, *http.Request) { panic("cut") }, "nothing was started: S3 does not answer"},
		{"busy", "", answers(503, ""), "S3 answered 503: nothing was started"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var starts atomic.Int32
			s3 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c.name == "interrupted" {
					panic(http.ErrAbortHandler)
				}
				c.s3(w, r)
			}))
			defer s3.Close()
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/runs") {
					starts.Add(1)
				}
				answers(201, fmt.Sprintf(`{"key":"k","method":"PUT","url":"%s/a?X-Amz-Signature=hidden","headers":{%s}}`, s3.URL, c.headers))(w, r)
			}))
			defer api.Close()
			to, err := client.New(client.Options{URL: api.URL, Token: token})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := httpapi.New(to).Deploy(t.Context(), "shop@prod", []byte("archive")); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hidden") || starts.Load() > 0 {
				t.Errorf("%v; %d starts", err, starts.Load())
			}
		})
	}
}

// A run of many pages is followed whole, and a page that has not changed is not sent again.
func TestFollowPages(t *testing.T) {
	sent := 0
	c := reach(t, client.Options{Token: token}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/projects" {
			answers(200, `{"projects":["shop@prod"]}`)(w, r)
			return
		}
		tag := `W/"` + r.URL.RawQuery + `"`
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		body := `{"run":"a","state":"running","steps":[{"step":"vpc/create","after":[]}],"next_step":1}`
		if r.URL.RawQuery == "from=1" {
			body = `{"run":"a","state":"running","steps":[{"step":"db/create","after":["vpc/create"]}]}`
		}
		answers(200, body, "Etag: "+tag)(w, r)
	})
	for range 3 {
		r, err := c.Follow(t.Context(), "a")
		if err != nil || len(r.Steps) != 2 || r.Steps[1].Number != 1 || r.Steps[1].After[0] != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if sent != 2 {
		t.Errorf("%d pages were sent, of 2", sent)
	}
}

// A command that ends does not wait for an API that does not answer.
func TestCancelledRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := reach(t, client.Options{Token: token}, answers(503, `{"message":"x"}`, "Retry-After: 3600"))
		began := time.Now()
		if _, err := c.Projects(t.Context()); !fault.Is(err, fault.Unavailable) || time.Since(began) > time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
