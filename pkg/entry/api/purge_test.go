package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/purge"
	"github.com/stackwright/stackwright/pkg/run"
)

// Begin is api.Purger.
func (h *app) Begin(_ context.Context, k run.Retention, who, from string) error {
	h.purged = append(h.purged, fmt.Sprint("begin ", k.OlderThan, " ", k.Keep, " ", who == ann, " ", from))
	return h.blind
}

// Some is api.Purger: it needs two requests.
func (h *app) Some(_ context.Context, k run.Retention, only bool, after string, long time.Duration) (purge.Freed, string, error) {
	h.purged = append(h.purged, fmt.Sprint("some ", k.OlderThan, " ", k.Keep, " ", only, " ", after, " ", long < 20*time.Second))
	f := purge.Freed{Runs: 1, Versions: map[string]int{"specs": 2}, Bytes: 3}
	return f, map[string]string{"": "specs/x"}[after], h.blind
}

// A purge goes on where the last answer has stopped. Its beginning is recorded once, unless it deletes nothing.
func TestPurge(t *testing.T) {
	const route = "POST /purge"
	h := newApp()
	first := readBody[report.Purged](t, h, route, `{"older_than":"90d"}`)
	if first.Runs != 1 || first.Versions["specs"] != 2 || first.Bytes != 3 || first.Plan || first.After == "" {
		t.Errorf("%+v", first)
	}
	if second := readBody[report.Purged](t, h, route, `{"older_than":"90d","keep":7,"after":"`+first.After+`"}`); second.After != "" {
		t.Errorf("%+v", second)
	}
	if shown := readBody[report.Purged](t, h, route, `{"older_than":"48h","plan":true}`); !shown.Plan {
		t.Errorf("%+v", shown)
	}
	want := "begin 2160h0m0s 50 true 192.0.2.1, some 2160h0m0s 50 false  true, some 2160h0m0s 7 false specs/x true, some 48h0m0s 50 true  true"
	if got := strings.Join(h.purged, ", "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if h.about != "*@*" {
		t.Errorf("the role is needed for %q", h.about)
	}
	h.purged = nil
	for body, want := range map[string]string{
		`{}`:                                        `older_than: "" is not an age`,
		`{"older_than":"90"}`:                       "older_than: ",
		`{"older_than":"1h"}`:                       "older_than: 1h0m0s: give at least 24h",
		`{"older_than":"90d","keep":0}`:             "keep: 0: keep at least 1",
		`{"older_than":"90d","keep":100001}`:        "keep: 100001: give at most",
		`{"older_than":"90d","after":"x"}`:          `after: "x" is not from an answer of a purge`,
		`{"older_than":"90d","force":true}`:         `"force" is not a key`,
		`{"older_than":"90d","plan":"yes"}`:         "plan: a string found",
		`{"older_than":"90d","older_than":"1000d"}`: "older_than: this key occurs twice",
	} {
		if r, said := h.ask(t, call(route, body)); r.StatusCode != 400 || !strings.HasPrefix(said.Detail, want) || len(h.purged) > 0 {
			t.Errorf("%s: %d %s, %v", body, r.StatusCode, said.Detail, h.purged)
		}
	}
}

// readBody reads the answer to a request with a body.
func readBody[T any](t *testing.T, h *app, route, body string) (v T) {
	t.Helper()
	r, _ := h.ask(t, call(route, body))
	if err := json.Unmarshal([]byte(r.Body), &v); err != nil || r.StatusCode != 200 {
		t.Fatalf("%s %s: %d %s %v", route, body, r.StatusCode, r.Body, err)
	}
	return v
}
