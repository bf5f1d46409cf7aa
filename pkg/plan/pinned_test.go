package plan

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/project"
)

// A value with a dynamic reference without a version, wherever it came from, may become another at any time.
func TestPinned(t *testing.T) {
	for _, c := range []struct {
		template bool
		value    string
		want     bool
	}{
		{true, "small", true},
		{false, "small", false},
		{true, "{{resolve:ssm:/size:3}}", true},
		{true, "{{resolve:secretsmanager:db}}", false},
		{true, "a-{{resolve:ssm:/size}}", false},
	} {
		n := project.Node{Template: project.Template{Pinned: c.template}}
		if got := Pinned(n, project.Resolved{Parameters: map[string]string{"A": "a", "P": c.value}}); got != c.want {
			t.Errorf("%q: %t", c.value, got)
		}
	}
}
