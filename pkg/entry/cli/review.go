package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/term"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// reviews reports whether a person at the terminal confirms what a command destroys before it begins.
func (c *call) reviews() bool { return c.Asks && !c.flags.yes }

// review plans what q requests, and shows the plan if it deletes a stack, replaces a resource or may lose data. It
// returns the request that carries out exactly this plan, if the user agrees; q itself if there is nothing to confirm.
// An operation that only deletes is confirmed in any case. The error is of kind Refused if the plan is refused, or the
// user does not agree.
//
// While another run holds the lock, the stacks are on the way to another state, and every plan of now is out of date when
// the run begins. Then nothing is planned before, and the run says what it loses; what only deletes is confirmed
// nevertheless.
func (s *session) review(ctx context.Context, q run.Request) (run.Request, error) {
	o, command := plan.AllOperations().Of(q.Operation), plan.CommandOf(q.Operation)
	exact := slices.Contains(o.Options, plan.OptionPlan)
	if !s.call.reviews() || !exact && !o.OnlyDeletes() {
		return q, nil
	}
	lock, err := s.to.Lock(ctx, q.Project)
	if err != nil {
		return q, fmt.Errorf("read the lock of %s: %w", q.Project, err)
	}
	busy := lock.Owner.Run != ""
	if busy {
		fmt.Fprintf(s.call.Err, "run %s is in progress: what this %s loses is known when it begins, and not before\n",
			lock.Owner.Run, command)
	}
	if busy && !o.OnlyDeletes() {
		return q, nil
	}
	r, c, err := s.planned(ctx, previewOf(q))
	if err != nil || !c.Differs() || !o.OnlyDeletes() && !destroys(c) {
		return q, err
	}
	s.showPlan(c)
	if exact && !busy {
		q.Plan = r.Changes
	}
	return q, s.call.agree(fmt.Sprintf("%s does this to %s\n%s", command, q.Project, s.place()))
}

// previewOf requests the plan of what q requests, which is only shown.
func previewOf(q run.Request) run.Request {
	q.Operation = plan.PreviewOf(q.Operation)
	q.Reason, q.Refuse, q.WhileSuspended, q.Plan = "", false, false, "" // what no preview has
	return q
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
