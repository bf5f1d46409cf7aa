package pattern

import "testing"

// A star stands for any text, also for none, and for slashes. Nothing else is special.
func TestStar(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a/b:c", true}, {"a", "a", true}, {"a", "ab", false},
		{"a*", "a", true}, {"a*", "a/b", true}, {"a*", "ba", false}, {"*b", "a/b", true}, {"*b", "ba", false},
		{"a*a", "a", false}, {"a*a", "aa", true}, {"a*b*c", "a-b-b-c", true}, {"a*b*c", "acb", false}, {"a**c", "ac", true},
		{"a?c", "abc", false}, {"[a]", "a", false}, {"*ab*ab", "ab", false}, {"*ab*ab", "abab", true},
	} {
		if got := Star(c.pattern, c.text); got != c.want {
			t.Errorf("%q of %q: %t", c.text, c.pattern, got)
		}
	}
}
