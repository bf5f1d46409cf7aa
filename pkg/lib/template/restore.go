package template

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"github.com/stackwright/stackwright/pkg/lib/loss"
)

// Restore returns a template that CloudFormation has returned, with the texts that are lost as they are in one of the
// known templates: that one itself, if CloudFormation may have returned it, and else a template in which the texts at the same
// places are replaced. It returns the places of the texts for which no known template has another one, and which may
// lack characters, such as "Resources.Topic.Properties.DisplayName". A template that cannot be read is returned as it is.
func Restore(returned []byte, known ...[]byte) (whole []byte, lost []string) {
	if !loss.Possible(string(returned)) {
		return returned, nil
	}
	for _, body := range known {
		if loss.Same(string(returned), string(body)) {
			return body, nil
		}
	}
	root, err := document.Read("the template that is deployed", returned)
	if err != nil {
		return returned, nil
	}
	r := restoring{}
	var others []*yaml.Node
	for _, body := range known {
		if other, err := document.Read("the template", body); err == nil {
			others = append(others, other)
		}
	}
	if r.visit(root, others, ""); r.changed == 0 {
		return returned, r.lost
	}
	text, err := encode(root)
	if err != nil {
		return returned, r.lost
	}
	return text, r.lost
}

// restoring is a template in which texts are restored.
type restoring struct {
	changed int
	lost    []string
}

// visit restores the texts in n. The others are what the known templates have in its place.
func (r *restoring) visit(n *yaml.Node, others []*yaml.Node, place string) {
	switch n.Kind {
	case yaml.ScalarNode:
		r.text(n, others, place)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			r.visit(item, each(others, func(o *yaml.Node) *yaml.Node { return itemAt(o, i) }), place+"["+strconv.Itoa(i)+"]")
		}
	case yaml.MappingNode:
		for _, pair := range document.Pairs(n) {
			name := pair.Key.Value
			values := each(others, func(o *yaml.Node) *yaml.Node { return under(o, name) })
			r.text(pair.Key, each(others, func(o *yaml.Node) *yaml.Node { return keyOf(o, name) }), inside(place, name))
			r.visit(pair.Value, values, inside(place, name))
		}
	case yaml.DocumentNode:
		for _, child := range n.Content {
			r.visit(child, others, place)
		}
	}
}

// text restores one text.
func (r *restoring) text(n *yaml.Node, others []*yaml.Node, place string) {
	if !loss.Possible(n.Value) {
		return
	}
	for _, o := range others {
		if o.Kind == yaml.ScalarNode && loss.Same(n.Value, o.Value) {
			if n.Value != o.Value {
				n.Value, r.changed = o.Value, r.changed+1
			}
			return
		}
	}
	r.lost = append(r.lost, place)
}

// each returns what is in others, without those that have nothing.
func each(others []*yaml.Node, in func(*yaml.Node) *yaml.Node) []*yaml.Node {
	var all []*yaml.Node
	for _, o := range others {
		if found := in(document.Resolve(o)); found != nil {
			all = append(all, document.Resolve(found))
		}
	}
	return all
}

func itemAt(n *yaml.Node, i int) *yaml.Node {
	if n.Kind != yaml.SequenceNode || i >= len(n.Content) {
		return nil
	}
	return n.Content[i]
}

// under returns the value of the key for which CloudFormation may have returned a name; nil if there is none.
func under(n *yaml.Node, returned string) *yaml.Node {
	for _, pair := range document.Pairs(n) {
		if loss.Same(returned, pair.Key.Value) {
			return pair.Value
		}
	}
	return nil
}

func keyOf(n *yaml.Node, returned string) *yaml.Node {
	for _, pair := range document.Pairs(n) {
		if loss.Same(returned, pair.Key.Value) {
			return pair.Key
		}
	}
	return nil
}

func inside(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}

// Plain reports whether CloudFormation loses nothing of the value of an output of t, whose text is body: all texts of the
// output, of the resources that it refers to, also through others, and of the mappings are ASCII, as are the values of the
// parameters that these refer to, and none is a value from elsewhere. beyond reports whether that of a parameter may not be.
func (t *Template) Plain(body []byte, output string, beyond func(parameter string) bool) bool {
	root, err := document.Read("the template", body)
	if _, has := t.Outputs[output]; err != nil || !has { // a macro makes it
		return false
	}
	plain, seen, next := plainIn(root, "Outputs", output), make(map[string]bool), []*Expr{t.Outputs[output].Value}
	for ; plain && len(next) > 0; next = next[1:] {
		next[0].walk(func(x *Expr) {
			plain = plain && x.name != "Fn::ImportValue"
			for _, n := range x.names() {
				if _, is := t.Parameters[n.of]; is && beyond(n.of) {
					plain = false
				}
				if r, is := t.Resources[n.of]; is && !seen[n.of] {
					seen[n.of], next = true, append(next, r.expressions()...)
					plain = plain && plainIn(root, "Resources", n.of)
				}
			}
		})
	}
	mappings, has := document.Lookup(root, "Mappings")
	return plain && (!has || ascii(mappings))
}

// plainIn reports whether an entry of a section has only texts that are ASCII, and are not read from elsewhere.
func plainIn(root *yaml.Node, section, name string) bool {
	all, has := document.Lookup(root, section)
	if !has {
		return true
	}
	entry, has := document.Lookup(all, name)
	return !has || ascii(entry)
}

func ascii(n *yaml.Node) bool {
	n = document.Resolve(n)
	elsewhere := strings.Contains(n.Value, "{{resolve:")
	return !elsewhere && !loss.Beyond(n.Value) && !slices.ContainsFunc(n.Content, func(child *yaml.Node) bool { return !ascii(child) })
}
