package document_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/lib/document"
	"go.yaml.in/yaml/v4"
)

func TestRefusedDocuments(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"empty":            {"", "f: the file is empty: a document is expected"},
		"only a comment":   {"# nothing\n", "f: the file is empty: a document is expected"},
		"two documents":    {"a: 1\n---\nb: 2\n", "f:2:1: a second document begins here: only one is read, remove the --- or split the file"},
		"a duplicate key":  {"a: 1\nb: 2\na: 3\n", `f:3:1: the key "a" stands here a second time: it is already at line 1`},
		"text and number":  {"1: a\n'1': b\n", `f:2:1: the key "1" stands here a second time: it is already at line 1`},
		"an alias as key":  {"x: &k a\nm: {a: 1, *k : 2}\n", `f:2:11: the key "a" stands here a second time: it is already at line 2`},
		"a list as key":    {"[a]: 1\n", "f:1:1: a key must be plain text, not a list"},
		"a merge key":      {"a: &a {x: 1}\nb:\n  <<: *a\n", "f:3:3: merge keys (<<) are not supported: write the keys out"},
		"a circle":         {"a: &a [*a]\n", "f:1:8: the alias *a is inside the value that it refers to: this would never end"},
		"a longer circle":  {"&r a: &a\n  b: {c: [*a]}\n", "f:2:11: the alias *a is inside the value that it refers to: this would never end"},
		"an unknown alias": {"a: *b\n", "f:1:4: unknown anchor 'b': an alias (*name) needs an anchor (&name) before it"},
		"a tab":            {"a:\n\tb: 1\n", "f:2:1: a tab stands where YAML wants spaces: replace it by spaces"},
		"not UTF-8":        {"a: 1\nb: \xff\n", "f:2: this is not UTF-8: save the file as UTF-8"},
		"UTF-16":           {"\xff\xfea\x00:\x00 \x001\x00", "f:1: this is not UTF-8: save the file as UTF-8"},
		"a next line":      {"a: 1\nbü: \"x\u0085y\"\n", "f:2:7: the character U+0085 stands here, which ends a line to some readers of YAML and not to others: in double quotes write \\N"},
		"a tag directive":  {"%TAG ! tag:x,2000:\n---\na: !b 1\n", "f: a %TAG directive: this is not supported, write tags in full"},
		"all at once":      {"a: 1\na: 2\n<<: {}\n", "f:2:1: the key \"a\" stands here a second time: it is already at line 1\nf:3:1: merge keys (<<) are not supported: write the keys out"},
		"JSON duplicates":  {"{\n\t\"é\": 1, \"é\": 2}", `f:2:10: the key "é" stands here a second time: it is already at line 2`},
		"deep JSON":        {strings.Repeat("[", 101) + strings.Repeat("]", 101), "f:1:101: lists and mappings are nested too deep: at most 100 levels are read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := document.Read("f", []byte(c.body))
			if err == nil {
				t.Fatalf("read, want %s", c.want)
			}
			if err.Error() != c.want {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if list := (document.Errors)(nil); !errors.As(err, &list) {
				t.Errorf("%T is not document.Errors", err)
			}
		})
	}
}

func TestWhatIsTooMuchIsRefusedInBoundedMemory(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"bytes":          {strings.Repeat("#", document.MaxBytes+1), "at most 10485760 are read"},
		"flow depth":     {strings.Repeat("[", 101) + strings.Repeat("]", 101) + "#", "nested too deep"},
		"endless depth":  {strings.Repeat("[", 1_000_000), "at most 500000 are read"},
		"block depth":    {strings.Repeat("- ", 101), "nested too deep"},
		"many nodes":     {"[" + strings.Repeat("1,", document.MaxBytes/2-1) + "]", "at most 500000 are read"},
		"many items":     {strings.Repeat("-\n", document.MaxBytes/2), "at most 500000 are read"},
		"many keys":      {strings.Repeat("?\n", document.MaxBytes/2), "at most 500000 are read"},
		"billion laughs": {laughs(30), "aliases written out make more than 1000000 keys and values"},
		"deep by alias":  {ladder(150), "nested too deep"},
		"long by alias":  {"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 30) + "]\n", "make more than 20971520 bytes"},
		"many errors":    {strings.Repeat("a: 1\n", 10_000), "stands here a second time"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err := document.Read("f", []byte(c.body))
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.200v, want %s", err, c.want)
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 300 {
				t.Errorf("it took %d MB", mb)
			}
			if took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
			if list := (document.Errors)(nil); errors.As(err, &list) && len(list) > 100 {
				t.Errorf("%d errors are reported", len(list))
			}
		})
	}
}

// laughs gives n anchors of which each stands for two of the one before.
func laughs(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 ha\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	return b.String()
}

// ladder gives n anchors of which each wraps the one before.
func ladder(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 ha\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	return b.String()
}

func TestNodesKnowWhereTheyStand(t *testing.T) {
	for name, body := range map[string]string{
		"YAML": "a:\n  ü: [1, two]\n",
		"JSON": "{\"a\":\n  {\"ü\": [1, \"two\"]}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			root, err := document.Read("f", []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			a, ok := document.Lookup(root, "a")
			if !ok {
				t.Fatal("no a")
			}
			pairs := document.Pairs(a)
			if len(pairs) != 1 || pairs[0].Key.Value != "ü" || pairs[0].Key.Line != 2 {
				t.Fatalf("pairs %+v", pairs)
			}
			items := document.Items(pairs[0].Value)
			if len(items) != 2 {
				t.Fatalf("items %+v", items)
			}
			column := map[string]int{"YAML": 10, "JSON": 13}[name]
			if two := items[1]; two.Value != "two" || two.Line != 2 || two.Column != column {
				t.Errorf("two is %q at %d:%d, want 2:%d", two.Value, two.Line, two.Column, column)
			}
			if kind := document.Kind(items[0]); kind != "a whole number" {
				t.Errorf("1 is %s", kind)
			}
		})
	}
}

func TestAliasesAreFollowed(t *testing.T) {
	root, err := document.Read("f", []byte("a: &a {x: &x 1}\nb: *a\nc: *x\n"))
	if err != nil {
		t.Fatal(err)
	}
	b, ok := document.Lookup(root, "b")
	if !ok || b.Kind != yaml.MappingNode {
		t.Fatalf("b is %s", document.Kind(b))
	}
	if c, ok := document.Lookup(root, "c"); !ok || c.Value != "1" {
		t.Errorf("c is %+v", c)
	}
}

func TestJSONIsReadAsJSON(t *testing.T) {
	root, err := document.Read("f", []byte("\ufeff{\n\t\"a\": \"\\ud83d\\ude00\\/\",\n\t\"b\": null, \"c\": true, \"d\": 1e3}"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "text", "b": "nothing", "c": "true or false", "d": "a number"}
	for _, p := range document.Pairs(root) {
		if got := document.Kind(p.Value); got != want[p.Key.Value] {
			t.Errorf("%s is %s, want %s", p.Key.Value, got, want[p.Key.Value])
		}
	}
	if a, _ := document.Lookup(root, "a"); a.Value != "😀/" {
		t.Errorf("a is %q", a.Value)
	}
}

func TestTags(t *testing.T) {
	root, err := document.Read("f", []byte("- !Ref x\n- !!str 1\n- 'x'\n- !If [a]\n- ! y\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"!Ref", "", "", "!If", ""}
	for i, n := range document.Items(root) {
		if got := document.Tagged(n); got != want[i] {
			t.Errorf("item %d bears %q, want %q", i, got, want[i])
		}
	}
}
