package native

import (
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/remote"
	"go.yaml.in/yaml/v4"
)

// template reads where the template of a stack is: a path, a URL, or the template
// itself as a mapping.
func (p *parser) template(what string, n *yaml.Node) *declared.Template {
	n = document.Resolve(n)
	if n.Kind == yaml.MappingNode && document.Tagged(n) == "" {
		t, ok := p.inlined[n]
		if !ok {
			t = p.inline(n)
			p.inlined[n] = t
		}
		return t
	}
	t := &declared.Template{At: p.at(n), Broken: true}
	if document.Null(n) {
		p.Add(t.At, "%s: it is empty: write its path, or the template itself", what)
		return t
	}
	v, ok := p.scalar(what, n)
	if !ok {
		return t
	}
	_, plain := v.Literal()
	switch {
	case !plain:
		p.Add(v.At, "%s: %s: references are allowed only in parameters, tags and options: write the path itself", what, problem.Short(n.Value))
	case remote.IsAddress(n.Value):
		a, err := remote.Parse(n.Value)
		if err != nil {
			p.Add(v.At, "%s: the URL is refused: %v", what, err)
			return t
		}
		t.Remote, t.Broken = &a, false
	default:
		t.Path, t.Broken = n.Value, false
	}
	return t
}

// inline writes a template that is part of the project file as a text, so that it
// has a digest, like a template in a file. Origin maps positions in that text to
// positions in the project file.
func (p *parser) inline(n *yaml.Node) *declared.Template {
	written := map[[2]int]problem.Position{}
	t := &declared.Template{At: p.at(n), Broken: true}
	t.Origin = func(line, column int) problem.Position {
		if at, ok := written[[2]int{line, column}]; ok {
			return at
		}
		return t.At
	}
	copied, ok := p.copied(&yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Content: n.Content}) // its own anchor is allowed
	if !ok {
		return t
	}
	copied.Style &^= yaml.FlowStyle // CloudFormation reads a text that begins with a brace as JSON
	body, err := yaml.Marshal(copied)
	if err != nil {
		p.Add(t.At, "template: it cannot be written as a file of its own: %v: put it in a file", err)
		return t
	}
	root, err := document.Read(p.file, body)
	if err != nil || !p.trace(written, root, n) {
		p.Add(t.At, "template: it means something else as a file of its own: put it in a file")
		return t
	}
	t.Body, t.Broken = body, false
	return t
}

// copied copies a template without comments. It refuses aliases, as
// CloudFormation does.
func (p *parser) copied(n *yaml.Node) (*yaml.Node, bool) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		p.Add(p.at(n), "Template error: YAML aliases are not allowed in CloudFormation templates")
		return nil, false
	}
	c := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value}
	for _, child := range n.Content {
		one, ok := p.copied(child)
		if !ok {
			return nil, false
		}
		c.Content = append(c.Content, one)
	}
	return c, true
}

// trace records where each node of the copy was written, and reports whether
// the two are alike.
func (p *parser) trace(written map[[2]int]problem.Position, c, n *yaml.Node) bool {
	if c.Kind != n.Kind || c.Value != n.Value || c.ShortTag() != n.ShortTag() || len(c.Content) != len(n.Content) {
		return false
	}
	written[[2]int{c.Line, c.Column}] = p.at(n)
	for i := range c.Content {
		if !p.trace(written, c.Content[i], n.Content[i]) {
			return false
		}
	}
	return true
}
