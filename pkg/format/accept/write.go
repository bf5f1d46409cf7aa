package accept

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/lib/document"
	values "github.com/stackwright/stackwright/pkg/lib/template"
)

// applied returns a template with changes, all or none.
func applied(file string, body []byte, changes []change) ([]byte, bool) {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b change) int {
		return (&group{changes: []change{a}}).order(&group{changes: []change{b}})
	})
	ok := true
	for _, c := range changes {
		if body, ok = write(file, body, c); !ok {
			return nil, false
		}
	}
	return body, true
}

// write makes one change. It tries the ways to write it, the best first, until one makes the template that it should make.
func write(file string, body []byte, c change) ([]byte, bool) {
	root, _, err := document.ReadRepeating(file, body)
	if err != nil {
		return nil, false
	}
	w := newWriter(body, root, c.path)
	if w == nil {
		return nil, false
	}
	var ways [][]document.Edit
	switch {
	case c.kind == insert:
		ways = w.insert(c.value)
	case w.at < 0:
	case c.kind == remove:
		ways = w.remove()
	default:
		ways = w.set(c.value)
	}
	if !w.mutate(c) {
		return nil, false
	}
	for _, edits := range ways {
		next := document.Apply(body, edits...)
		if len(next) > max(len(body), values.MaxBytes) {
			continue
		}
		if read, _, err := document.ReadRepeating(file, next); err == nil && same(root, read) {
			return next, true
		}
	}
	return nil, false
}

// A writer writes into one mapping or list of a template.
type writer struct {
	body   []byte
	json   bool
	eol    string
	parent *yaml.Node // the mapping or list
	key    *yaml.Node // whose value the parent is; nil if it is an item of a list
	step   any        // of the path: the key or the place of the value in the parent
	at     int        // the place of the value in the content of the parent; -1 if it is not there
}

// newWriter returns the writer for a path; nil if the template does not have what it leads through.
func newWriter(body []byte, root *yaml.Node, p path) *writer {
	w := &writer{body: body, parent: root, json: bytes.HasPrefix(bytes.TrimLeft(body, "\ufeff \t\r\n"), []byte("{")) && json.Valid(bytes.TrimPrefix(body, []byte("\ufeff"))), eol: "\n"}
	if bytes.Contains(body, []byte("\r\n")) {
		w.eol = "\r\n"
	}
	for i, step := range p {
		if w.step, w.at = step, index(w.parent, step); i == len(p)-1 {
			return w
		}
		if w.at < 0 {
			return nil
		}
		w.key = nil
		if w.parent.Kind == yaml.MappingNode {
			w.key = w.parent.Content[w.at-1]
		}
		w.parent = w.parent.Content[w.at]
	}
	return nil
}

// index is the place of a value in the content of a mapping or list; -1 if it is not there.
func index(n *yaml.Node, step any) int {
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return step
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return i + 1
			}
		}
	}
	return -1
}

// mutate makes a change of the nodes.
func (w *writer) mutate(c change) bool {
	n := w.parent
	switch i, item := w.step.(int); {
	case c.kind == set:
		n.Content[w.at] = nodeOf(c.value)
	case c.kind == remove && n.Kind == yaml.SequenceNode && w.at >= 0:
		n.Content = slices.Delete(n.Content, w.at, w.at+1)
	case c.kind == remove && w.at > 0:
		n.Content = slices.Delete(n.Content, w.at-1, w.at+1)
	case c.kind == insert && item && n.Kind == yaml.SequenceNode && i <= len(n.Content):
		n.Content = slices.Insert(n.Content, i, nodeOf(c.value))
	case c.kind == insert && !item && n.Kind == yaml.MappingNode && w.at < 0:
		n.Content = append(n.Content, nodeOf(w.step), nodeOf(c.value))
	default:
		return false
	}
	return true
}

// nodeOf is a value as a node.
func nodeOf(v any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"}
	switch v := v.(type) {
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case bool:
		n.Tag = "!!bool"
		n.Value, _ = values.Text(v)
	case json.Number:
		if n.Tag, n.Value = "!!int", v.String(); strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case string:
		n.Value = v
	case []any:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		for _, item := range v {
			n.Content = append(n.Content, nodeOf(item))
		}
	case map[string]any:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		for _, key := range sorted(v) {
			n.Content = append(n.Content, nodeOf(key), nodeOf(v[key]))
		}
	}
	return n
}

// same reports whether two nodes have the same values, functions and anchors, however they are written.
func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value && a.Anchor == b.Anchor && slices.EqualFunc(a.Content, b.Content, same)
}

// set are the ways to replace the value.
func (w *writer) set(v any) (ways [][]document.Edit) {
	old := w.parent.Content[w.at]
	from, to, ok := document.Span(w.body, old)
	if !ok {
		return nil
	}
	for _, text := range w.texts(v, old) {
		edit := document.Edit{From: from, To: to, Text: text}
		if strings.HasPrefix(text, w.eol) { // a value of several lines begins in the next one
			for edit.From > 0 && w.body[edit.From-1] == ' ' {
				edit.From--
			}
		}
		ways = append(ways, []document.Edit{edit})
	}
	return ways
}

// lineStart and lineEnd are the offsets of the line that has an offset; the end is before the characters that end it.
func (w *writer) lineStart(at int) int { return bytes.LastIndexByte(w.body[:at], '\n') + 1 }

func (w *writer) lineEnd(at int) int {
	n := bytes.IndexByte(w.body[at:], '\n')
	if n < 0 {
		return len(w.body)
	}
	if n > 0 && w.body[at+n-1] == '\r' {
		n--
	}
	return at + n
}

// before is what is in the line before an offset, and whether that is nothing but blanks.
func (w *writer) before(at int) (text string, blank bool) {
	text = string(w.body[w.lineStart(at):at])
	return text, strings.Trim(text, " \t") == ""
}

// start and end are the offsets of an entry of the parent, counted as in its content.
func (w *writer) start(i int) int {
	n := w.parent.Content[i]
	return document.Offset(w.body, n.Line, n.Column)
}

func (w *writer) end(i int) (int, bool) {
	_, to, ok := document.Span(w.body, w.parent.Content[i])
	return to, ok
}

// flow reports whether the parent is written with braces or brackets.
func (w *writer) flow() bool { return w.parent.Style&yaml.FlowStyle != 0 }

// size is how many nodes an entry of the parent has.
func (w *writer) size() int {
	if w.parent.Kind == yaml.MappingNode {
		return 2
	}
	return 1
}
