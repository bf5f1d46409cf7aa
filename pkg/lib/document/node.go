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
