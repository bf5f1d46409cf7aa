package project_test

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/project"
)

// An export that a condition decides, or whose name only a deploy can say, is no certain one.
func TestCertainExports(t *testing.T) {
	l := project.Links{Exports: map[string]string{"A": "shared-vpc", "B": "", "C": "maybe", "D": "another"}, Maybe: []string{"C"}}
	if got := l.CertainExports(); !slices.Equal(got, []string{"another", "shared-vpc"}) {
		t.Errorf("certain are %q", got)
	}
}
