package sim

import (
	"errors"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// called returns the name of a location's stack in the cloud: the physical name, and
// also the target if targets are Apart and it is not the default one.
func (c *Cloud) called(p plan.Location) string {
	if !c.Apart || p.Target.Name == "" || p.Target.Name == project.DefaultTarget {
		return p.Stack
	}
	return p.Stack + "@" + p.Target.Name
}

// denied returns the error of a target whose role cannot be assumed, or nil.
func (c *Cloud) denied(t project.Target) error {
	if c.Denied[t.Name] {
		return fault.New(fault.Denied, "target %s: its role cannot be assumed", t.Name)
	}
	return nil
}

// accessErrors returns, by node, the stacks in targets that deny access. If no location
// can be read, it returns the errors.
func (c *Cloud) accessErrors(locations []plan.Location) (map[string]plan.Live, error) {
	live := make(map[string]plan.Live)
	var all []error
	reported := make(map[string]bool)
	for _, p := range locations {
		err := c.denied(p.Target)
		if err == nil {
			continue
		}
		live[p.Node] = plan.Live{AccessError: err.Error()}
		if !reported[p.Target.Name] {
			reported[p.Target.Name], all = true, append(all, err)
		}
	}
	if len(live) > 0 && len(live) == len(locations) {
		return nil, errors.Join(all...)
	}
	return live, nil
}
