package document

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// The value of key v begins and ends where the text is.
func TestSpan(t *testing.T) {
	for _, c := range []struct{ before, text, after string }{
		{"v: ", "abc", " # c\n"}, {"v: ", "abc", ""}, {"v: ", "'it''s'", "   \n"}, {"v: ", `"a\"b"`, "\nw: 1\n"}, {"v: ", "\"a\n  b\"", "\n"},
		{"v: ", "a b\n  c\n\n  d", " # c\n"}, {"v: ", "!Ref X", "\n"}, {"v: ", "&a !Sub 'x'", "\nw: *a\n"}, {"v:", "", "\nw: 1\n"},
		{"v: ", "|\n  a\n\n    b", "\n\n# c\nw: 1\n"}, {"v: ", ">-\n  a\n  b", "\n"}, {"v: ", "[a, {b: c}, ] ", ""},
		{"v: ", "{a: 'x]', b: [1, # c ]\n 2]}", "\n"}, {"v: ", "[]", "\n"}, {"v: ", "{ }", "\n"}, {"v:\n", "  - a\n  - b: 1", " # c\n"}, {"v:\n", "- a\n- - 1\n  - 2", "\nw: 1\n"},
		{"\ufeffv: ", "é", " # c\n"}, {"w: é\r\nv: ", "|\r\n  a\r\n  b", "\r\nx: 1\r\n"},
		{"{\"é\": 1, \"v\": ", `{"a": ["x\"", 1e3, null]}`, ", \"w\": 2}"}, {"{\"v\":\n\t", "-1.5", "\n}"}, {`{"v": `, `""`, "}"}, {`{"v": `, `[ ]`, "}"},
	} {
		body := []byte(c.before + c.text + c.after)
		root, err := Read("t.yaml", body)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		n, _ := Lookup(root, "v")
		from, to, ok := Span(body, n)
		if got := string(body[from:max(from, to)]); !ok || strings.TrimSpace(got) != strings.TrimSpace(c.text) {
			t.Errorf("%q: %q (%t), not %q", body, got, ok, c.text)
		}
	}
}

func TestApply(t *testing.T) {
	body := []byte("0123456789")
	for _, c := range []struct {
		edits []Edit
		want  string
	}{
		{nil, "0123456789"},
		{[]Edit{{8, 9, "x"}, {0, 2, ""}, {5, 5, "-"}}, "234-567x9"},
		{[]Edit{{0, 5, "a"}, {2, 3, "b"}, {10, 10, "c"}}, "a56789c"},
	} {
		if got := string(Apply(body, c.edits...)); got != c.want {
			t.Errorf("%v: %q, not %q", c.edits, got, c.want)
		}
	}
}

// Wherever a node is, its span is in the text, and around those of its keys and values.
func FuzzSpan(f *testing.F) {
	for _, seed := range []string{"a: [1, {b: 'c'}]\nd: |\n  x\n", "{\"a\": [1, \"b\"]}", "- !Sub\n  - x\n  - {y: z}\n", "a: &x b\n  c\nd: *x\n", "\ufeffé: é\r\n", "? a\n: b\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body := []byte(text)
		root, err := Read("t.yaml", body)
		if err != nil || len(text) > 2000 {
			return
		}
		var visit func(n *yaml.Node, low, high int)
		visit = func(n *yaml.Node, low, high int) {
			from, to, ok := Span(body, n)
			if from < 0 || from > len(body) || ok && (to < from || to > len(body)) {
				t.Fatalf("%q: %d to %d (%t)", n.Value, from, to, ok)
			}
			if ok && (from < low || to > high) {
				t.Fatalf("%q: %d to %d is not within %d to %d", n.Value, from, to, low, high)
			}
			if !ok {
				from, to = low, high
			}
			for _, child := range n.Content {
				visit(child, from, to)
			}
		}
		visit(root, 0, len(body))
	})
}
