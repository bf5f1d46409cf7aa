package hook

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Stacks are stacks of CloudFormation.
type Stacks interface {
	// PhysicalIDs returns the physical IDs of the resources of a type that a stack of the target has now, sorted; none if the stack
	// does not exist. Resources of nested stacks are not among them.
	PhysicalIDs(ctx context.Context, in project.Target, stack, kind string) ([]string, error)
}

// OfStack is the value of the key of a type that stands for all resources of its kind in the stack of the hook. They are found when the
// hook is called.
const OfStack = "stack"

// MaxOfStack is for how many resources of its stack a hook is called at most, so that the requests fit into CallTime.
const MaxOfStack = 50

// withResources are the moments at which a stack has resources.
var withResources = []project.Moment{project.AfterCreate, project.BeforeUpdate, project.AfterUpdate, project.BeforeDelete}

// Finds reports whether a hook of the type on a value is about what its stack has when it is called.
func (t Type) Finds(on string) bool { return t.Resource != "" && on == OfStack }

// CheckFinds returns an error of kind Invalid if a hook of the type on a value finds nothing at all of its moments.
func (t Type) CheckFinds(on string, moments []project.Moment) error {
	if !t.Finds(on) || slices.ContainsFunc(moments, func(m project.Moment) bool { return slices.Contains(withResources, m) }) {
		return nil
	}
	return fault.New(fault.Invalid, "%s stands for what the stack of the hook has, and there is none: move it to after_create, before_update, after_update, before_deploy, after_deploy or before_delete of a stack, or write %s", OfStack, t.one())
}

// one is what the value of the type names, without what else it may be.
func (t Type) one() string { return strings.Split(t.What, ", or ")[0] }

// service is the service of AWS that hooks of the type reach.
func (t Type) service(in project.Target) string {
	return strings.Split(t.Reached()[0].Reaches(in, "any"), ":")[2]
}

// callEach calls a hook for each resource of its type that its stack has. It calls it for none if one of them may not be reached.
func (s Services) callEach(ctx context.Context, t Type, c Call) error {
	if c.Message.StackName == "" {
		return fault.New(fault.Invalid, "%s stands for what the stack of a hook has, and this hook is of no stack: write %s", OfStack, t.one())
	}
	found, err := s.Stacks.PhysicalIDs(ctx, c.Target, c.Message.StackName, t.Resource)
	if err != nil {
		return err
	}
	if len(found) > MaxOfStack {
		return fault.New(fault.Invalid, "stack %s has %d resources of the type %s, and a hook is called for at most %d: write hooks that name each", c.Message.StackName, len(found), t.Resource, MaxOfStack)
	}
	calls := make([]Call, len(found))
	for i, id := range found {
		calls[i] = c.about(id)
		if err := s.permitAll(t, calls[i]); err != nil {
			return err
		}
	}
	for i, one := range calls {
		_, err := t.Call(ctx, s, one)
		switch {
		case i > 0 && fault.Is(err, fault.Busy, fault.Throttled): // not without effect: the calls before it had one
			return fault.As(fault.Unavailable, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// about is the call with another value of the key of its type.
func (c Call) about(on string) Call {
	c.Values = maps.Clone(c.Values)
	c.Values[c.Type] = on
	return c
}
