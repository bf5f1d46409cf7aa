package api

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
)

// The content types of answers other than JSON.
const (
	svgType  = "image/svg+xml"
	textType = "text/plain; charset=utf-8"
	htmlType = "text/html; charset=utf-8"
)

// pictures are the content types of drawings, by the parameter format.
func pictures() map[string]string {
	return map[string]string{"svg": svgType, "mermaid": textType, "dot": textType}
}

// drawn is the answer with a graph or a timeline, in the format that the query has. page is the page of it in JSON.
func (q question) drawn(page func() (any, error), drawings map[string]func() string) (answer, error) {
	format := q.QueryStringParameters["format"]
	draw, ok := drawings[format]
	if !ok {
		body, err := page()
		return answer{body: body}, err
	}
	if _, given := q.QueryStringParameters["from"]; given {
		return answer{}, fault.New(fault.Invalid, "from: %s has no pages: leave it out, or ask for json", format)
	}
	return answer{body: draw(), media: pictures()[format]}, nil
}

// graph answers with a graph. A page of it has the edges from its nodes to those that they come after.
func (q question) graph(g report.Graph) (answer, error) {
	d := g.Diagram()
	page := func() (any, error) {
		type noded struct {
			report.GraphNode
			After []report.GraphEdge
		}
		after := make(map[string][]report.GraphEdge)
		for _, e := range g.Edges {
			after[e.Node] = append(after[e.Node], e)
		}
		nodes := g.Nodes
		found, next, err := cut(q.number("from"), len(nodes), func(i int) noded { return noded{nodes[i], after[nodes[i].Name]} })
		g.Nodes, g.Edges, g.Next = []report.GraphNode{}, []report.GraphEdge{}, next
		for _, n := range found {
			g.Nodes, g.Edges = append(g.Nodes, n.GraphNode), append(g.Edges, n.After...)
		}
		return g, err
	}
	return q.drawn(page, map[string]func() string{"svg": d.SVG, "mermaid": d.Mermaid, "dot": d.Dot})
}

// runGraph shows which step of a run comes after which.
func (a API) runGraph(ctx context.Context, q question) (answer, error) {
	r, err := of(ctx, q.project, q.PathParameters["run"], a.Reader.Follow)
	if err != nil {
		return answer{}, err
	}
	return q.graph(report.GraphOfRun(r))
}

// projectGraph shows which recorded stack of a project depends on which.
func (a API) projectGraph(ctx context.Context, q question) (answer, error) {
	records, err := a.Records.Records(ctx, q.project)
	if err != nil {
		return answer{}, err
	}
	return q.graph(report.GraphOfRecords(q.project, records))
}

// timeline shows when the steps of a run were started and ended.
func (a API) timeline(ctx context.Context, q question) (answer, error) {
	r, err := of(ctx, q.project, q.PathParameters["run"], a.Reader.Follow)
	if err != nil {
		return answer{}, err
	}
	t := report.TimelineOf(r, time.Now())
	d := t.Diagram()
	page := func() (any, error) {
		steps := t.Steps
		t.Steps, t.Next, err = cut(q.number("from"), len(steps), func(i int) report.StepSpan { return steps[i] })
		t.Steps = append([]report.StepSpan{}, t.Steps...)
		return t, err
	}
	return q.drawn(page, map[string]func() string{"svg": d.SVG, "mermaid": d.Mermaid})
}
