package suggest

import (
	"strings"
	"testing"
)

func TestHint(t *testing.T) {
	var some []string
	for len(some) < most {
		some = append(some, strings.Repeat("abc", len(some)+1))
	}
	many := append(some[:most:most], "q")
	for _, c := range []struct {
		written string
		names   []string
		want    string
	}{
		{"paramters", []string{"parameters", "tags"}, ": did you mean parameters?"},
		{"netwrok/vpc", []string{"network/vpc", "network/dns"}, ": did you mean network/vpc?"},
		{"VPC", []string{"vpc"}, ": did you mean vpc?"},
		{"db", []string{"web", "vpc"}, ": available: web, vpc"},
		{"db", nil, ": none is defined"},
		{"zz", some, ": available: " + strings.Join(some, ", ")},
		{"zz", many, ""},
		{strings.Repeat("x", 201), []string{strings.Repeat("x", 200)}, ": available: " + strings.Repeat("x", 200)},
	} {
		if got := Hint(c.written, c.names); got != c.want {
			t.Errorf("%s among %v: %q, want %q", c.written, c.names, got, c.want)
		}
	}
}
