package engine

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The messages of a run fit into its item, whatever went wrong.
func TestSay(t *testing.T) {
	if got := say(nil); len(got) != 0 {
		t.Errorf("of nothing, %q is said", got)
	}
	if got := say([]string{"a", "b"}); strings.Join(got, " ") != "a b" {
		t.Errorf("%q is said", got)
	}
	many := make([]string, 10_000)
	for i := range many {
		many[i] = strings.Repeat("ü", 10_000)
	}
	got := say(many)
	size := 0
	for _, m := range got {
		size += len(m)
		if !utf8.ValidString(m) {
			t.Fatalf("%q is no text", m)
		}
	}
	if last := got[len(got)-1]; size > 300_000 || last != "and 9800 more" {
		t.Errorf("%d bytes are said, and at last %q", size, last)
	}
	if len(many[0]) != 20_000 {
		t.Error("what was wrong has changed")
	}
}
