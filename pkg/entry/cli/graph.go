package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/resolve"
)

// drawGraph shows the stacks of a project and their dependencies.
func drawGraph(ctx context.Context, c *call) (int, error) {
	_, loaded, err := c.load(ctx)
	if err != nil {
		return c.refuse("graph", err)
	}
	p := newPicture(loaded)
	switch c.flags.output {
	case "json":
		return ExitOK, json.NewEncoder(c.Out).Encode(p)
	case "dot":
		_, err = fmt.Fprint(c.Out, p.dot())
	case "mermaid":
		_, err = fmt.Fprint(c.Out, p.mermaid())
	default:
		_, err = fmt.Fprint(c.Out, p.tree())
	}
	return ExitOK, err
}

// A picture is a project's graph, as it is drawn.
type picture struct {
	Project string         `json:"project"`
	Stacks  []string       `json:"stacks"` // sorted
	Edges   []resolve.Edge `json:"edges"`

	users map[string][]string        // by what they come after, sorted
	why   map[string]map[string]bool // reasons, by "node needs"
}

// newPicture makes a picture of a project.
func newPicture(l format.Loaded) picture {
	p := picture{
		Project: l.Project.ID(), Stacks: slices.Sorted(maps.Keys(l.Project.Nodes)), Edges: append([]resolve.Edge{}, l.Edges...),
		users: make(map[string][]string), why: make(map[string]map[string]bool),
	}
	for _, name := range p.Stacks {
		for _, need := range l.Project.Nodes[name].Needs {
			p.users[need] = append(p.users[need], name)
		}
	}
	for _, e := range l.Edges {
		key := e.Node + " " + e.Needs
		if p.why[key] == nil {
			p.why[key] = make(map[string]bool)
		}
		p.why[key][strings.TrimSpace(string(e.Cause)+" "+e.What)] = true
	}
	return p
}

// reasons says why a stack comes after another.
func (p picture) reasons(node, need string) string {
	return strings.Join(slices.Sorted(maps.Keys(p.why[node+" "+need])), ", ")
}

// tree draws each stack below what it comes after. A stack that comes after
// several is drawn in full below the first of them, and only named below the
// others.
func (p picture) tree() string {
	var b strings.Builder
	needed := make(map[string]bool)
	for _, users := range p.users {
		for _, u := range users {
			needed[u] = true
		}
	}
	fmt.Fprintf(&b, "%s: %s, %s\n", p.Project, counted(len(p.Stacks), "stack"), counted(p.pairs(), "edge"))
	drawn := make(map[string]bool)
	for _, name := range p.Stacks {
		if !needed[name] {
			fmt.Fprintln(&b, name)
			p.below(&b, name, "", drawn)
		}
	}
	return b.String()
}

// counted is a number of things: "1 edge", "2 edges".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// below draws the users of a stack.
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

// pairs counts the pairs of stacks that have an edge.
func (p picture) pairs() int {
	n := 0
	for _, users := range p.users {
		n += len(users)
	}
	return n
}

// dot draws the graph in Graphviz's language.
func (p picture) dot() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR;\n  node [shape=box];\n", p.Project)
	for _, name := range p.Stacks {
		fmt.Fprintf(&b, "  %q;\n", name)
	}
	for _, name := range p.Stacks {
		for _, u := range p.users[name] {
			fmt.Fprintf(&b, "  %q -> %q [label=%q];\n", name, u, p.reasons(u, name))
		}
	}
	return b.String() + "}\n"
}

// mermaid draws the graph in Mermaid's language, which GitHub shows.
func (p picture) mermaid() string {
	var b strings.Builder
	b.WriteString("graph LR\n")
	number := make(map[string]int)
	for i, name := range p.Stacks {
		number[name] = i
		fmt.Fprintf(&b, "  s%d[\"%s\"]\n", i, name)
	}
	for _, name := range p.Stacks {
		for _, u := range p.users[name] {
			fmt.Fprintf(&b, "  s%d --> s%d\n", number[name], number[u])
		}
	}
	return b.String()
}
