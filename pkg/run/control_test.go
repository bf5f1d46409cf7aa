package run_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/run"
)

// To end a run by force needs more than to start, to pause and to cancel one, and to see what a deploy would change less. An exact
// plan makes change sets, with which CloudFormation calls macros.
func TestRoles(t *testing.T) {
	for name, want := range map[string]access.Role{
		"deploy": access.Deployer, "destroy": access.Deployer, "cancel": access.Deployer, "unlock": access.Admin, "unknown": access.Deployer,
		"plan": access.Planner, "plan-destroy": access.Planner, "plan-suspend": access.Deployer, "refresh": access.Deployer, "retry": access.Deployer,
	} {
		if got := (run.Request{Operation: name}).Role(); got != want {
			t.Errorf("%s needs the role %s, want %s", name, got, want)
		}
	}
	if got := (run.Request{Operation: "plan", Options: run.Options{Exact: true}}).Role(); got != access.Deployer {
		t.Errorf("an exact plan needs the role %s", got)
	}
}
