package sim

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Permits are the projects that may use each target, by its name. Those of the empty name
// may use each target that is missing.
type Permits map[string]project.Grants

// Permit implements engine.Permits.
func (p Permits) Permit(_ context.Context, id string, t project.Target) error {
	grants, ok := p[t.Name]
	if !ok {
		grants, ok = p[""]
	}
	if !ok {
		return fault.New(fault.Denied, "target %s: it is not registered", t.Name)
	}
	return project.Access{Target: t, Projects: grants}.Permit(id)
}
