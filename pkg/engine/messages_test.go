package engine

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The messages of a run are cut so that they fit into its item.
func TestSay(t *testing.T) {
	if got := limitMessages(nil); len(got) != 0 {
		t.Errorf("no messages become %q", got)
	}
	if got := limitMessages([]string{"a", "b"}); strings.Join(got, " ") != "a b" {
		t.Errorf("two messages become %q", got)
	}
	many := make([]string, 10_000)
	for i := range many {
		many[i] = strings.Repeat("ü", 10_000)
	}
	got := limitMessages(many)
	size := 0
	for _, m := range got {
		size += len(m)
		if !utf8.ValidString(m) {
			t.Fatalf("%q is not valid UTF-8", m)
		}
	}
	if last := got[len(got)-1]; size > maxText+100 || last != "and 9935 more" {
		t.Errorf("the messages have %d bytes, and the last is %q", size, last)
	}
	if len(many[0]) != 20_000 {
		t.Error("the original messages have changed")
	}
}
