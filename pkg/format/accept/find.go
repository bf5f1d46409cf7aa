package accept

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
)

// A path leads to a value from the top of a template: the keys of mappings, and the places of items in lists, from 0.
type path []any

// with is the path of what is in a value.
func (p path) with(step any) path { return append(slices.Clone(p), step) }

// compare orders paths: items of a list by their places, and all else by names.
func (p path) compare(other path) int {
	return slices.CompareFunc(p, other, func(a, b any) int {
		i, item := a.(int)
		j, also := b.(int)
		if item && also {
			return cmp.Compare(i, j)
		}
		x, _ := a.(string)
		y, _ := b.(string)
		return cmp.Compare(x, y)
	})
}

// A place is where a finding is in a template.
type place struct {
	path   path
	node   *yaml.Node // nil if nothing is there
	parent *yaml.Node // the mapping or list that would have it then

	stopped bool   // the node is a function, or an item that makes the places in its list uncertain
	rest    string // the property within the node, if it is a function
	actual  any    // the live value there
	why     string // the place is of no use, otherwise
}

// find returns where a property is, which package difference has written. added says that the template did not have it.
func find(p place, rest string, added bool) place {
	n := document.Resolve(p.node)
	if _, _, is := function(n); is {
		p.stopped, p.rest = true, rest
		return p
	}
	switch {
	case rest == "":
		return p
	case n.Kind == yaml.MappingNode:
		return findKey(p, n, rest, added)
	case n.Kind == yaml.SequenceNode && strings.HasPrefix(rest, "["):
		return findItem(p, n, rest, added)
	}
	p.why = missing
	return p
}

// findKey is find in a mapping. A key may have dots, so all keys with which the property begins are tried, the longest first.
func findKey(p place, n *yaml.Node, rest string, added bool) place {
	pairs := slices.DeleteFunc(document.Pairs(n), func(pair document.Pair) bool {
		_, begins := cut(rest, pair.Key.Value)
		return !begins
	})
	slices.SortStableFunc(pairs, func(a, b document.Pair) int { return len(b.Key.Value) - len(a.Key.Value) })
	first := place{path: p.path, node: n, why: missing}
	for i, pair := range pairs {
		after, _ := cut(rest, pair.Key.Value)
		found := find(place{path: p.path.with(pair.Key.Value), node: pair.Value}, after, added)
		if found.why == "" && (found.node != nil || found.stopped) {
			return found
		}
		if i == 0 {
			first = found
		}
	}
	if len(pairs) == 0 && !strings.ContainsAny(rest, ".[") {
		return place{path: p.path.with(rest), parent: n}
	}
	return first
}

// cut cuts a key from the beginning of a property. A key that is a number is in brackets.
func cut(property, key string) (after string, begins bool) {
	after, begins = strings.CutPrefix(property, key)
	if !begins {
		after, begins = strings.CutPrefix(property, "["+key+"]")
	}
	switch {
	case !begins || after == "" || after[0] == '[':
		return after, begins
	}
	return strings.CutPrefix(after, ".")
}

// findItem is find in a list.
func findItem(p place, n *yaml.Node, rest string, added bool) place {
	if at := uncertain(n); at != nil {
		return place{path: p.path, node: at, stopped: true, rest: rest}
	}
	number, after, _ := strings.Cut(rest[1:], "]")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 {
		p.why = missing
		return p
	}
	after = strings.TrimPrefix(after, ".")
	items := n.Content
	switch here := i < len(items); {
	case after == "" && (!here || added && !empty(items[i])):
		return place{path: p.path.with(i), parent: n}
	case here:
		return find(place{path: p.path.with(i), node: items[i]}, after, added)
	}
	p.why = missing
	return p
}

// empty reports whether a value is the empty text.
func empty(n *yaml.Node) bool {
	n = document.Resolve(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == ""
}

// uncertain returns an item of a list that may be no item of the property, or several; nil if there is none.
func uncertain(list *yaml.Node) *yaml.Node {
	for _, item := range list.Content {
		switch name, argument, is := function(document.Resolve(item)); {
		case !is:
		case name == "Fn::If", name == "Fn::Transform", strings.HasPrefix(name, "Fn::ForEach"), name == "Ref" && argument.Value == "AWS::NoValue":
			return item
		}
	}
	return nil
}

// function returns the full name of the intrinsic function that a node is, and its argument.
func function(n *yaml.Node) (name string, argument *yaml.Node, is bool) {
	if tag := document.Tagged(n); tag != "" {
		name = strings.TrimPrefix(tag, "!")
		if name != "Ref" && name != "Condition" {
			name = "Fn::" + name
		}
		return name, n, true
	}
	for _, pair := range document.Pairs(n) {
		if key := pair.Key.Value; key == "Ref" && len(n.Content) == 2 || strings.HasPrefix(key, "Fn::") {
			return key, document.Resolve(pair.Value), true
		}
	}
	return "", nil, false
}

// functionIn returns the first function in a value, or the value itself if it is one; nil if there is none.
func functionIn(n *yaml.Node) *yaml.Node {
	n = document.Resolve(n)
	if _, _, is := function(n); is {
		return n
	}
	for _, child := range n.Content {
		if at := functionIn(child); at != nil {
			return at
		}
	}
	return nil
}
