package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// listEnvironments lists the environments that live, and until when.
func listEnvironments(ctx context.Context, c *call) (int, error) {
	return c.show(ctx, []string{"ENVIRONMENT", "PATTERN", "EXPIRES", "STACKS", "DEPLOYED", "BY"}, func(s *session) (objects []any, cells [][]string, err error) {
		all, err := s.to.ListEnvironments(ctx, c.scope())
		for _, e := range all {
			pattern, expires, deployed, by := "-", "never", "-", "-"
			if l := e.Lifetime; l != nil {
				if l.Pattern != "" {
					pattern = l.Pattern
				}
				expires = l.Expires.Local().Format(time.DateTime)
				switch {
				case l.GivenUp:
					expires += ", destroy failed"
				case !time.Now().Before(l.Expires):
					expires += ", expired"
				}
			}
			if d := e.Deployed; d != nil {
				deployed, by = d.Requested.Local().Format(time.DateTime), d.Who
			}
			objects = append(objects, e)
			cells = append(cells, []string{e.Project, pattern, expires, strconv.Itoa(e.Stacks), deployed, by})
		}
		return objects, cells, err
	})
}

// extend requests that an environment lives longer, and follows the run.
func extend(ctx context.Context, c *call) (int, error) {
	length, until, err := c.extension(time.Now())
	if err != nil {
		return c.refuse(err)
	}
	return c.aboutProject(ctx, c.open, func(s *session, id string) (int, error) {
		q := s.newRequest(id, run.Source{})
		q.For, q.Until = length, until
		started, err := s.to.Request(ctx, q)
		if fault.Is(err, fault.Refused, fault.Missing) {
			return c.refuse(err)
		}
		if err != nil {
			return ExitFailed, err
		}
		return s.watch(ctx, watch{run: started})
	})
}

// extension reads how long, or until when, an environment lives.
func (c *call) extension(now time.Time) (length project.TTL, until time.Time, err error) {
	given, text := c.flags.lives, c.flags.filters.until
	switch {
	case (given == "") == (text == ""):
		return 0, until, fault.New(fault.Invalid, "give either --for, such as 2d, or --until, such as 2026-03-01, and not both")
	case given != "":
		if length, err = project.ParseTTL(given); err != nil {
			err = fault.New(fault.Invalid, "--for %s: %w", quoted(given), err)
		}
		return length, until, err
	}
	until, err = readMoment("--until", text)
	if err == nil && until.Before(now) {
		err = fault.New(fault.Invalid, "--until %s: this is past: give a later time, or how long it lives from now on with --for", quoted(text))
	}
	return 0, until, err
}
