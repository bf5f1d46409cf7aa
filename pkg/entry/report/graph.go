package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/diagram"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// A Graph says what comes after what: the steps of a run, or the recorded stacks of a project.
type Graph struct {
	Project string      `json:"project"`
	Run     string      `json:"run,omitempty"` // empty for a project
	Nodes   []GraphNode `json:"nodes"`         // steps in the order of the plan, or stacks sorted by name
	Edges   []GraphEdge `json:"edges"`
	Next    int         `json:"next_node,omitempty"` // in a page of the API: the number of the first node of the next page
}

// A GraphNode is a step, or a stack.
type GraphNode struct {
	Name   string     `json:"name"` // of the step, or of the stack in the project
	Stack  string     `json:"stack,omitempty"`
	Verb   string     `json:"verb,omitempty"`   // of a step
	Status run.Status `json:"status,omitempty"` // of a step
	Where  string     `json:"where,omitempty"`  // the account and region of the stack
}

// A GraphEdge says that a node comes after another one, on which it depends.
type GraphEdge struct {
	Node  string `json:"node"`
	After string `json:"after"`
}

// GraphOfRun is the graph of the steps of a run.
func GraphOfRun(r run.Run) Graph {
	g := Graph{Project: r.Project, Run: r.ID, Nodes: []GraphNode{}, Edges: []GraphEdge{}}
	for _, s := range r.Steps {
		g.Nodes = append(g.Nodes, GraphNode{s.ID, s.Node, string(s.Verb), s.Status, s.Where})
		for _, id := range r.IDs(s.After) {
			g.Edges = append(g.Edges, GraphEdge{s.ID, id})
		}
	}
	return g
}

// GraphOfRecords is the graph of the recorded stacks of a project.
func GraphOfRecords(project string, records map[string]plan.Record) Graph {
	g := Graph{Project: project, Nodes: []GraphNode{}, Edges: []GraphEdge{}}
	for _, name := range slices.Sorted(maps.Keys(records)) {
		g.Nodes = append(g.Nodes, GraphNode{Name: name, Stack: name, Where: records[name].Target.Where()})
		for _, need := range slices.Sorted(slices.Values(records[name].Needs)) {
			if _, recorded := records[need]; recorded {
				g.Edges = append(g.Edges, GraphEdge{name, need})
			}
		}
	}
	return g
}

// Diagram is the graph for drawings.
func (g Graph) Diagram() diagram.Graph {
	drawn := diagram.Graph{Title: strings.TrimSpace(g.Project + " " + g.Run)}
	numbers := make(map[string]int)
	for i, n := range g.Nodes {
		numbers[n.Name] = i
		drawn.Nodes = append(drawn.Nodes, diagram.Node{Name: n.Name, Detail: strings.TrimSpace(string(n.Status) + " " + strings.Replace(n.Where, "#", " ", 1)), Colour: colourOf(n.Status)})
	}
	for _, e := range g.Edges {
		drawn.Edges = append(drawn.Edges, diagram.Edge{From: numbers[e.After], To: numbers[e.Node]})
	}
	return drawn
}

// colourOf is how a step is painted.
func colourOf(s run.Status) diagram.Colour {
	return map[run.Status]diagram.Colour{
		run.Done: diagram.Good, run.Failed: diagram.Bad, run.Running: diagram.Active, run.Waiting: diagram.Attention, run.Skipped: diagram.Muted,
	}[s]
}

// A Timeline says when the steps of a run were started and ended.
type Timeline struct {
	Project string     `json:"project"`
	Run     string     `json:"run"`
	State   run.State  `json:"state"`
	Start   time.Time  `json:"start"`               // when the run was started, or requested if it was not started yet
	End     time.Time  `json:"end"`                 // when it ended, or now
	Steps   []StepSpan `json:"steps"`               // those that were started, by account and region and then by time
	Next    int        `json:"next_step,omitempty"` // in a page of the API: the number of the first step of the next page
}

// A StepSpan says when a step was started and ended.
type StepSpan struct {
	Step     string     `json:"step"`
	Stack    string     `json:"stack"`
	Verb     string     `json:"verb"`
	Where    string     `json:"where,omitempty"` // the account and region of the stack
	Status   run.Status `json:"status"`
	Ready    time.Time  `json:"ready,omitzero"` // when the last step had ended that it comes after
	Started  time.Time  `json:"started"`
	Ended    time.Time  `json:"ended,omitzero"`
	Critical bool       `json:"critical,omitempty"` // it is one of the steps that decided when the run ended, or has come so far
}

// TimelineOf is the timeline of a run. It needs the steps.
func TimelineOf(r run.Run, now time.Time) Timeline {
	t := Timeline{Project: r.Project, Run: r.ID, State: r.State, Start: r.Started, End: r.Ended, Steps: []StepSpan{}}
	if t.Start.IsZero() {
		t.Start = r.Requested
	}
	if t.End.IsZero() {
		t.End = now.UTC()
	}
	critical := r.LastChain()
	for _, s := range r.Steps {
		if s.Attempt == 0 {
			continue
		}
		span := StepSpan{Step: s.ID, Stack: s.Node, Verb: string(s.Verb), Where: s.Where, Status: s.Status, Ready: r.Started, Started: s.Claimed, Ended: s.Ended, Critical: slices.Contains(critical, s.Number)}
		for _, n := range s.After {
			if r.Steps[n].Ended.After(span.Ready) {
				span.Ready = r.Steps[n].Ended
			}
		}
		t.Steps = append(t.Steps, span)
	}
	slices.SortStableFunc(t.Steps, func(a, b StepSpan) int { return cmp.Or(cmp.Compare(a.Where, b.Where), a.Started.Compare(b.Started)) })
	return t
}

// Diagram is the timeline for drawings, with a group for each account and region.
func (t Timeline) Diagram() diagram.Timeline {
	drawn := diagram.Timeline{Title: t.Project + " " + t.Run, Start: t.Start, End: t.End}
	for i, s := range t.Steps {
		if i == 0 || s.Where != t.Steps[i-1].Where {
			drawn.Groups = append(drawn.Groups, diagram.Group{Name: cmp.Or(strings.Replace(s.Where, "#", " ", 1), "steps without an account")})
		}
		bar := diagram.Bar{Name: s.Step, Detail: string(s.Status), Ready: s.Ready, Start: s.Started, End: s.Ended, Colour: colourOf(s.Status), Critical: s.Critical}
		if s.Ended.IsZero() {
			bar.End = t.End
		}
		group := &drawn.Groups[len(drawn.Groups)-1]
		group.Bars = append(group.Bars, bar)
	}
	return drawn
}
