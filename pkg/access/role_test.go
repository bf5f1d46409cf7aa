package access_test

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/access"
)

// Each role includes those before it, and no role is enough where none is named.
func TestRoles(t *testing.T) {
	want := []string{"reader", "planner", "deployer", "approver", "admin"}
	if !slices.Equal(access.Roles(), want) {
		t.Errorf("roles %q", access.Roles())
	}
	for i, name := range want {
		r, ok := access.RoleNamed(name)
		if !ok || r.String() != name || access.None.Includes(r) || r.Includes(access.None) {
			t.Errorf("%s: %v, %v", name, r, ok)
		}
		for j, other := range want {
			if needed, _ := access.RoleNamed(other); r.Includes(needed) != (i >= j) {
				t.Errorf("%s includes %s: %v", name, other, r.Includes(needed))
			}
		}
	}
	for _, name := range []string{"", "none", "owner", "Admin"} {
		if r, ok := access.RoleNamed(name); ok || r != access.None {
			t.Errorf("%q is the role %v", name, r)
		}
	}
}
