package document

import (
	"cmp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Pair is one entry of a mapping. Value is as written: it may be an alias.
type Pair struct{ Key, Value *yaml.Node }

// Resolve follows an alias to what it stands for; any other node is itself.
// It ends for whatever Read returned. It gives nil for nil.
func Resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Pairs returns the entries of a mapping in the order in which they are
// written, keys resolved; nil when the node is not a mapping.
func Pairs(n *yaml.Node) []Pair {
	n = Resolve(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	pairs := make([]Pair, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		pairs = append(pairs, Pair{Resolve(n.Content[i]), n.Content[i+1]})
	}
	return pairs
}

// Items returns the items of a list, each as written; nil when the node is not a list.
func Items(n *yaml.Node) []*yaml.Node {
	n = Resolve(n)
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// Lookup returns the value of a key, resolved, and whether the node is a
// mapping that has it.
func Lookup(n *yaml.Node, key string) (*yaml.Node, bool) {
	for _, p := range Pairs(n) {
		if p.Key.Value == key {
			return Resolve(p.Value), true
		}
	}
	return nil, false
}

// Value returns a node as encoding/json has it, with each scalar as the given function has it.
func Value(n *yaml.Node, scalar func(*yaml.Node) any) any {
	switch n = Resolve(n); n.Kind {
	case yaml.MappingNode:
		all := make(map[string]any)
		for _, p := range Pairs(n) {
			all[p.Key.Value] = Value(p.Value, scalar)
		}
		return all
	case yaml.SequenceNode:
		all := []any{}
		for _, item := range Items(n) {
			all = append(all, Value(item, scalar))
		}
		return all
	}
	return scalar(n)
}

// Null says whether the node is nothing: an empty value, ~ or null.
func Null(n *yaml.Node) bool {
	n = Resolve(n)
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// Tagged returns a node's own tag, such as "!Ref", or "" when it bears none or
// one of YAML's own (!!str, !!int …).
func Tagged(n *yaml.Node) string {
	n = Resolve(n)
	if n == nil || n.Style&yaml.TaggedStyle == 0 || strings.HasPrefix(n.Tag, "!!") {
		return ""
	}
	return n.Tag
}

// Kind says in words what a node is: "a mapping", "a list", "text", "a whole
// number", "a number", "true or false", "nothing".
func Kind(n *yaml.Node) string {
	n = Resolve(n)
	switch {
	case n == nil:
		return "nothing"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	scalars := map[string]string{"!!null": "nothing", "!!bool": "true or false", "!!int": "a whole number", "!!float": "a number"}
	return cmp.Or(scalars[n.ShortTag()], "text")
}

// Child returns the value of a key of a mapping, and creates it if there is none. It is nil if the value is of another kind.
func Child(of *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	n, ok := Lookup(of, key)
	if !ok || Null(n) {
		n = &yaml.Node{Kind: kind}
		Set(of, Text(key), n)
	}
	if n = Resolve(n); n.Kind != kind {
		return nil
	}
	return n
}

// Set sets the value of a key of a mapping.
func Set(of, key, value *yaml.Node) {
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == key.Value {
			of.Content[i+1] = value
			return
		}
	}
	of.Content = append(of.Content, key, value)
}

// Text is a node of a text, which YAML 1.1 takes for nothing else.
func Text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: yaml.DoubleQuotedStyle}
}
