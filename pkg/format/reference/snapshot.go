package reference

import (
	"github.com/stackwright/stackwright/pkg/format/declared"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// inSnapshot is the name of a snapshot, a stack that may have a target, and the logical ID of a resource.
var inSnapshot = pattern.New(`^([A-Za-z0-9][-_A-Za-z0-9]{0,63})/([-_/A-Za-z0-9]{1,128}(?:@[-A-Za-z0-9]{1,64})?)\.([A-Za-z0-9]{1,255})$`)

// ${snapshot:name/stack.Resource} is the ARN of the backup of a resource that a snapshot of the project has, or its name where the property takes no ARN. It is read when a plan is made.
var snapshot = Kind{
	Name: "snapshot", Syntax: []string{"${snapshot:name/stack.Resource}", "${snapshot:name/stack@target.Resource}"},
	match: prefix("snapshot:"),
	parse: func(body string) (declared.Reference, bool) {
		m := inSnapshot.FindStringSubmatch(body)
		if m == nil {
			return declared.Reference{}, false
		}
		return declared.Reference{Name: m[1], Key: m[2] + "." + m[3]}, true
	},
	resolve: func(s Scope, r declared.Reference) (Result, error) {
		return outside(s, r, project.Source{Snapshot: r.Name, Resource: r.Key})
	},
}
