package document

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// maxErrors is how many errors of one file are reported.
const maxErrors = 100

// size is what a node is with every alias in it written out.
type size struct{ nodes, text, height int }

// inspector visits every node once. An alias comes after the node that it
// refers to, so that its size is already known, or is being found: a circle.
type inspector struct {
	file   string
	sizes  map[*yaml.Node]size // of nodes with an anchor, or that are merged; of zero nodes while being found
	merged map[*yaml.Node]bool
	errors Errors
	full   bool // the limits are exceeded; reported once

	repeating bool   // of a key that stands several times the last one counts
	repeated  Errors // those that count
}

func (in *inspector) visit(n *yaml.Node) size {
	if n.Kind == yaml.AliasNode {
		return in.alias(n)
	}
	again := n.Anchor != "" || in.merged[n]
	if again {
		in.sizes[n] = size{}
	}
	s := size{nodes: 1, text: len(n.Value)}
	if n.Kind == yaml.MappingNode {
		in.keys(n)
	}
	for _, child := range n.Content {
		c := in.visit(child)
		// Capped, for a doubling at each of many anchors would overflow.
		s.nodes = min(s.nodes+c.nodes, MaxExpanded+1)
		s.text = min(s.text+c.text, MaxText+1)
		s.height = max(s.height, c.height)
	}
	if n.Kind != yaml.ScalarNode {
		s.height = min(s.height+1, MaxDepth+1)
	}
	in.limit(n, s)
	if again {
		in.sizes[n] = s
	}
	return s
}

func (in *inspector) alias(n *yaml.Node) size {
	s := in.sizes[n.Alias]
	if s.nodes == 0 {
		in.add(n, "the alias *%s is inside the value that it refers to: this would never end", n.Value)
		return size{nodes: 1}
	}
	return s
}

func (in *inspector) limit(n *yaml.Node, s size) {
	if in.full {
		return
	}
	switch {
	case s.nodes > MaxExpanded:
		in.add(n, "aliases written out make more than %d keys and values: use fewer", MaxExpanded)
	case s.text > MaxText:
		in.add(n, "aliases written out make more than %d bytes: use fewer", MaxText)
	case s.height > MaxDepth:
		in.add(n, "lists and mappings are nested too deep: at most %d levels are read", MaxDepth)
	default:
		return
	}
	in.full = true
}

func (in *inspector) keys(n *yaml.Node) {
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		written := n.Content[i]
		key := Resolve(written)
		switch {
		case key == nil || key.Kind != yaml.ScalarNode:
			in.add(written, "a key must be plain text, not %s", Kind(key))
		case key.ShortTag() == "!!merge":
			in.add(written, "merge keys (<<) are not supported: write the keys out")
		case seen[key.Value] != nil && in.repeating:
			in.repeated = append(in.repeated, At(in.file, written,
				"the key %q stands here a second time: this one counts, and not that of line %d",
				key.Value, seen[key.Value].Line))
			i = drop(n, seen[key.Value], i)
			seen[key.Value] = written
		case seen[key.Value] != nil:
			in.add(written, "the key %q stands here a second time: it is already at line %d", key.Value, seen[key.Value].Line)
		default:
			seen[key.Value] = written
		}
	}
}

// drop removes the pair of a key from a mapping, and returns the index i of a later key after that.
func drop(n *yaml.Node, key *yaml.Node, i int) int {
	at := slices.Index(n.Content, key)
	n.Content = slices.Delete(n.Content, at, at+2)
	return i - 2
}

func (in *inspector) add(n *yaml.Node, format string, args ...any) {
	if len(in.errors) < maxErrors {
		in.errors.Add(in.file, n, format, args...)
	}
}
