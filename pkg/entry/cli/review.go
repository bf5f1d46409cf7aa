package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// reviewed reports whether a person at the terminal confirms what a deploy destroys before it begins.
func (c *call) reviewed() bool { return c.Asks && !c.flags.yes && !c.flags.whileSuspended }

// review plans a deploy, and shows its plan if it deletes a stack, replaces a resource or may lose data. It returns the
// request that carries out exactly this plan, if the user agrees. It is empty if the plan has nothing of that kind. The
// error is of kind Refused if the plan is refused, or the user does not agree.
//
// While another run holds the lock, the stacks are on the way to another state, and every plan of now is out of date when
// this deploy begins. Then nothing is planned before; the run says what it loses.
func (s *session) review(ctx context.Context, p packed) (run.Request, error) {
	lock, err := s.to.Lock(ctx, p.ID())
	if err != nil {
		return run.Request{}, fmt.Errorf("read the lock of %s: %w", p.ID(), err)
	}
	if lock.Owner.Run != "" {
		fmt.Fprintf(s.call.Err, "run %s is in progress: what this deploy loses is known when it begins, and not before\n", lock.Owner.Run)
		return run.Request{}, nil
	}
	q, err := s.stored(ctx, p)
	if err != nil {
		return run.Request{}, err
	}
	preview := q
	preview.Operation = "plan"
	preview.Options = run.Options{Selection: q.Selection, Adopt: q.Adopt, Skip: q.Skip, MaxDeletions: q.MaxDeletions, Rollback: q.Rollback}
	r, c, err := s.planned(ctx, preview)
	if err != nil || !destroys(c) {
		return run.Request{}, err
	}
	s.showPlan(c)
	if err := s.call.agree(fmt.Sprintf("deploy does this to %s\n%s", p.ID(), s.place())); err != nil {
		return run.Request{}, err
	}
	q.Source, q.Options.Plan = r.Source, r.Changes
	return q, nil
}

// destroys reports whether a plan deletes a stack, replaces a resource, or may lose data.
func destroys(c plan.Changes) bool {
	l := c.Losses()
	l.Refused = nil // nothing is lost
	return len(l.All()) > 0
}

// planned requests a preview, and returns its run and what it would change. The error is of kind Refused if the plan is
// refused.
func (s *session) planned(ctx context.Context, q run.Request) (run.Run, plan.Changes, error) {
	id, err := s.to.Request(ctx, q)
	if err != nil {
		return run.Run{}, plan.Changes{}, err
	}
	r, err := s.follow(ctx, watch{run: id}, unshown{})
	if err != nil {
		return r, plan.Changes{}, err
	}
	if r.State != run.StateSucceeded {
		var reasons []error
		for _, m := range r.Messages {
			reasons = append(reasons, fault.New(fault.Refused, "%s", m))
		}
		if len(reasons) == 0 {
			reasons = append(reasons, fault.New(fault.Refused, "its plan, run %s, is %s", r.ID, r.State))
		}
		return r, plan.Changes{}, errors.Join(reasons...)
	}
	c, _, err := s.changesOf(ctx, r)
	return r, c, err
}

// showPlan prints a plan about which the user decides.
func (s *session) showPlan(c plan.Changes) {
	if s.call.flags.targets {
		c.Targets = nil
	}
	fmt.Fprintln(s.call.Err, strings.Join(term.Plan(c, s.call.width(), false), "\n"))
}
