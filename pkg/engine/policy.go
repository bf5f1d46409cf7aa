package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// checkPolicies checks the plan of r, of whatever operation, by the policies of the installation and those of the
// project, and returns what the plan changes, if that is shown or there are policies. It
// refuses a plan that they deny, with all violations; a preview shows them. A rollback is
// never denied: that would leave the stacks as a failed run left them.
func (e *Engine) checkPolicies(ctx context.Context, r *run.Run, v plan.View, p plan.Plan, shown bool) (plan.Changes, error) {
	o := e.operation(*r)
	all, err := e.policies(ctx, v.Desired)
	if err != nil || len(all) == 0 && !shown {
		return plan.Changes{}, err
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

// policies returns the policies of the installation and of a project.
func (e *Engine) policies(ctx context.Context, desired project.Project) ([]project.Policy, error) {
	installed, err := e.Policies.Installed(ctx)
	if fault.Is(err, fault.Invalid) {
		err = errors.Join(fault.New(fault.Refused, "every plan is refused until the owner of the installation has corrected its policies"), err)
	}
	return slices.Concat(installed, desired.Policies), err
}

// checkAgain checks the rest of the plan of r, which was planned before, by the accounts and the policies that there are now. It describes
// what the steps that are not over change as the stacks are now, with the values that the steps deploy.
func (e *Engine) checkAgain(ctx context.Context, r run.Run) error {
	desired, err := e.desired(ctx, &r)
	if err == nil && e.readsFiles(r) {
		err = plan.Departed(desired, r.Deploying(e.deploys))
	}
	if err != nil {
		return err
	}
	if all, err := e.policies(ctx, desired); err != nil || len(all) == 0 {
		return err
	}
	if desired, err = e.asPlanned(ctx, r, desired); err != nil {
		return err
	}
	v, _, err := e.view(ctx, r, desired)
	if err != nil {
		return err
	}
	p := plan.Plan{Steps: make([]plan.Step, len(r.Steps))}
	for i, s := range r.Steps {
		p.Steps[i] = s.Step
	}
	rest := p.Without(func(n int) bool { return r.Steps[n].Over() || r.Steps[n].Approval != nil })
	_, err = e.checkPolicies(ctx, &r, v, rest, false)
	return err
}

// asPlanned puts the nodes of the steps of r, as they were planned, in the place of those of the files: with the values outside the
// project that were read then, which may be others now.
func (e *Engine) asPlanned(ctx context.Context, r run.Run, desired project.Project) (project.Project, error) {
	if len(desired.Sources()) == 0 {
		return desired, nil
	}
	specs := make(map[string]string) // each once, however many steps its node has
	for _, s := range r.Steps {
		if s.Spec != "" && !s.Over() {
			specs[s.Node] = s.Spec
		}
	}
	names := slices.Sorted(maps.Keys(specs))
	planned := make([]project.Node, len(names))
	err := e.Parallel(ctx, len(names), func(ctx context.Context, i int) (err error) {
		if planned[i], err = e.Specs.Spec(ctx, specs[names[i]]); err != nil {
			err = fmt.Errorf("read what was planned for stack %s: %w", names[i], err)
		}
		return err
	})
	desired.Nodes = maps.Clone(desired.Nodes)
	for i, name := range names {
		planned[i].Links = desired.Nodes[name].Links
		desired.Nodes[name] = planned[i]
	}
	return desired, err
}

// UnusablePolicies is the error for a file of the installation's policies that cannot be read or does not compile. It says no
// more: those who read it are the users of all projects. Their owner tests the file, or reads the log.
func UnusablePolicies(file string) error {
	return fault.New(fault.Invalid, "%s cannot be used: stackwright policy check says why, and so does the log of the function plan", file)
}
