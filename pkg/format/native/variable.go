package native

import (
	"encoding/json"

	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/function"
	"go.yaml.in/yaml/v4"
)

// variable reads the value of a variable, which holds no references: a text, a number, true or
// false, or lists and maps of these. Text is what a parameter gets that is the variable; a map has none.
func (p *parser) variable(what string, n *yaml.Node) (declared.Value, bool) {
	v := declared.Value{At: p.at(n), Kind: document.Kind(n)}
	text, size := n, 0
	data, ok := p.data(what, n, 0, &size)
	if !ok {
		return v, false
	}
	_, isMap := data.(map[string]any)
	if !isMap && p.isFlat(n) {
		if v, ok = p.scalars(what, text); !ok {
			return v, false
		}
		if joined, _ := v.Literal(); len(joined) > declared.MaxValue && !v.List {
			p.Add(v.At, "%s: %d bytes: CloudFormation accepts at most %d in a value", what, len(joined), declared.MaxValue)
			return v, false
		}
	} else {
		v.List = !isMap
		v.Items = [][]declared.Part{}
	}
	if _, isText := data.(string); !isText {
		v.Data = data
	}
	return v, true
}

// isFlat reports whether a value is a scalar, or a list of scalars.
func (p *parser) isFlat(n *yaml.Node) bool {
	if n = document.Resolve(n); n.Kind == yaml.ScalarNode {
		return true
	}
	for _, item := range n.Content {
		if document.Resolve(item).Kind != yaml.ScalarNode {
			return false
		}
	}
	return n.Kind == yaml.SequenceNode
}

// data reads a value as functions have it. Size is how many bytes the variable has so far.
func (p *parser) data(what string, n *yaml.Node, depth int, size *int) (any, bool) {
	if !p.plain(what, n) {
		return nil, false
	}
	n = document.Resolve(n)
	if depth > function.MaxDepth {
		p.Add(p.at(n), "%s: lists and maps are nested too deep: at most %d levels are read", what, function.MaxDepth)
		return nil, false
	}
	switch *size += 16; n.Kind {
	case yaml.SequenceNode:
		items := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			one, ok := p.data(what, item, depth+1, size)
			if !ok {
				return nil, false
			}
			items = append(items, one)
		}
		return items, true
	case yaml.MappingNode:
		values := make(map[string]any, len(n.Content)/2)
		for _, pair := range document.Pairs(n) {
			one, ok := p.data(what+"."+problem.Short(pair.Key.Value), pair.Value, depth+1, size)
			if !ok {
				return nil, false
			}
			*size += len(pair.Key.Value)
			values[pair.Key.Value] = one
		}
		return values, true
	}
	v, ok := p.scalar(what, n)
	if !ok {
		return nil, false
	}
	text, plain := v.Literal()
	switch *size += len(text); {
	case !plain:
		p.Add(v.At, "%s: a variable cannot hold references: write them where the variable is used", what)
		return nil, false
	case *size > declared.MaxWritten && depth > 0:
		p.Add(v.At, "%s: its lists and maps take more than %d KB: write them into a file, and from_json(file('name.json'))", what, declared.MaxWritten>>10)
		return nil, false
	case v.Kind == "true or false" && (text == "true" || text == "false"):
		return text == "true", true
	case (v.Kind == "a whole number" || v.Kind == "a number") && json.Valid([]byte(text)):
		return json.Number(text), true
	}
	return text, true
}
