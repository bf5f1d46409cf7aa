package document_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/lib/document"
)

// Whatever the bytes, Read ends with a document in which everything has its
// place and all limits are kept, or with errors that have theirs; it takes
// little memory, and it gives the same again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"a: 1\n", "{\"a\": [1, true, null, \"x\"]}", "- &a [x]\n- *a\n", "a: &a {b: *a}", "? [x]\n: y\n", "a: |\n  text\n  more\n",
		"!Sub '${A}'", "a: !If [x, {y: z}, !Ref b]", "---\n...\n---\n", "%YAML 1.1\n---\na: 1", "<<: {a: 1}", "\t", "a:\n\t- b", "\"\\ud800\"", laughs(10), ladder(20),
		laughs(30), ladder(150), "a: 1\na: 2\n", "\ufeff{\n\"a\": \"\\ud83d\\ude00\"}", "a: \xff", "%TAG ! tag:x,2000:\n---\na: !b 1\n", "a: *b", "x: &k a\nm: {a: 1, *k : 2}\n",
		"a: 1e999999999\nb: 0x" + "f0f0f0f0f0f0f0f0f0f0f0" + "\nc: 9" + "99999999999999999999999999999999\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var root *yaml.Node
		var err error
		// An anchor's copies are never made, so that no alias counts.
		contract.Memory(t, len(body), 4<<20, 2000, func() { root, err = document.Read("f", body) })
		if (root == nil) == (err == nil) {
			t.Fatalf("root %v, error %v", root, err)
		}
		again, second := document.Read("f", body)
		if diff := cmp.Diff(message(err), message(second)); diff != "" {
			t.Fatalf("read again it has other errors: %s", diff)
		}
		if err != nil {
			placed(t, err, body)
			return
		}
		w := walker{T: t, lines: bytes.Count(body, []byte("\n")) + bytes.Count(body, []byte("\r")) + bytes.Count(body, []byte("\u0085")) + 1}
		w.lines += bytes.Count(body, []byte("\u2028")) + bytes.Count(body, []byte("\u2029"))
		w.walk(root, 0)
		if text, most := w.text, document.MaxText; text > most || w.nodes > document.MaxExpanded {
			t.Errorf("%d nodes of %d bytes", w.nodes, text)
		}
		w.same(root, again)
		if json.Valid(body) && (body[0] == '{' || body[0] == '[') {
			w.asJSON(root, body)
		}
	})
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// placed says that errors are some, and that each is in the document.
func placed(t *testing.T, err error, body []byte) {
	t.Helper()
	list := (document.Errors)(nil)
	if !errors.As(err, &list) || len(list) == 0 || len(list) > 100 {
		t.Fatalf("%T has %d errors", err, len(list))
	}
	for _, e := range list {
		if e.File != "f" || e.Line < 0 || e.Column < 0 || e.Line > len(body)+2 || e.Text == "" {
			t.Errorf("%+v has no place", e)
		}
		if len(e.Text) > 1000+5*len(body) {
			t.Errorf("of %d bytes, the error has %d", len(body), len(e.Text))
		}
	}
}

// A walker follows everything, aliases too, which must end.
type walker struct {
	*testing.T
	lines       int
	nodes, text int
}

func (w *walker) walk(n *yaml.Node, depth int) {
	if n.Line < 1 || n.Column < 1 || n.Line > w.lines+1 {
		w.Fatalf("%q is at %d:%d of %d lines", n.Value, n.Line, n.Column, w.lines)
	}
	n = document.Resolve(n)
	w.nodes++
	w.text += len(n.Value)
	if depth > document.MaxDepth {
		w.Fatalf("deeper than %d", document.MaxDepth)
	}
	seen := map[string]bool{}
	for _, p := range document.Pairs(n) {
		if p.Key.Kind != yaml.ScalarNode || seen[p.Key.Value] {
			w.Fatalf("the key %q is no text, or there twice", p.Key.Value)
		}
		seen[p.Key.Value] = true
		if v, ok := document.Lookup(n, p.Key.Value); !ok || v != document.Resolve(p.Value) {
			w.Fatalf("the key %q is not found", p.Key.Value)
		}
	}
	for _, child := range n.Content {
		w.walk(child, depth+1)
	}
}

// same compares what was read twice.
func (w *walker) same(a, b *yaml.Node) {
	if a.Kind != b.Kind || a.Value != b.Value || a.Tag != b.Tag || a.Line != b.Line || a.Column != b.Column || len(a.Content) != len(b.Content) {
		w.Fatalf("read again, %q at %d:%d is %q at %d:%d", a.Value, a.Line, a.Column, b.Value, b.Line, b.Column)
	}
	for i := range a.Content {
		w.same(a.Content[i], b.Content[i])
	}
}

// asJSON compares with what Go reads.
func (w *walker) asJSON(root *yaml.Node, body []byte) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var want any
	if err := d.Decode(&want); err != nil {
		w.Fatal(err)
	}
	if diff := cmp.Diff(want, plain(root)); diff != "" {
		w.Errorf("JSON reads differently (- Go, + here):\n%s", diff)
	}
}

// plain is a node of JSON as Go reads it.
func plain(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for _, p := range document.Pairs(n) {
			out[p.Key.Value] = plain(p.Value)
		}
		return out
	case yaml.SequenceNode:
		out := []any{}
		for _, item := range n.Content {
			out = append(out, plain(item))
		}
		return out
	}
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return n.Value == "true"
	case "!!str":
		return n.Value
	}
	return json.Number(n.Value)
}

// Merge keys make no more than the limits allow, and what is read is finite.
func FuzzReadMerged(f *testing.F) {
	for _, seed := range []string{
		"a: &a {x: 1, y: [1]}\nb: {<<: *a, x: 2}\n", "<<: {a: 1}", "a: &a {<<: *a}", "a: {<<: [{b: 1}, *c]}", "a: {<<: &b {c: &d [1], e: *d}, f: *b}", "<<: <<", "? <<\n: {? <<\n : {a: 1}}", "a: &a {b: &b {<<: *a}}", "!!merge x: {a: 1}", "a: &<< {<<: {<<: {}}}",
		"a: &a {k: [ha]}\nb: &b {x: {<<: *a}, y: {<<: *a}}\nc: {x: {<<: *b}, y: {<<: *b}}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var root *yaml.Node
		var err error
		contract.Memory(t, len(body), 200<<20, 2000, func() { root, err = document.ReadMerged("f", body) })
		if (root == nil) == (err == nil) {
			t.Fatalf("root %v, error %v", root, err)
		}
		if plain, wrong := document.Read("f", body); wrong == nil && message(err) == "" {
			(&walker{T: t, lines: 1 << 30}).same(root, plain) // without merge keys both are the same
		}
		if err != nil {
			placed(t, err, body)
			return
		}
		w := walker{T: t, lines: 1 << 30}
		w.walk(root, 0)
		if w.text > document.MaxText || w.nodes > document.MaxExpanded {
			t.Errorf("%d nodes of %d bytes", w.nodes, w.text)
		}
	})
}
