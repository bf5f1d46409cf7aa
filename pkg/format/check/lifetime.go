package check

import (
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/project"
)

// ephemeral reports whether the environment expires.
func (c *checker) ephemeral() bool { return c.Lives.TTL != nil && *c.Lives.TTL != 0 }

// approvals refuses an environment that expires, and whose destroy would wait for a person.
func (c *checker) approvals() {
	if c.ephemeral() && c.ApprovePlan {
		c.Add(c.Lives.TTLAt, "environment %s: ttl: its plans have to be approved, and nobody approves a destroy when it expires: write approve_plan: false under the environment, or remove ttl", c.Lives.Name)
	}
}

// lifetime refuses a stack that cannot be destroyed without a person, in an environment that expires.
func (c *checker) lifetime(s *resolve.Stack) {
	if !c.ephemeral() {
		return
	}
	if s.Node.Protect && s.Settings.Protect != nil {
		c.Add(s.Settings.Protect.At, "stack %s: protect: environment %s has a ttl (%s), and CloudFormation would refuse to delete the stack when it expires: write protect: false under the environment, or remove ttl", s.Name, c.Lives.Name, c.Lives.TTL)
	}
	if s.Node.Approve != project.ApproveNever && s.Settings.Approve != nil {
		c.Add(s.Settings.Approve.At, "stack %s: approve: environment %s has a ttl (%s), and nobody approves the deletion of the stack when it expires: write approve: never under the environment, or remove ttl", s.Name, c.Lives.Name, c.Lives.TTL)
	}
}
