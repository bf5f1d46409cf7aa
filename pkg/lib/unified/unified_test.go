package unified

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a\n", "a\n", ""},
		{"", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
		{"a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		{"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "1\n2\n3\n4\n5\n6\n7\n8\nx\n10\n", "@@ -6,5 +6,5 @@\n 6\n 7\n 8\n-9\n+x\n 10\n"},
		{"a\n1\n2\n3\n4\n5\n6\n7\n8\nb\n", "x\n1\n2\n3\n4\n5\n6\n7\n8\ny\n", "@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-b\n+y\n"},
		{"a\n1\n2\n3\n4\n5\n6\nb\n", "x\n1\n2\n3\n4\n5\n6\ny\n", "@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n"},
	} {
		if got := Of(c.before, c.after); got != c.want {
			t.Errorf("%q, %q:\n%s\nwant\n%s", c.before, c.after, got, c.want)
		}
	}
}

// The edits make one text of the other, and are as few as the longest common subsequence allows.
func TestEdits(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := func() (all []string) {
			for range r.IntN(12) {
				all = append(all, fmt.Sprint(r.IntN(4)))
			}
			return all
		}
		a, b := text(), text()
		changed := 0
		var before, after []string
		for _, e := range edits(a, b) {
			if e.kind != '+' {
				before = append(before, e.line)
			}
			if e.kind != '-' {
				after = append(after, e.line)
			}
			if changes(e) {
				changed++
			}
		}
		if fmt.Sprint(before, after) != fmt.Sprint(a, b) || changed != len(a)+len(b)-2*common(a, b) {
			t.Fatalf("seed %d: %v, %v: %v", seed, a, b, edits(a, b))
		}
	}
}

// common is the length of the longest common subsequence.
func common(a, b []string) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return 0
	case a[0] == b[0]:
		return 1 + common(a[1:], b[1:])
	}
	return max(common(a[1:], b), common(a, b[1:]))
}

// Texts that have nothing in common are written one after the other, without much time and memory.
func TestLargeTexts(t *testing.T) {
	before, after := strings.Repeat("a\n", 50_000), strings.Repeat("b\n", 50_000)
	if got := Of(before, after); strings.Count(got, "\n-a") != 50_000 || strings.Count(got, "\n+b") != 50_000 {
		t.Errorf("%.200s", got)
	}
}
