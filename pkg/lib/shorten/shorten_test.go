package shorten

import "testing"

func TestTo(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"abcd", "abcd"},
		{"abcde", "abcd…"},
		{"abcé", "abc…"}, // é has two bytes
		{"abé", "abé"},
	} {
		if got := To(4, c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
