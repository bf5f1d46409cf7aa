// Package access decides who may do what with which project, by the installation's access file.
package access

import "slices"

// A Role is what a principal may do with a project and environment. Each role includes
// those before it.
type Role int

// The roles, in their order. The zero Role allows nothing.
const (
	None     Role = iota
	Reader        // reads runs and what plans would change
	Planner       // uploads files, and has plans made of them that are only shown
	Deployer      // starts runs, and pauses, continues and cancels them
	Approver      // answers what runs ask
	Admin         // ends runs by force, and frees locks
)

// names are the roles as the access file writes them.
var names = []string{"none", "reader", "planner", "deployer", "approver", "admin"}

// String returns the role as the access file writes it.
func (r Role) String() string { return names[r] }

// Includes reports whether a principal with role r may do what needs the role needed.
func (r Role) Includes(needed Role) bool { return needed > None && r >= needed }

// Roles lists the names of the roles that can be granted, in their order.
func Roles() []string { return slices.Clone(names[Reader:]) }

// RoleNamed returns the role of the given name. It reports false if there is none that can be
// granted.
func RoleNamed(name string) (Role, bool) {
	i := slices.Index(names, name)
	return Role(max(i, 0)), i > 0
}
