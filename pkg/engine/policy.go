package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// checkPolicies checks the plan of r, of whatever operation, by the policies of the installation and those of the
// project, and returns what the plan changes, if that is shown or there are policies. It
// refuses a plan that they deny, with all violations; a preview shows them. A rollback is
// never denied: that would leave the stacks as a failed run left them.
func (e *Engine) checkPolicies(ctx context.Context, r *run.Run, v plan.View, p plan.Plan, shown bool) (plan.Changes, error) {
	o := e.operation(*r)
	installed, err := e.Policies.Installed(ctx)
	switch {
	case fault.Is(err, fault.Invalid):
		return plan.Changes{}, errors.Join(fault.New(fault.Refused, "every plan is refused until the owner of the installation has corrected its policies"), err)
	case err != nil:
		return plan.Changes{}, err
	}
	all := slices.Concat(installed, v.Desired.Policies)
	if len(all) == 0 && !shown {
		return plan.Changes{}, nil
	}
	c, err := e.changes(ctx, *r, v, p)
	if err != nil || len(all) == 0 {
		return c, err
	}
	facts := plan.Facts{Project: v.Desired.Name, Environment: v.Desired.Environment, Principal: r.Who, Time: e.Now()}
	if c.Policies, err = e.Policies.Check(ctx, all, facts, c); err != nil {
		return c, err
	}
	if o.Restores {
		c.Policies = plan.Warnings(c.Policies)
	}
	if o.Preview {
		return c, nil
	}
	var denied []error
	for _, d := range plan.Denials(c.Policies) {
		denied = append(denied, fault.New(fault.Refused, "%s", d))
	}
	if len(denied) > 0 {
		return c, errors.Join(denied...)
	}
	for _, w := range c.Policies {
		r.Messages = append(r.Messages, w.String())
	}
	return c, nil
}

// UnusablePolicies is the error for a file of the installation's policies that cannot be read or does not compile. It says no
// more: those who read it are the users of all projects. Their owner tests the file, or reads the log.
func UnusablePolicies(file string) error {
	return fault.New(fault.Invalid, "%s cannot be used: stackwright policy check says why, and so does the log of the function plan", file)
}
