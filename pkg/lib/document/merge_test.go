package document_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

// written writes a node as values, every alias written out.
func written(n *yaml.Node) any {
	switch n = document.Resolve(n); n.Kind {
	case yaml.MappingNode:
		all := map[string]any{}
		for _, p := range document.Pairs(n) {
			all[p.Key.Value] = written(p.Value)
		}
		return all
	case yaml.SequenceNode:
		var all []any
		for _, item := range n.Content {
			all = append(all, written(item))
		}
		return all
	}
	return n.Value
}

func TestMergeKeys(t *testing.T) {
	root, err := document.ReadMerged("f", []byte(`a: &a {x: 1, y: {z: [1]}, <<: {w: [2]}}
b: &b {<<: *a, x: 2}
c: {x: 3, <<: [*b, {y: no, v: 4}], u: &u [5], t: *u}
d: {"<<": text, s: *b}
e: {<<: *b, y: {<<: *a}}
`))
	if err != nil {
		t.Fatal(err)
	}
	y := map[string]any{"z": []any{"1"}}
	a := map[string]any{"x": "1", "y": y, "w": []any{"2"}}
	b := map[string]any{"x": "2", "y": y, "w": []any{"2"}}
	want := map[string]any{
		"a": a, "b": b, "c": map[string]any{"x": "3", "y": y, "w": []any{"2"}, "v": "4", "u": []any{"5"}, "t": []any{"5"}},
		"d": map[string]any{"<<": "text", "s": b}, "e": map[string]any{"x": "2", "y": a, "w": []any{"2"}},
	}
	if diff := cmp.Diff(want, written(root)); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedMergeKeys(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 {k: [ha, ha]}\n")
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d {x: {<<: *a%d}, y: {<<: *a%d}}\n", i, i, i-1, i-1)
	}
	var wide strings.Builder
	wide.WriteString("a: &a {")
	for i := range 2000 {
		fmt.Fprintf(&wide, "k%d: 1,", i)
	}
	wide.WriteString("}\n")
	for i := range 300 {
		fmt.Fprintf(&wide, "m%d: {<<: *a}\n", i)
	}
	for name, c := range map[string]struct{ body, want string }{
		"text":           {"a: {<<: b}\n", "f:1:9: <<: expected a mapping, or a list of mappings, found text"},
		"a list":         {"a: {<<: [{b: 1}, 2]}\n", "f:1:18: <<: expected a mapping, or a list of mappings, found a whole number"},
		"twice":          {"a: {<<: {b: 1}, <<: {c: 1}}\n", "f:1:17: the key << stands here a second time: write one list of all mappings"},
		"a circle":       {"a: &a {b: 1, <<: *a}\n", "f:1:18: the alias *a is inside the value that it refers to: this would never end"},
		"a longer":       {"a: &a {b: {<<: *a}}\n", "f:1:16: the alias *a is inside the value that it refers to: this would never end"},
		"an anchor":      {"a: {<<: &b {c: 1}}\n", "f:1:9: <<: a mapping with an anchor (&b) cannot be written here: write it where it is not merged"},
		"a duplicate":    {"a: &a {b: 1, b: 2}\nc: {<<: *a}\n", `f:1:14: the key "b" stands here a second time: it is already at line 1`},
		"billion laughs": {laughs.String(), "aliases written out make more than 1000000 keys and values"},
		"many pairs":     {wide.String(), "merge keys make more than 500000 pairs: use fewer"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := document.ReadMerged("f", []byte(c.body))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
