package template

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// shape is how many arguments a function takes, and how CloudFormation
// complains about others.
type shape struct {
	least, most int // 0, 0: a single value that is not a list of arguments
	complaint   string
	extension   bool // only with the transform AWS::LanguageExtensions
}

// ruleShape is shapeOf for the functions that only rules have.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-rules.html
func ruleShape(function string) (shape, bool) {
	two := func(what string) shape {
		return shape{2, 2, "Template error: every " + function + " object requires two parameters, " + what, false}
	}
	s, ok := map[string]shape{
		"Fn::Contains":         two("a list of strings and a string"),
		"Fn::EachMemberEquals": two("a list of strings and a string"),
		"Fn::EachMemberIn":     two("two lists of strings"),
		"Fn::RefAll":           {},
		"Fn::ValueOf":          two("the name of a parameter and an attribute"),
		"Fn::ValueOfAll":       two("a type of parameters and an attribute"),
	}[function]
	return s, ok
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
func shapeOf(function string) (shape, bool) {
	s, ok := map[string]shape{
		"Ref":              {},
		"Condition":        {},
		"Fn::Base64":       {},
		"Fn::GetAZs":       {},
		"Fn::ImportValue":  {},
		"Fn::Length":       {extension: true},
		"Fn::ToJsonString": {extension: true},
		"Fn::GetAtt":       {2, 2, "Template error: every Fn::GetAtt object requires two non-empty parameters, the resource name and the resource attribute", false},
		"Fn::Join":         {2, 2, "Template error: every Fn::Join object requires two parameters, (1) a string delimiter and (2) a list of strings to be joined or a function that returns a list of strings (such as Fn::GetAZs) to be joined.", false},
		"Fn::Split":        {2, 2, "Template error: every Fn::Split object requires two parameters, (1) a string delimiter and (2) a string to be split or a function that returns a string to be split.", false},
		"Fn::Select":       {2, 2, "Template error: Fn::Select requires a list argument with two elements: an integer index and a list", false},
		"Fn::FindInMap":    {3, 4, "Template error: every Fn::FindInMap object requires three parameters, the map name, map key and the attribute for return value", false},
		"Fn::If":           {3, 3, "Template error: Fn::If requires a list argument with three elements: the name of a condition and two values", false},
		"Fn::Equals":       {2, 2, "Template error: every Fn::Equals object requires a list of 2 string parameters.", false},
		"Fn::And":          {2, 10, "Template error: every Fn::And object requires a list of at least 2 and at most 10 boolean parameters.", false},
		"Fn::Or":           {2, 10, "Template error: every Fn::Or object requires a list of at least 2 and at most 10 boolean parameters.", false},
		"Fn::Not":          {1, 1, "Template error: every Fn::Not object requires one boolean parameter.", false},
		"Fn::Cidr":         {2, 3, "Template error: every Fn::Cidr object requires two or three parameters, an IP block, a count and the bits of the subnets", false},
		"Fn::Sub":          {1, 2, subComplaint, false},
		"Fn::Transform":    {},
		getStackOutput:     {},
	}[function]
	return s, ok
}

const subComplaint = "Template error: One or more Fn::Sub intrinsic functions don't specify expected arguments. Specify a string as first argument, and an optional second argument to specify a mapping of values to replace in the string"

// arguments fills a call from its argument node. Whatever is wrong, the call is
// left with as many arguments as its function has at least, so that nothing later needs to count.
func (p *parser) arguments(x *Expr, n *yaml.Node) {
	s, ok := shapeOf(x.name)
	if !ok && x.block == "Rules" {
		s, ok = ruleShape(x.name)
	}
	if !ok {
		p.fail(n, "Template format error: Unrecognized function %s", x.name)
		p.forget(x)
		return
	}
	if s.extension && !p.extended && !p.t.macros {
		p.fail(n, "Template error: %s requires the transform AWS::LanguageExtensions", x.name)
	}
	switch x.name {
	case "Fn::Transform":
		p.macro(n, x.name)
		x.items = []*Expr{p.express(n, x.block)}
		return
	case "Fn::Sub":
		p.sub(x, n)
		return
	case getStackOutput:
		p.stackOutput(x, n)
		return
	case "Fn::GetAtt":
		n = attributePath(n)
	}
	if s.most == 0 {
		x.items = []*Expr{p.express(n, x.block)}
		p.single(x)
		return
	}
	items := document.Items(n)
	if document.Tagged(n) != "" || len(items) < s.least || len(items) > s.most {
		p.fail(n, "%s", s.complaint)
		p.forget(x)
		return
	}
	for _, item := range items {
		x.items = append(x.items, p.express(item, x.block))
	}
	p.several(x, s)
}

// forget turns a call that cannot be understood into one that nothing is known of.
func (p *parser) forget(x *Expr) { x.name, x.items = "Fn::Transform", nil }

// attributePath gives the short form !GetAtt Resource.Attribute as a list.
func attributePath(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.ScalarNode {
		return n
	}
	resource, attribute, ok := strings.Cut(n.Value, ".")
	if !ok || resource == "" || attribute == "" {
		return n
	}
	text := func(s string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: n.Line, Column: n.Column}
	}
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: n.Line, Column: n.Column,
		Content: []*yaml.Node{text(resource), text(attribute)}}
}

