package document

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// A merger puts the pairs of other mappings in the place of merge keys. An alias comes after the
// node that it refers to, so that its merge keys are gone already, or it is in it: a circle.
// https://yaml.org/type/merge.html
type merger struct {
	*inspector
	state map[*yaml.Node]bool // of nodes with an anchor: whether all in it is merged
	pairs int
}

func (m *merger) visit(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		return
	}
	if n.Anchor != "" {
		m.state[n] = false
	}
	for _, child := range n.Content {
		m.visit(child)
	}
	if n.Kind == yaml.MappingNode {
		m.merge(n)
	}
	if n.Anchor != "" {
		m.state[n] = true
	}
}

// merge replaces the merge key of a mapping.
func (m *merger) merge(n *yaml.Node) {
	var at int
	found := 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() == "!!merge" {
			if found++; found > 1 {
				m.add(n.Content[i], "the key << stands here a second time: write one list of all mappings")
				return
			}
			at = i
		}
	}
	if found == 0 {
		return
	}
	value := n.Content[at+1]
	n.Content = slices.Delete(slices.Clone(n.Content), at, at+2)
	seen := make(map[string]bool)
	for _, p := range Pairs(n) {
		seen[p.Key.Value] = true
	}
	from := []*yaml.Node{value}
	if list := Resolve(value); list.Kind == yaml.SequenceNode {
		from = list.Content
	}
	var pairs []*yaml.Node
	for _, one := range from {
		if m.full {
			return
		}
		pairs = append(pairs, m.pairsOf(one, seen)...)
	}
	n.Content = slices.Insert(n.Content, at, pairs...)
}

// pairsOf returns the keys and values of one mapping whose keys have not been seen.
func (m *merger) pairsOf(from *yaml.Node, seen map[string]bool) (pairs []*yaml.Node) {
	mapping := Resolve(from)
	switch merged, anchored := m.state[mapping]; {
	case mapping.Kind != yaml.MappingNode:
		m.add(from, "<<: expected a mapping, or a list of mappings, found %s", Kind(mapping))
		return nil
	case from.Kind == yaml.MappingNode && from.Anchor != "":
		m.add(from, "<<: a mapping with an anchor (&%s) cannot be written here: write it where it is not merged", from.Anchor)
		return nil
	case anchored && !merged:
		m.add(from, "the alias *%s is inside the value that it refers to: this would never end", from.Value)
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if seen[Resolve(key).Value] {
			continue
		}
		seen[Resolve(key).Value] = true
		if from.Kind == yaml.AliasNode && (value.Kind == yaml.MappingNode || value.Kind == yaml.SequenceNode) {
			if m.merged == nil {
				m.merged = make(map[*yaml.Node]bool)
			}
			m.merged[value] = true
			value = &yaml.Node{Kind: yaml.AliasNode, Value: "<<", Alias: value, Line: value.Line, Column: value.Column}
		}
		pairs = append(pairs, key, value)
		if m.pairs++; m.pairs > MaxNodes {
			m.full = true
			m.add(from, "merge keys make more than %d pairs: use fewer", MaxNodes)
			return nil
		}
	}
	return pairs
}
