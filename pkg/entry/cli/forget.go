package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// mostStacks is how many stacks a command line may name.
const mostStacks = 1000

// forget requests that the records of the named stacks are deleted, and follows the run.
func forget(ctx context.Context, c *call) (int, error) {
	if err := c.checkFormat(plan.AllOperations().Of(c.operation())); err != nil {
		return c.refuse(err)
	}
	return c.in(ctx, c.open, func(s *session) (int, error) {
		project, err := s.projectOf(ctx, c.args)
		if fault.Is(err, fault.Missing, fault.Invalid) {
			return c.refuse(err)
		}
		if err != nil {
			return ExitFailed, err
		}
		if c.Asks && !c.flags.yes && !c.flags.plan {
			what := fmt.Sprintf("forget deletes the records of %s in %s%s: the stacks stay in AWS, and Stackwright no longer manages them\n%s", strings.Join(c.args, ", "), project, map[bool]string{true: ", and of all that depends on these"}[c.flags.dependents], s.place())
			if err := c.agree(what); err != nil {
				return c.refuse(err)
			}
		}
		id, err := s.to.Request(ctx, s.newRequest(project, run.Source{}))
		if err != nil {
			return ExitFailed, err
		}
		return s.watch(ctx, watch{run: id})
	})
}

// projectOf returns the project whose records have the given stacks.
func (s *session) projectOf(ctx context.Context, stacks []string) (string, error) {
	rows, err := s.records(ctx)
	if err != nil {
		return "", err
	}
	var projects []string
	for _, r := range rows {
		if slices.ContainsFunc(stacks, func(name string) bool {
			return plan.Means(name, r.Node)
		}) {
			projects = append(projects, r.project)
		}
	}
	switch projects = slices.Compact(projects); len(projects) {
	case 0:
		return "", s.call.noStack(rows)
	case 1:
		return projects[0], nil
	}
	return "", fault.New(fault.Invalid, "%d projects have such a stack (%s): give --project and --env", len(projects), strings.Join(projects, ", "))
}
