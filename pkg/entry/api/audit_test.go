package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/entry/api"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// The audit log has who requested each run, and who gave it which command; of a refused run, why it was refused.
func TestAudit(t *testing.T) {
	h := newApp()
	h.runs[1].State, h.runs[1].Messages = run.StateRefused, []string{"not allowed"}
	first := read[report.AuditPage](t, h, "GET"+ofShop+"/audit", "query.limit=2")
	var got []string
	for _, e := range first.Entries {
		got = append(got, fmt.Sprint(e.Run, " ", e.What, " ", e.Who, " ", e.State, " ", e.Messages, " ", e.Why))
	}
	want := []string{newest + " pause eve  [] <b>no</b>", newest + " deploy bob running [] ", middle + " deploy bob refused [not allowed] "}
	if fmt.Sprint(got) != fmt.Sprint(want) || first.Before != middle {
		t.Errorf("%q, before %s", got, first.Before)
	}
	second := read[report.AuditPage](t, h, "GET"+ofShop+"/audit", "query.limit=2", "query.before="+first.Before)
	if len(second.Entries) != 1 || second.Entries[0].Run != oldest || second.Before != "" {
		t.Errorf("%+v", second)
	}
}

// The audit log of all projects has the runs of those that the caller may read and, to an admin of all, the changes of the installation, each on
// the page to which its time belongs.
func TestAuditOfAll(t *testing.T) {
	h := newApp()
	h.admin = true
	pages := func(limit string) (got [][]string) {
		for before := ""; ; {
			page := read[report.AuditPage](t, h, "GET /audit", "query.limit="+limit, "query.before="+before)
			var one []string
			for _, e := range page.Entries {
				one = append(one, strings.TrimSpace(e.Project+" "+e.What))
			}
			got = append(got, one)
			if before = page.Before; before == "" || len(got) > 9 {
				return got
			}
		}
	}
	for limit, want := range map[string]string{
		"100": "[[shop@prod pause shop@prod deploy put target eu shop@prod deploy shop@prod deploy other@prod deploy]]",
		"1":   "",
	} {
		got := fmt.Sprint(pages(limit))
		if flat := strings.Replace(strings.NewReplacer("] [", " ", " []", "").Replace(got), " ]", "]", 1); limit == "1" {
			got, want = flat, fmt.Sprint(pages("100"))
		}
		if got != want {
			t.Errorf("limit %s: %s, want %s", limit, got, want)
		}
	}
	for _, bad := range []string{newest, "x", strings.Repeat("y", 500)} {
		if r, said := h.ask(t, call("GET /audit", "", "query.before="+bad)); r.StatusCode != http.StatusBadRequest || !strings.Contains(said.Detail, "is not from an answer of this list") {
			t.Errorf("%s: %d %s", bad, r.StatusCode, r.Body)
		}
	}
	h.admin = false
	if got := fmt.Sprint(pages("100")); got != "[[shop@prod pause shop@prod deploy shop@prod deploy shop@prod deploy]]" {
		t.Errorf("a reader of shop@prod is shown %s", got)
	}
}

// Every request is stored with the IP address that it came from.
func TestFrom(t *testing.T) {
	h := newApp()
	h.ask(t, call("POST"+ofShop+"/runs", aDeploy))
	h.ask(t, call("POST"+ofShop+"/runs/{run}/pause", `{}`))
	h.ask(t, call("PUT /targets/{target}", `{"account":"111122223333","region":"eu-west-1"}`, "target=eu"))
	if len(h.requested) != 1 || len(h.commands) != 1 || h.requested[0].From != "192.0.2.1" || h.commands[0].From != "192.0.2.1" || h.changedBy.From != "192.0.2.1" || h.changedBy.Who != ann {
		t.Errorf("%+v, %+v, %+v", h.requested, h.commands, h.changedBy)
	}
}

// What is not there is said: a project that has had no run, on each route that shows it; a path; and a method that the path does not have.
func TestWhatIsNotThere(t *testing.T) {
	h := newApp()
	tried := 0
	for _, route := range api.Routes() {
		if !strings.HasPrefix(route, "GET"+ofShop) || strings.Contains(route, "{run}") {
			continue
		}
		tried++
		if strings.HasSuffix(route, "/lock") || strings.HasSuffix(route, "/access") { // they are read before the first run
			if r, _ := h.ask(t, call(route, "", "environment=new")); r.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %s", route, r.StatusCode, r.Body)
			}
			continue
		}
		if r, said := h.ask(t, call(route, "", "environment=typo")); r.StatusCode != http.StatusNotFound || said.Detail != "there is no shop@typo: it has had no run" {
			t.Errorf("%s: %d %s", route, r.StatusCode, r.Body)
		}
	}
	if tried < 10 {
		t.Errorf("%d routes were tried", tried)
	}
	for request, want := range map[string]string{
		"GET /nothing":           "404  there is no route for GET \"/nothing\": GET /openapi.json describes all routes",
		"HEAD /projects":         "405 GET \"/projects\" takes only GET, and not HEAD: GET /openapi.json describes all routes",
		"PATCH /targets/eu":      "405 DELETE, PUT \"/targets/eu\" takes only DELETE, PUT, and not PATCH: GET /openapi.json describes all routes",
		"PUT /projects/a/b/runs": "405 GET, POST \"/projects/a/b/runs\" takes only GET, POST, and not PUT: GET /openapi.json describes all routes",
		"GET /projects//b/runs":  "404  there is no route for GET \"/projects//b/runs\": GET /openapi.json describes all routes",
	} {
		e := call(request, "")
		e.RouteKey = api.Other
		r, err := h.api().Answer(t.Context(), e)
		if got := fmt.Sprint(r.StatusCode, " ", r.Headers["allow"], " ", err); got != want || r.Headers["content-type"] != "application/problem+json" {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}

// Answers and errors say how many requests the gateway lets through, if it limits them.
func TestRateIsSaid(t *testing.T) {
	for rate, want := range map[int]string{0: "", 20: `"all-callers";q=20;w=1`} {
		limited := newApp().api()
		limited.Rate = rate
		for _, route := range []string{"GET /projects", "GET /nothing"} {
			if r, _ := limited.Answer(t.Context(), call(route, "")); r.Headers["ratelimit-policy"] != want {
				t.Errorf("%d: %s has %q, want %q", rate, route, r.Headers["ratelimit-policy"], want)
			}
		}
	}
}

// The metrics of a run have its steps by their status.
func TestMetricsOfRun(t *testing.T) {
	h := newApp()
	got := read[report.Metrics](t, h, "GET"+ofShop+"/runs/{run}/metrics")
	steps := 0
	for _, n := range got.Steps {
		steps += n
	}
	if got.Run != newest || got.Project != "shop@prod" || steps != len(h.runs[0].Steps) || steps == 0 || got.Cost <= 0 {
		t.Errorf("%+v", got)
	}
}
