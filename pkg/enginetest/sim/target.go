package sim

import (
	"errors"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// called is the name of a stack in the cloud: its own, with its target if that is not
// the default one and targets are apart.
func (c *Cloud) called(p plan.Location) string {
	if !c.Apart || p.Target.Name == "" || p.Target.Name == project.DefaultTarget {
		return p.Stack
	}
	return p.Stack + "@" + p.Target.Name
}

// denied is the error of a target that cannot be accessed.
func (c *Cloud) denied(t project.Target) error {
	if c.Denied[t.Name] {
		return fault.New(fault.Denied, "target %s: its role cannot be assumed", t.Name)
	}
	return nil
}

// accessErrors lists why some locations cannot be accessed. It is an error if none
// can.
func (c *Cloud) accessErrors(places []plan.Location) (map[string]plan.Live, error) {
	seen := make(map[string]plan.Live)
	var all []error
	reported := make(map[string]bool)
	for _, p := range places {
		err := c.denied(p.Target)
		if err == nil {
			continue
		}
		seen[p.Node] = plan.Live{AccessError: err.Error()}
		if !reported[p.Target.Name] {
			reported[p.Target.Name], all = true, append(all, err)
		}
	}
	if len(seen) > 0 && len(seen) == len(places) {
		return nil, errors.Join(all...)
	}
	return seen, nil
}
