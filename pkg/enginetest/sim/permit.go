package sim

import (
	"context"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Permits are the projects that may use each target, by its name. Those of the empty name
// may use each target that is missing.
type Permits map[string]project.Grants

// NoDeploys is the project of a target in which nobody may create and update stacks.
const NoDeploys = "no@deploys"

// Deploys implements engine.Permits.
func (p Permits) Deploys(_ context.Context, t project.Target) error {
	if grants, ok := p[t.Name]; slices.Contains(grants, NoDeploys) || !ok && slices.Contains(p[""], NoDeploys) {
		return fault.New(fault.Denied, "target %s: account %s is left out of its unit", t.Name, t.Account)
	}
	return nil
}

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
