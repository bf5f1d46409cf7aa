package run_test

import (
	"testing"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/run"
)

// To end a run by force needs more than to start, to pause and to cancel one.
func TestRoleFor(t *testing.T) {
	for name, want := range map[string]access.Role{
		"deploy": access.Deployer, "destroy": access.Deployer, "cancel": access.Deployer, "unlock": access.Admin, "unknown": access.Deployer,
	} {
		if got := run.RoleFor(name); got != want {
			t.Errorf("%s needs the role %s, want %s", name, got, want)
		}
	}
}
