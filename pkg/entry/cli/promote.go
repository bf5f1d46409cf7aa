package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// promote requests a deploy of the revision of an environment to another one, and follows the run.
func promote(ctx context.Context, c *call) (int, error) {
	if err := errors.Join(c.checkPromotion(), c.checkPlan(plan.AllOperations().Of(c.operation()))); err != nil {
		return c.refuse(err)
	}
	c.flags.env = c.flags.from // of the project that is found
	return c.aboutProject(ctx, c.open, func(s *session, from string) (int, error) {
		name, _, _ := strings.Cut(from, "@")
		q := s.newRequest(project.ID(name, c.flags.into), run.Source{})
		q.FromEnvironment = c.flags.from
		v, err := s.to.Revision(ctx, from, cmp.Or(c.flags.revision, run.CurrentRevision))
		if fault.Is(err, fault.Missing, fault.Invalid, fault.Refused) {
			return c.refuse(err)
		}
		if err != nil {
			return ExitFailed, err
		}
		if c.flags.revision != "" {
			q.FromRevision = v.Run
		}
		return s.begin(ctx, q)
	})
}

// checkPromotion lists what is wrong with the environments of a promotion.
func (c *call) checkPromotion() error {
	var all []error
	for _, one := range []struct{ flag, value, what string }{
		{"from", c.flags.from, "name the environment whose revision is deployed"}, {"to", c.flags.into, "name the environment to which it is deployed"},
	} {
		switch {
		case one.value == "":
			all = append(all, fault.New(fault.Invalid, "--%s: missing: %s", one.flag, one.what))
		case !project.EnvironmentName.MatchString(one.value):
			all = append(all, fault.New(fault.Invalid, "--%s %s: this is not the name of an environment: use letters, digits and hyphens, at most 64", one.flag, quoted(one.value)))
		}
	}
	if f := c.flags; f.from != "" && f.from == f.into {
		all = append(all, fault.New(fault.Invalid, "--from and --to are both %s: name two environments, or deploy or roll back this one", quoted(f.from)))
	}
	return errors.Join(all...)
}

// promotedWords lists the revisions of the environment that is promoted, for the completion of a flag.
func promotedWords(ctx context.Context, s *session, done []string) ([]string, error) {
	s.call.flags.env = s.call.flags.from
	return revisionWords(ctx, s, done)
}
