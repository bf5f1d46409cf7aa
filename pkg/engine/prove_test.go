package engine_test

import (
	"fmt"
	"strings"
	"testing"
)

// The search finds each kind of fault by the shortest way, and nothing where there
// is none. A small setup is a table: from, who, to; state 9 is a good end.
func TestProve(t *testing.T) {
	for _, c := range []struct{ name, moves, want, trace string }{
		{"all ends well", "0a1 1a9", "", ""},
		{"a circle that somebody can leave", "0a1 1a0 1b9", "", ""},
		{"a circle that somebody can leave only by a mishap", "0a1 1a0 1-9", "it can go on for ever: a", ""},
		{"a circle that nobody can leave", "0b2 2a3 3a2 0a9", "it can go on for ever: a", "b to 2"},
		{"a circle within one that can be left", "0a1 1a2 2a1 2b0 0c9", "", ""},
		{"somebody who never takes the right of two ways", "0a1 1a2 2a1 2b0 0b9", "it can go on for ever: a, b", ""},
		{"somebody who only stands still", "0a0", "it can go on for ever: a", ""},
		{"an end that is not good", "0a1 1a9 0b2", "nobody can go on", "b to 2"},
		{"an end after a mishap", "0a9 0-2 2-9", "nobody can go on", "mishap: to 2"},
		{"a wrong state", "0a1 0b2 1a8 2a9", "it is wrong", "a to 1, a to 8"},
		{"a wrong move", "0a1 1a9 1b7", "it is a wrong move", "a to 1, b to 7"},
	} {
		p := table(c.moves).prove(10)
		if p.wrong != c.want || strings.Join(p.trace, ", ") != c.trace {
			t.Errorf("%s: %q after %q", c.name, p.wrong, p.trace)
		}
	}
	if p := table("0a1 1a2 2a9").prove(2); p.wrong != "there are more than 2 states" {
		t.Errorf("too large a setup: %q", p.wrong)
	}
}

// table is the model that a table describes.
func table(moves string) model[byte] {
	return model[byte]{
		start: '0',
		names: []string{"mishap:", "a", "b", "c"},
		next: func(s byte, tell func(int, move[byte])) {
			for _, m := range strings.Fields(moves) {
				if m[0] != s {
					continue
				}
				to := move[byte]{what: fmt.Sprintf("to %c", m[2]), to: m[2]}
				if m[2] == '7' {
					to.wrong = "it is a wrong move"
				}
				tell(strings.IndexByte("-abc", m[1]), to)
			}
		},
		wrong: func(s byte) string {
			if s == '8' {
				return "it is wrong"
			}
			return ""
		},
		good: func(s byte) bool { return s == '9' },
	}
}
