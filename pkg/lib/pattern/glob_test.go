package pattern

import "testing"

// A star stands for any text of one folder, two stars for any text, and a question mark for one letter. Nothing else is special.
func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "ab", false}, {"ab", "a", false},
		{"net/*", "net/vpc", true}, {"net/*", "net/", true}, {"net/*", "net/eu/vpc", false}, {"net/**", "net/eu/vpc", true}, {"net/*", "network/vpc", false},
		{"*-db", "shop-db", true}, {"*-db", "data/shop-db", false}, {"**-db", "data/shop-db", true}, {"*/*-db", "data/shop-db", true}, {"*-db", "-db", true},
		{"app?", "app1", true}, {"app?", "app", false}, {"app?", "app12", false}, {"app?", "app/", false}, {"?", "/", false},
		{"*", "", true}, {"*", "a/b", false}, {"**", "a/b", true}, {"***", "a/b", true}, {"a*b*c", "a-b-b-c", true}, {"a*b*c", "acb", false},
		{"*ab*ab", "ab", false}, {"*ab*ab", "abab", true}, {"[a]", "a", false}, {"web@*", "web@eu", true}, {"*@eu", "web@eu", true},
	} {
		if got := Glob(c.pattern, c.path); got != c.want {
			t.Errorf("%q of %q: %t", c.path, c.pattern, got)
		}
	}
	if IsGlob("net/vpc@eu") || !IsGlob("a?") || !IsGlob("a*") {
		t.Error("a name is taken for a glob, or a glob for a name")
	}
}
