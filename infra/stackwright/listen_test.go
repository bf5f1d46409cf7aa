package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/cli"
)

// A web page that a person visits can make the browser send these requests without asking the server first. None of them
// does anything, and no answer may be read by the page.
func TestWebPageDoesNotOperateTheLaptop(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	h := l.serve(0.05)
	l.must(cli.ExitOK, "deploy", l.project)
	form := "multipart/form-data; boundary=x"
	part := func(key, body string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\n" + key +
			"\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n" + body + "\r\n--x--\r\n"
	}
	requests := map[string]struct{ method, path, kind, body string }{
		"a form uploads a request": {"POST", "/stackwright", form, part("requests/pair/default/evil.json", `{"operation":"destroy"}`)},
		"a form uploads a project": {"POST", "/stackwright", form, part("projects/evil/dev.yaml", "project: evil")},
		"a page lists the bucket":  {"GET", "/stackwright?list-type=2", "", ""},
		"a form deletes a stack":   {"POST", "/", "application/x-www-form-urlencoded", "Action=DeleteStack&Version=2010-05-15&StackName=pair-queue"},
		"text calls a function":    {"POST", "/2015-03-31/functions/api/invocations", "text/plain", `{"rawPath":"/projects"}`},
		"text injects a fault":     {"POST", "/_faults", "text/plain", `{"stack":"*","operation":"create","times":1}`},
	}
	senders := map[string]struct{ host, origin, site string }{
		"a site":                   {"", "https://evil.example", "cross-site"},
		"a site, an older browser": {"", "https://evil.example", ""},
		"a hidden origin":          {"", "null", "cross-site"},
		"a link":                   {"", "", "cross-site"},
		"another local server":     {"", "http://127.0.0.1:8080", "same-site"},
		"an uploaded page":         {"", h.URL(), "same-origin"},
		"a name that leads here":   {"evil.example:4566", "", ""},
	}
	for what, q := range requests {
		for who, from := range senders {
			r, err := http.NewRequestWithContext(t.Context(), q.method, h.URL()+q.path, strings.NewReader(q.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = from.host
			for name, value := range map[string]string{"Content-Type": q.kind, "Origin": from.origin, "Sec-Fetch-Site": from.site} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.Body.Close() != nil {
				t.Fatal(err)
			}
			if answer.StatusCode != http.StatusForbidden || answer.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s by %s: %d %s", what, who, answer.StatusCode, body)
			}
		}
	}
	answer, err := http.Get(h.URL() + "/stackwright?list-type=2")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a program is answered with %d and %v", answer.StatusCode, answer.Header)
	}
	l.has(l.must(cli.ExitOK, "stacks"), "pair-queue  CREATE_COMPLETE")
}

// Other machines reach serve only if the user says that they may.
func TestServeIsNotExposedSilently(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:80"} {
		r := l.run("serve", "--listen", address, "--until-idle")
		if r.code != cli.ExitRefused {
			t.Errorf("serve at %s ended with %d", address, r.code)
		}
		l.has(r.err, "is not an address of this machine alone", "--exposed")
	}
	l.must(cli.ExitOK, "serve", "--listen", "0.0.0.0:0", "--exposed", "--until-idle")
}
