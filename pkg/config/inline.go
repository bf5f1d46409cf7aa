package config

import (
	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/template"
	"go.yaml.in/yaml/v4"
)

// inline reads a template that stands in the project file. It becomes a text of
// its own, so that it is known by its bytes as one in a file is; what is said
// of a place in that text is said of the place where it was written.
func (r *reader) inline(n *yaml.Node) *source {
	s := &source{at: r.place(n), origin: map[[2]int]place{}}
	copied, ok := r.copied(&yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Content: n.Content}) // whose own anchor is no matter
	if !ok {
		return nil
	}
	body, err := yaml.Marshal(copied)
	if err != nil {
		r.add(s.at, "template: it cannot be written out: %v: put it in a file", err)
		return nil
	}
	root, err := document.Read(r.file, body)
	if err != nil || !r.trace(s, root, n) {
		r.add(s.at, "template: it reads differently by itself: put it in a file")
		return nil
	}
	t, err := template.Parse(r.file, body)
	if err != nil {
		var all document.Errors
		all.Join(r.file, err)
		for _, e := range all {
			r.add(s.where(e.Line, e.Column), "%s", e.Text)
		}
		return nil
	}
	s.take(body, t, r.values)
	return s
}

// copied copies a template without comments. Aliases are refused as they are in
// a file.
func (r *reader) copied(n *yaml.Node) (*yaml.Node, bool) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		r.add(r.place(n), "Template error: YAML aliases are not allowed in CloudFormation templates")
		return nil, false
	}
	c := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value}
	for _, child := range n.Content {
		one, ok := r.copied(child)
		if !ok {
			return nil, false
		}
		c.Content = append(c.Content, one)
	}
	return c, true
}

// trace notes where each node of the copy was written, and says whether the two
// are alike.
func (r *reader) trace(s *source, c, n *yaml.Node) bool {
	if c.Kind != n.Kind || c.Value != n.Value || c.ShortTag() != n.ShortTag() || len(c.Content) != len(n.Content) {
		return false
	}
	s.origin[[2]int{c.Line, c.Column}] = place{r.file, n.Line, n.Column}
	for i := range c.Content {
		if !r.trace(s, c.Content[i], n.Content[i]) {
			return false
		}
	}
	return true
}
