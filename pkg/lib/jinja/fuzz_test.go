package jinja_test

import (
	"bufio"
	"errors"
	"os"
	"testing"

	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/lib/jinja"
)

// Rendering never panics, ends, takes bounded memory, and gives the same text or the same
// error again. An error has a position.
func FuzzRender(f *testing.F) {
	cases, err := os.Open("testdata/cases.txt")
	if err != nil {
		f.Fatal(err)
	}
	defer cases.Close()
	for lines := bufio.NewScanner(cases); lines.Scan(); {
		f.Add(lines.Text(), false)
		f.Add(lines.Text(), true)
	}
	f.Fuzz(func(t *testing.T, source string, trim bool) {
		render := func() (jinja.Rendered, error) {
			s := jinja.Default()
			s.Do, s.LoopControls, s.TrimBlocks, s.LstripBlocks = true, true, trim, trim
			env := jinja.Environment{Settings: s, Budget: &jinja.Budget{Steps: 1e5, Bytes: 1e6}, Load: func(name string) (string, bool) {
				return source, name == "t"
			}}
			return env.Render("t", variables())
		}
		var got jinja.Rendered
		var err error
		contract.Memory(t, len(source), 100<<20, 2000, func() { got, err = render() })
		again, second := render()
		if got.Text != again.Text || (err == nil) != (second == nil) || err != nil && err.Error() != second.Error() {
			t.Errorf("rendered again: %q, %v; %q, %v", got.Text, err, again.Text, second)
		}
		if one := (*jinja.Error)(nil); err != nil && (!errors.As(err, &one) || one.At.Line < 1 || one.At.Template != "t") {
			t.Errorf("%v has no position", err)
		}
		for line := range 5 {
			if at := got.Where(line+1, 1); err == nil && got.Text != "" && (at.Line < 1 || at.Template != "t") {
				t.Errorf("line %d is at %+v", line+1, at)
			}
		}
	})
}
