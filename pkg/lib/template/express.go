package template

import (
	"encoding/json"
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// express makes an expression of a node. In the Conditions section a mapping
// {Condition: name} is a call; elsewhere it is a key as in IAM policies.
func (p *parser) express(n *yaml.Node, block string) *Expr {
	n = document.Resolve(n)
	x := &Expr{Line: n.Line, Column: n.Column, block: block}
	if tag := document.Tagged(n); tag != "" {
		bare := *n
		bare.Tag, bare.Style = "", n.Style&^yaml.TaggedStyle
		if n.Kind == yaml.ScalarNode {
			bare.Tag, bare.Style = "!!str", yaml.SingleQuotedStyle
		}
		x.form, x.name = call, "Fn::"+strings.TrimPrefix(tag, "!")
		if tag == "!Ref" || tag == "!Condition" {
			x.name = tag[1:]
		}
		p.arguments(x, &bare)
		return x
	}
	switch n.Kind {
	case yaml.SequenceNode:
		x.form = list
		for _, item := range n.Content {
			x.items = append(x.items, p.express(item, block))
		}
	case yaml.MappingNode:
		p.mapping(x, n)
	default:
		x.form, x.value, x.vague = scalar, p.literal(n, block), ambiguous(n)
	}
	return x
}

func (p *parser) mapping(x *Expr, n *yaml.Node) {
	pairs := document.Pairs(n)
	for _, pair := range pairs {
		function := pair.Key.Value
		switch {
		case function == "Fn::Transform" || strings.HasPrefix(function, "Fn::ForEach::"):
			// Both stand beside other keys, and what comes of them is not known here.
			p.opaque(x, n, function)
			return
		case len(pairs) == 1 && (function == "Ref" || strings.HasPrefix(function, "Fn::") ||
			function == "Condition" && x.block == "Conditions"):
			x.form, x.name = call, function
			p.arguments(x, document.Resolve(pair.Value))
			return
		case strings.HasPrefix(function, "Fn::"):
			p.fail(pair.Key, "Template format error: %s must be the only key of its mapping", function)
		}
	}
	x.form = mapping
	for _, pair := range pairs {
		x.keys = append(x.keys, pair.Key.Value)
		x.items = append(x.items, p.express(pair.Value, x.block))
	}
}

// opaque makes a call whose value is not known, of a mapping that holds a
// macro; its contents are still checked.
func (p *parser) opaque(x *Expr, n *yaml.Node, function string) {
	x.form, x.name = call, "Fn::Transform"
	p.macro(n, function)
	for _, pair := range document.Pairs(n) {
		p.loop(pair.Key)
		x.items = append(x.items, p.express(pair.Value, x.block))
	}
}

// literal gives a scalar's value. What is no number in JSON (012, 0x1f, an
// account with a leading zero) stays text, as it is written.
func (p *parser) literal(n *yaml.Node, block string) any {
	switch n.ShortTag() {
	case "!!null":
		if block != "Metadata" {
			p.fail(n, "Template format error: 'null' values are not allowed in templates")
		}
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
	}
	return n.Value
}
