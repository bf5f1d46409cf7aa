package dynamodb

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// What is registered is found again, as it was registered last.
func TestTargets(t *testing.T) {
	table := open(t, &wire{page: 1})
	eu := project.Access{Target: project.Target{Name: "eu", Account: "111111111111", Region: "eu-west-1"}, Role: "r", Execution: "x", Projects: project.Grants{"shop@*", "*@prod"}}
	us := project.Access{Target: project.Target{Name: "us", Account: "111111111111", Region: "us-west-2"}}
	must(t, table.AddTarget(t.Context(), us))
	must(t, table.AddTarget(t.Context(), project.Access{Target: us.Target, Role: "old"}))
	must(t, table.AddTarget(t.Context(), us))
	must(t, table.AddTarget(t.Context(), eu))
	all, err := table.Targets(t.Context())
	if d := cmp.Diff(map[string]project.Access{"eu": eu, "us": us}, all); err != nil || d != "" {
		t.Error(err, d)
	}
	must(t, table.RemoveTarget(t.Context(), "us"))
	must(t, table.RemoveTarget(t.Context(), "us"))
	if got, err := table.Access(t.Context(), "eu"); err != nil || !cmp.Equal(eu, got) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := table.Access(t.Context(), "us"); !fault.Is(err, fault.Missing) {
		t.Errorf("of one that was removed: %v", err)
	}
}
