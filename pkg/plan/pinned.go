package plan

import (
	"github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// Pinned reports whether what a node deploys follows from its template and from the values that CloudFormation gets. It does
// not if a value, which may be the output of a stack or computed, has a dynamic reference without a version.
func Pinned(n project.Node, got project.Resolved) bool {
	for _, value := range got.Parameters {
		if len(template.Unversioned(value)) > 0 {
			return false
		}
	}
	return n.Template.Pinned
}
