package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stackwright/stackwright/pkg/client"
	"github.com/stackwright/stackwright/pkg/entry/cli/httpapi"
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
func reach(t *testing.T, api http.HandlerFunc) *httpapi.API {
	t.Helper()
	c, err := client.New(client.Options{URL: "https://abc.execute-api.eu-west-1.amazonaws.com/", Token: token, Transport: wire{api}})
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
	c := reach(t, func(w http.ResponseWriter, r *http.Request) {
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

// Another API that answers in JSON is no installation.
func TestNoInstallation(t *testing.T) {
	_, err := reach(t, answers(200, "{}")).Installation(t.Context())
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "there is no API of Stackwright at https://abc.execute-api.eu-west-1.amazonaws.com: ") {
		t.Error(err)
	}
}
