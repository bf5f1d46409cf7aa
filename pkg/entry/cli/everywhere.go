package cli

import (
	"context"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// examine requests an operation that finds out how stacks differ from what is known of them. Without --env it is
// about all environments of the project that have records, one after the other, as lists are.
func examine(ctx context.Context, c *call) (int, error) {
	if c.flags.env != "" {
		return request(ctx, c)
	}
	if err := c.checkFormat(plan.AllOperations().Of(c.operation())); err != nil {
		return c.refuse(err)
	}
	here, err := c.projectHere()
	if err == nil && here.name == "" {
		_, err = c.folder()
	}
	if err != nil {
		return c.refuse(err)
	}
	c.take(here)
	return c.in(ctx, c.open, func(s *session) (int, error) {
		ids, err := s.recordedProjects(ctx)
		switch {
		case err != nil:
			return ExitFailed, err
		case len(ids) == 0:
			return c.refuse(fault.New(fault.Refused, "nothing is recorded for %s, in any environment: deploy it first", here.name))
		}
		return s.eachOf(ctx, ids)
	})
}

// recordedProjects lists the projects and environments that the call's flags choose and that have records, sorted.
func (s *session) recordedProjects(ctx context.Context) ([]string, error) {
	rows, err := s.records(ctx)
	var ids []string
	for _, r := range rows {
		if len(ids) == 0 || ids[len(ids)-1] != r.project {
			ids = append(ids, r.project)
		}
	}
	return ids, err
}

// eachOf requests the operation of the call for each of some projects, and follows its run to the end. The exit code
// is that of the first run that has failed, or else of the first that has found differences.
func (s *session) eachOf(ctx context.Context, ids []string) (int, error) {
	worst := ExitOK
	for _, id := range ids {
		_, s.call.flags.env, _ = strings.Cut(id, "@")
		code, err := s.begin(ctx, s.newRequest(id, run.Source{}))
		if err != nil || code == ExitInterrupted || code == ExitLost {
			return code, err
		}
		if worst == ExitOK || worst == ExitChanges && code != ExitOK {
			worst = code
		}
	}
	return worst, nil
}
