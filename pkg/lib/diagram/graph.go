// Package diagram draws graphs and timelines as SVG, and in the languages of Mermaid and Graphviz.
package diagram

import (
	"fmt"
	"strings"
)

// A Graph is a directed graph without cycles; an edge that makes a cycle is drawn backwards.
type Graph struct {
	Title string
	Nodes []Node
	Edges []Edge
}

// A Node is a box of a graph.
type Node struct {
	Name   string
	Detail string // is shown when the pointer rests on the node
	Colour Colour
}

// An Edge leads from a node to another one that comes after it, by their numbers.
type Edge struct {
	From, To int
	Label    string
}

// A Colour says how something is; each has a fill and a line.
type Colour int

// The colours.
const (
	Neutral Colour = iota
	Good
	Bad
	Active
	Attention
	Muted
)

// shade is how a colour is painted: readable text in the line's colour stands on the fill.
type shade struct{ fill, line string }

func (c Colour) shade() shade {
	return map[Colour]shade{
		Neutral: {"#f6f8fa", "#424a53"}, Good: {"#dafbe1", "#116329"}, Bad: {"#ffebe9", "#a40e26"},
		Active: {"#ddf4ff", "#0550ae"}, Attention: {"#fff8c5", "#7d4e00"}, Muted: {"#ffffff", "#57606a"},
	}[c]
}

// Dot is the graph in the language of Graphviz.
func (g Graph) Dot() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR;\n  node [shape=box];\n", g.Title)
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %q;\n", n.Name)
	}
	for _, e := range g.Edges {
		label := ""
		if e.Label != "" {
			label = fmt.Sprintf(" [label=%q]", e.Label)
		}
		fmt.Fprintf(&b, "  %q -> %q%s;\n", g.Nodes[e.From].Name, g.Nodes[e.To].Name, label)
	}
	return b.String() + "}\n"
}

// Mermaid is the graph in the language of Mermaid, which GitHub shows.
func (g Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("graph LR\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&b, "  s%d[\"%s\"]\n", i, quoted(n.Name))
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  s%d --> s%d\n", e.From, e.To)
	}
	return b.String()
}

// quoted is a text between quotation marks in Mermaid, which has no other escapes than these entities.
func quoted(text string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " ").Replace(text)
}
