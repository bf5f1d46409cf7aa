package api_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// A graph is answered in each format, with its own content type, and says the same in each.
func TestGraphsInAllFormats(t *testing.T) {
	h := deploying(3)
	h.runs[0].Steps[2].After = []int{0, 1}
	h.runs[0].Steps[1].Status = run.Failed
	got := read[report.Graph](t, h, show+"/graph")
	if len(got.Nodes) != 3 || got.Nodes[1].Status != run.Failed || len(got.Edges) != 2 || got.Edges[1] != (report.GraphEdge{Node: "s2/create", After: "s1/create"}) {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct{ route, format, kind, has string }{
		{show + "/graph", "svg", "image/svg+xml", "s2/create after s1/create"},
		{show + "/graph", "mermaid", "text/plain; charset=utf-8", "s1 --> s2"},
		{show + "/graph", "dot", "text/plain; charset=utf-8", `"s1/create" -> "s2/create";`},
		{show + "/graph", "json", "application/json", `"nodes"`},
		{show + "/timeline", "svg", "image/svg+xml", "s2/create"},
		{show + "/timeline", "mermaid", "text/plain; charset=utf-8", "gantt"},
		{"GET" + ofShop + "/graph", "svg", "image/svg+xml", "<title>a</title>"},
		{"GET" + ofShop + "/graph", "mermaid", "text/plain; charset=utf-8", `s0["a"]`},
	} {
		r, err := h.api().Answer(t.Context(), call(c.route, "", "query.format="+c.format))
		if err != nil || r.StatusCode != 200 || r.Headers["content-type"] != c.kind || !strings.Contains(r.Body, c.has) || strings.Contains(r.Body, "secret") || r.Headers["etag"] == "" {
			t.Errorf("%s as %s: %d %v %s", c.route, c.format, r.StatusCode, r.Headers, r.Body)
		}
		if !strings.HasPrefix(r.Headers["content-security-policy"], "default-src 'none'") || r.Headers["x-content-type-options"] != "nosniff" {
			t.Errorf("%s: a browser may execute it: %v", c.route, r.Headers)
		}
	}
	if r, said := h.ask(t, call(show+"/timeline", "", "query.format=dot")); r.StatusCode != 400 || said.Detail != `format: "dot": it is one of json, svg, mermaid` {
		t.Errorf("%d %s", r.StatusCode, r.Body)
	}
}

// A timeline says since when a step could have started, and which steps decided when the run ended. A step that runs ends now.
func TestTimelineShowsWhatDecidedTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := deploying(4)
		r := &h.runs[0]
		r.Steps[2].After, r.Steps[2].Claimed = []int{0, 1}, noon.Add(10*time.Second)
		r.Steps[2].Ended = noon.Add(20 * time.Second)
		r.Steps[3].Attempt = 0
		got := read[report.Timeline](t, h, show+"/timeline")
		if len(got.Steps) != 3 || got.Steps[0].Critical || !got.Steps[1].Critical || !got.Steps[2].Critical || !got.Steps[2].Ready.Equal(noon.Add(4*time.Second)) || !got.End.Equal(time.Now()) {
			t.Errorf("%+v", got)
		}
		r.Steps[0].Status, r.Steps[0].Ended = run.Running, time.Time{}
		if got := read[report.Timeline](t, h, show+"/timeline"); !got.Steps[0].Critical || got.Steps[1].Critical || got.Steps[2].Critical {
			t.Errorf("the first step still runs: %+v", got)
		}
	})
}