// single checks a function of one argument.
func (p *parser) single(x *Expr) {
	switch x.name {
	case "Ref", "Condition":
		if _, ok := x.items[0].Literal(); !ok && !p.extended {
			p.failAt(x, "Template format error: %s takes the name of something in this template, as text", x.name)
		}
	case "Fn::Not":
	case "Fn::ImportValue", "Fn::Base64", "Fn::GetAZs":
		if f := x.items[0].form; f == list || f == mapping {
			p.failAt(x, "Template error: %s takes text, or a function that returns text", x.name)
		}
	}
}

// several checks what a function of several arguments demands of each.
func (p *parser) several(x *Expr, s shape) {
	bad := false
	switch x.name {
	case "Fn::GetAtt":
		resource, ok := x.items[0].Literal()
		bad = !p.extended && (!ok || resource == "")
	case "Fn::Join", "Fn::Split":
		_, ok := x.items[0].Literal()
		bad = !ok && !p.extended
		bad = bad || x.name == "Fn::Join" && x.items[1].form != list && x.items[1].form != call
	case "Fn::Select":
		bad = x.items[1].form != list && x.items[1].form != call
	case "Fn::If":
		_, ok := x.items[0].Literal()
		bad = !ok
	case "Fn::FindInMap":
		bad = len(x.items) == 4 && x.items[3].key("DefaultValue") == nil
	}
	if bad {
		p.failAt(x, "%s", s.complaint)
		p.forget(x)
	}
}

// sub fills a call of Fn::Sub: its text in parts, its mapping as its only item.
func (p *parser) sub(x *Expr, n *yaml.Node) {
	text := n
	if items := document.Items(n); n.Kind == yaml.SequenceNode && len(items) == 2 {
		text = document.Resolve(items[0])
		variables := p.express(items[1], x.block)
		if variables.form != mapping && variables.name != "Fn::Transform" {
			p.failAt(x, subComplaint)
			p.forget(x)
			return
		}
		x.items = []*Expr{variables}
	}
	if text.Kind != yaml.ScalarNode || document.Tagged(text) != "" || document.Null(text) {
		p.failAt(x, subComplaint)
		p.forget(x)
		return
	}
	parts, bad, ok := subParts(text.Value)
	if !ok {
		p.fail(text, "Template error: variable names in Fn::Sub syntax must contain only alphanumeric characters, underscores, periods, and colons: ${%s}", bad)
	}
	x.parts = parts
}
