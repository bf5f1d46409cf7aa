package api

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
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

// drawn is the answer with a graph or a timeline, in the format that the query has.
func (q question) drawn(body any, drawings map[string]func() string) answer {
	format := q.QueryStringParameters["format"]
	if draw, ok := drawings[format]; ok {
		return answer{body: draw(), media: pictures()[format]}
	}
	return answer{body: body}
}

// graph answers with a graph.
func (q question) graph(g report.Graph) answer {
	d := g.Diagram()
	return q.drawn(g, map[string]func() string{"svg": d.SVG, "mermaid": d.Mermaid, "dot": d.Dot})
}

// runGraph shows which step of a run comes after which.
func (a API) runGraph(ctx context.Context, q question) (answer, error) {
	r, err := of(ctx, q.project, q.PathParameters["run"], a.Reader.Follow)
	if err != nil {
		return answer{}, err
	}
	return q.graph(report.GraphOfRun(r)), nil
}

// projectGraph shows which recorded stack of a project depends on which.
func (a API) projectGraph(ctx context.Context, q question) (answer, error) {
	records, err := a.Records.Records(ctx, q.project)
	if err != nil {
		return answer{}, err
	}
	return q.graph(report.GraphOfRecords(q.project, records)), nil
}

// timeline shows when the steps of a run were started and ended.
func (a API) timeline(ctx context.Context, q question) (answer, error) {
	r, err := of(ctx, q.project, q.PathParameters["run"], a.Reader.Follow)
	if err != nil {
		return answer{}, err
	}
	t := report.TimelineOf(r, time.Now())
	d := t.Diagram()
	return q.drawn(t, map[string]func() string{"svg": d.SVG, "mermaid": d.Mermaid}), nil
}
