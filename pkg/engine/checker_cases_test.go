package engine_test

import (
	"fmt"
	"strings"
	"testing"
)

// The checker finds each kind of violation with its shortest trace, and none where
// there is none. A model is a list of transitions: from, actor, to; "-" is the
// environment, and state 9 is the only final one.
func TestChecker(t *testing.T) {
	for _, c := range []struct{ name, transitions, want, trace string }{
		{"every path ends in a final state", "0a1 1a9", "", ""},
		{"a cycle that another actor can leave", "0a1 1a0 1b9", "", ""},
		{"a cycle that only the environment can leave", "0a1 1a0 1-9", "livelock of a", ""},
		{"a cycle without an exit", "0b2 2a3 3a2 0a9", "livelock of a", "b to 2"},
		{"a cycle within a cycle that has an exit", "0a1 1a2 2a1 2b0 0c9", "", ""},
		{"an actor that always chooses the other of two transitions", "0a1 1a2 2a1 2b0 0b9", "livelock of a, b", ""},
		{"a transition that changes nothing", "0a0", "livelock of a", ""},
		{"a path that ends in a state that is not final", "0a1 1a9 0b2", "deadlock: no actor can act", "b to 2"},
		{"a deadlock after a fault", "0a9 0-2 2-9", "deadlock: no actor can act", "environment: to 2"},
		{"a state that violates the invariant", "0a1 0b2 1a8 2a9", "state 8 is forbidden", "a to 1, a to 8"},
		{"a transition that violates an invariant", "0a1 1a9 1b7", "a transition to 7 is forbidden", "a to 1, b to 7"},
	} {
		r := listed(c.transitions).check(10)
		if r.violation != c.want || strings.Join(r.trace, ", ") != c.trace {
			t.Errorf("%s: %q after %q", c.name, r.violation, r.trace)
		}
	}
	if r := listed("0a1 1a2 2a9").check(2); r.violation != "there are more than 2 states" {
		t.Errorf("a model with more states than the limit: %q", r.violation)
	}
}

// listed returns the model with the listed transitions.
func listed(transitions string) model[byte] {
	return model[byte]{
		initial: '0',
		actors:  []string{"environment:", "a", "b", "c"},
		transitions: func(s byte, yield func(int, transition[byte])) {
			for _, word := range strings.Fields(transitions) {
				if word[0] != s {
					continue
				}
				t := transition[byte]{name: fmt.Sprintf("to %c", word[2]), to: word[2]}
				if word[2] == '7' {
					t.violates = "a transition to 7 is forbidden"
				}
				yield(strings.IndexByte("-abc", word[1]), t)
			}
		},
		invariant: func(s byte) string {
			if s == '8' {
				return "state 8 is forbidden"
			}
			return ""
		},
		final: func(s byte) bool { return s == '9' },
	}
}
