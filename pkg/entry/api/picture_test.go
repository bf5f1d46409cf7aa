package api_test

import (
	"fmt"
	"slices"
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

// A large graph and a large timeline have pages, which together are all of it: each edge is on the page of its node. Drawings have
// none, and one that is too large is refused.
func TestLargeGraphsHavePages(t *testing.T) {
	h := deploying(4)
	r := &h.runs[0]
	for i := range r.Steps {
		r.Steps[i].ID = fmt.Sprint("s", i, "/", strings.Repeat("x", 1<<20))
		r.Steps[i].After = []int{0}[:min(i, 1)]
	}
	var graph report.Graph
	for next, pages := 0, 0; pages == 0 || next > 0; pages++ {
		got := read[report.Graph](t, h, show+"/graph", fmt.Sprint("query.from=", next))
		if next = got.Next; next > 0 && len(got.Nodes) == 4 {
			t.Fatal("the page has all nodes, and says that there are more")
		}
		graph.Nodes, graph.Edges = append(graph.Nodes, got.Nodes...), append(graph.Edges, got.Edges...)
	}
	if want := report.GraphOfRun(*r); len(want.Edges) != 3 || !slices.Equal(graph.Nodes, want.Nodes) || !slices.Equal(graph.Edges, want.Edges) {
		t.Errorf("%d nodes and %d edges", len(graph.Nodes), len(graph.Edges))
	}
	var spans []report.StepSpan
	pages := 0
	for next := 0; pages == 0 || next > 0; pages++ {
		got := read[report.Timeline](t, h, show+"/timeline", fmt.Sprint("query.from=", next))
		next, spans = got.Next, append(spans, got.Steps...)
	}
	if pages < 2 || !slices.Equal(spans, report.TimelineOf(*r, noon).Steps) {
		t.Errorf("%d pages with %d steps", pages, len(spans))
	}
	if r, said := h.ask(t, call(show+"/graph", "", "query.format=svg", "query.from=2")); r.StatusCode != 400 || said.Detail != "from: svg has no pages: leave it out, or ask for json" {
		t.Errorf("%d %s", r.StatusCode, said.Detail)
	}
	if r, said := h.ask(t, call(show+"/graph", "", "query.format=svg")); r.StatusCode != 406 || !strings.Contains(said.Detail, "ask for format=json, which has pages") {
		t.Errorf("%d %.200s", r.StatusCode, r.Body)
	}
}
