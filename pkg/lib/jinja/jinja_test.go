package jinja_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/jinja"
)

// The same templates make the same text as Jinja2 makes of them, byte for byte, and those
// that Jinja2 refuses are refused. testdata/oracle.py writes want.json with Jinja2 itself.
func TestRendersAsJinja2(t *testing.T) {
	var templates map[string]string
	read(t, "testdata/templates.json", &templates)
	var cases []struct {
		Source, Text string
		Error, Trim  bool
	}
	read(t, "testdata/want.json", &cases)
	if len(cases) < 200 {
		t.Fatalf("%d cases", len(cases))
	}
	refused := 0
	for _, c := range cases {
		s := jinja.Default()
		s.Do, s.LoopControls = true, true
		s.TrimBlocks, s.LstripBlocks, s.KeepTrailingNewline = c.Trim, c.Trim, c.Trim
		env := jinja.Environment{Settings: s, Budget: &jinja.Budget{Steps: 1e5, Bytes: 1e6}, Load: func(name string) (string, bool) {
			if name == "case" {
				return c.Source, true
			}
			source, ok := templates[name]
			return source, ok
		}}
		got, err := env.Render("case", variables())
		if c.Error {
			refused++
		}
		switch {
		case c.Error && err == nil:
			t.Errorf("%q (trim %v):\n got %q\nwant an error", c.Source, c.Trim, got.Text)
		case !c.Error && err != nil:
			t.Errorf("%q (trim %v):\n got %v\nwant %q", c.Source, c.Trim, err, c.Text)
		case got.Text != c.Text:
			t.Errorf("%q (trim %v):\n got %q\nwant %q", c.Source, c.Trim, got.Text, c.Text)
		}
	}
	if refused < 30 {
		t.Errorf("Jinja2 refuses only %d cases", refused)
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// variables are those of testdata/oracle.py.
func variables() map[string]any {
	d := jinja.NewDict()
	d.Set("z", "1")
	d.Set("a", "it's")
	d.Set("m", &jinja.List{Items: []any{int64(1), 2.5, true, nil, "x\n"}})
	k := jinja.NewDict()
	k.Set("k", "v")
	return map[string]any{"d": d, "l": &jinja.List{Items: []any{k}}}
}
