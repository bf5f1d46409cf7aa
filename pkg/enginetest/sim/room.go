package sim

import (
	"context"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Room implements engine.Clouds.
func (c *Cloud) Room(_ context.Context, t project.Target, count func()) (plan.Room, error) {
	count()
	if err := c.denied(t); err != nil {
		return plan.Room{}, err
	}
	return plan.Room{Limit: c.StackLimit, Stacks: c.stacksIn(t)}, nil
}

// ReadTemplate implements engine.Clouds.
func (c *Cloud) ReadTemplate(_ context.Context, t project.Target, digest string) error {
	if err := c.denied(t); err != nil {
		return err
	}
	if c.Lost[digest] {
		return fault.New(fault.Denied, "CloudFormation cannot read template %s from the bucket of the installation (S3 error: The specified key does not exist.)", digest)
	}
	return nil
}

// stacksIn counts the stacks in the account and region of a target.
func (c *Cloud) stacksIn(t project.Target) int {
	if !c.Apart {
		return len(c.live)
	}
	_, suffix, other := strings.Cut(c.called(plan.Location{Stack: "x", Target: t}), "@")
	n := 0
	for name := range c.live {
		if _, at, elsewhere := strings.Cut(name, "@"); at == suffix && elsewhere == other {
			n++
		}
	}
	return n
}

// refuseFull refuses a creation in a target that has as many stacks as it may have.
func (c *Cloud) refuseFull(t project.Target) error {
	if c.StackLimit > 0 && c.stacksIn(t) >= c.StackLimit {
		return fault.New(fault.Refused, "Limit for stack has been exceeded")
	}
	return nil
}
