package check

import (
	"slices"

	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/project"
)

// assets refuses assets of the CDK of a project that may not publish them. Who publishes can replace what other
// applications of the account will be deployed from.
func (c *checker) assets() {
	id := project.ID(c.Name, c.Environment)
	i := slices.IndexFunc(c.Stacks, func(s *resolve.Stack) bool { return len(s.Node.Assets) > 0 })
	if i < 0 || c.own.Assets == nil || c.own.Assets.Allow(id) {
		return
	}
	c.Add(c.Stacks[i].At, "stack %s: it needs files or images of the CDK, and %s may not publish them: "+
		"ask the owner of the installation to add %s to the setting cdkAssets", c.Stacks[i].Name, id, id)
}
