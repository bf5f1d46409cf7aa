package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/lib/diagram"
)

// drawGraph shows the stacks of a project and their dependencies.
func drawGraph(ctx context.Context, c *call) (int, error) {
	l, err := c.load(ctx)
	if err != nil {
		return c.refuse(err)
	}
	for _, w := range l.Warnings {
		fmt.Fprintln(c.Err, "warning: "+w.String())
	}
	p := newPicture(l.Loaded)
	if c.flags.output == "json" {
		return ExitOK, json.NewEncoder(c.Out).Encode(p)
	}
	g := p.diagram()
	drawing := map[string]func() string{"text": p.tree, "dot": g.Dot, "mermaid": g.Mermaid, "svg": g.SVG}[c.flags.output]
	_, err = fmt.Fprint(c.Out, drawing())
	return ExitOK, err
}

// A picture is a project's graph, as it is drawn.
type picture struct {
	Project string         `json:"project"`
	Stacks  []string       `json:"stacks"` // sorted
	Edges   []resolve.Edge `json:"edges"`

	roots []string            // the stacks without dependencies
	users map[string][]string // the dependents of each stack, sorted
	pairs int                 // of stacks that have an edge
	why   map[string][]string // sorted reasons, by "node needs"
}

// newPicture makes a picture of a project.
func newPicture(l format.Loaded) picture {
	p := picture{
		Project: l.Project.ID(), Stacks: slices.Sorted(maps.Keys(l.Project.Nodes)), Edges: append([]resolve.Edge{}, l.Edges...),
		users: make(map[string][]string), why: make(map[string][]string),
	}
	for _, name := range p.Stacks {
		needs := l.Project.Nodes[name].Needs
		if len(needs) == 0 {
			p.roots = append(p.roots, name)
		}
		for _, need := range needs {
			p.users[need] = append(p.users[need], name)
			p.pairs++
		}
	}
	for _, e := range l.Edges {
		key := e.Node + " " + e.Needs
		p.why[key] = append(p.why[key], strings.TrimSpace(string(e.Cause)+" "+e.What))
	}
	for _, reasons := range p.why {
		slices.Sort(reasons)
	}
	return p
}

// reasons returns why a stack depends on another.
func (p picture) reasons(node, need string) string {
	return strings.Join(slices.Compact(p.why[node+" "+need]), ", ")
}

// tree draws each stack below its dependencies. A stack with several dependencies is
// drawn in full below the first of them, and only named below the others.
func (p picture) tree() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s\n", p.Project, term.Plural(len(p.Stacks), "stack"), term.Plural(p.pairs, "edge"))
	drawn := make(map[string]bool)
	for _, name := range p.roots {
		fmt.Fprintln(&b, name)
		p.below(&b, name, "", drawn)
	}
	return b.String()
}

// below draws the dependents of a stack.
func (p picture) below(b *strings.Builder, name, indent string, drawn map[string]bool) {
	for i, u := range p.users[name] {
		wood, deeper := "├─ ", "│  "
		if i == len(p.users[name])-1 {
			wood, deeper = "└─ ", "   "
		}
		again := ""
		if drawn[u] && len(p.users[u]) > 0 {
			again = " …"
		}
		fmt.Fprintf(b, "%s%s%s  (%s)%s\n", indent, wood, u, p.reasons(u, name), again)
		if !drawn[u] {
			drawn[u] = true
			p.below(b, u, indent+deeper, drawn)
		}
	}
}

// diagram is the graph for drawings.
func (p picture) diagram() diagram.Graph {
	g := diagram.Graph{Title: p.Project}
	numbers := make(map[string]int)
	for i, name := range p.Stacks {
		g.Nodes, numbers[name] = append(g.Nodes, diagram.Node{Name: name}), i
	}
	for i, name := range p.Stacks {
		for _, u := range p.users[name] {
			g.Edges = append(g.Edges, diagram.Edge{From: i, To: numbers[u], Label: p.reasons(u, name)})
		}
	}
	return g
}
