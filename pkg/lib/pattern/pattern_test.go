package pattern

import (
	"slices"
	"testing"
)

// A pattern matches as the expression does.
func TestPattern(t *testing.T) {
	p := New(`^v(\d+)$`)
	if !p.MatchString("v12") || p.MatchString("v") || p.String() != `^v(\d+)$` {
		t.Error("the pattern does not match as its expression does")
	}
	if got := p.FindStringSubmatch("v12"); !slices.Equal(got, []string{"v12", "12"}) {
		t.Errorf("the groups are %q", got)
	}
}

// An expression that is malformed makes no trouble before it is used.
func TestPatternIsCompiledWhenItIsUsed(t *testing.T) {
	p := New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a malformed expression matches")
		}
	}()
	p.MatchString("")
}
