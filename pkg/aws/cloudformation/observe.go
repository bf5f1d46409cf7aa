package cloudformation

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"golang.org/x/sync/errgroup"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	few    = 3  // up to so many stacks it is cheaper to describe each than to list all
	oldest = 50 // pages of events that are read at most to find the first event
	atOnce = 16 // targets that are read at the same time: each account and region has a budget of its own
)

// Observe describes the stack of each location, by name, and returns the live stacks
// by node. A node whose stack does not exist is left out. If a stack is not the
// recorded one, CreatedByToken says whether its first operation has the location's
// token, or its change set if it has had no operation; for a stack with more than about 5,000 events it is false. Stacks in a
// target that denies access have an AccessError; if every target denies access,
// Observe returns the errors.
func (c *Cloud) Observe(ctx context.Context, locations []plan.Location) (map[string]plan.Live, error) {
	by := map[project.Target][]plan.Location{}
	for _, p := range locations {
		by[p.Target] = append(by[p.Target], p)
	}
	targets := slices.SortedFunc(maps.Keys(by), project.Target.Compare)
	found, errs := make([]map[string]plan.Live, len(targets)), make([]error, len(targets))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, t := range targets {
		group.Go(func() error {
			found[i], errs[i] = c.observe(ctx, t, by[t])
			return nil
		})
	}
	_ = group.Wait() // every target has an error of its own
	all := make(map[string]plan.Live, len(locations))
	var denied []error
	for i, t := range targets {
		if fault.Is(errs[i], fault.Denied) {
			denied, found[i] = append(denied, errs[i]), inaccessible(by[t], errs[i])
		} else if errs[i] != nil {
			return nil, errs[i]
		}
		maps.Copy(all, found[i])
	}
	if len(denied) > 0 && len(denied) == len(by) {
		return nil, errors.Join(denied...)
	}
	return all, nil
}

// inaccessible returns the live stacks of locations in a target that denies access.
func inaccessible(locations []plan.Location, why error) map[string]plan.Live {
	all := make(map[string]plan.Live, len(locations))
	for _, p := range locations {
		all[p.Node] = plan.Live{AccessError: why.Error()}
	}
	return all
}

// observe describes the stacks of one target.
func (c *Cloud) observe(ctx context.Context, t project.Target, locations []plan.Location) (map[string]plan.Live, error) {
	client, err := c.client(ctx, t)
	if err != nil {
		return nil, err
	}
	named, err := byName(ctx, client, locations)
	if err != nil {
		return nil, err
	}
	all := make(map[string]plan.Live, len(locations))
	for _, p := range locations {
		l, ok := named[p.Stack]
		if !ok {
			continue
		}
		if p.Token != "" && p.StackID != l.StackID {
			if l.CreatedByToken, err = createdByToken(ctx, client, l, p); err != nil {
				return nil, err
			}
		}
		all[p.Node] = l
	}
	return all, nil
}

// byName returns the live stacks of the locations by name.
func byName(ctx context.Context, client Client, locations []plan.Location) (map[string]plan.Live, error) {
	wanted := map[string]bool{}
	for _, p := range locations {
		if p.Stack == "" {
			return nil, fault.New(fault.Broken, "node %s has no stack name", p.Node)
		}
		wanted[p.Stack] = true
	}
	named := make(map[string]plan.Live, len(wanted))
	if len(wanted) <= few {
		for _, n := range slices.Sorted(maps.Keys(wanted)) {
			s, err := describe(ctx, client, plan.Location{Stack: n})
			switch {
			case err == nil:
				if named[n], err = liveOf(ctx, client, s); err != nil {
					return nil, err
				}
			case !fault.Is(err, fault.Missing):
				return nil, err
			}
		}
		return named, nil
	}
	pages := sdk.NewDescribeStacksPaginator(client, &sdk.DescribeStacksInput{})
	for pages.HasMorePages() && len(named) < len(wanted) {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, requestFault("describe all stacks", err)
		}
		for _, s := range page.Stacks {
			if n := aws.ToString(s.StackName); wanted[n] && !plan.Status(s.StackStatus).Gone() {
				if named[n], err = liveOf(ctx, client, s); err != nil {
					return nil, err
				}
			}
		}
	}
	return named, nil
}

// Describe reads the stacks of the given IDs in pages, and returns them by ID. It reads
// half as many pages as there are stacks at most, and leaves out those that it has not
// found by then.
func (c *Cloud) Describe(ctx context.Context, t project.Target, ids []string) (map[string]plan.Live, error) {
	client, err := c.client(ctx, t)
	if err != nil {
		return nil, err
	}
	found := make(map[string]plan.Live, len(ids))
	pages := sdk.NewDescribeStacksPaginator(client, &sdk.DescribeStacksInput{})
	for n := 0; pages.HasMorePages() && len(found) < len(ids) && n <= len(ids)/2; n++ {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, requestFault("describe all stacks", err)
		}
		for _, s := range page.Stacks {
			if id := aws.ToString(s.StackId); slices.Contains(ids, id) {
				if found[id], err = liveOf(ctx, client, s); err != nil {
					return nil, err
				}
			}
		}
	}
	return found, nil
}

// createdByToken reports whether the first operation on a stack has the token of p.
func createdByToken(ctx context.Context, client Client, l plan.Live, p plan.Location) (bool, error) {
	pages := sdk.NewDescribeStackEventsPaginator(client, &sdk.DescribeStackEventsInput{StackName: &l.StackID})
	token := ""
	for n := 0; pages.HasMorePages(); n++ {
		if n == oldest {
			return false, nil
		}
		page, err := pages.NextPage(ctx)
		if err := requestFault("read the events of stack "+p.Stack, err); fault.Is(err, fault.Missing) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		if n := len(page.StackEvents); n > 0 { // the oldest is the last
			token = aws.ToString(page.StackEvents[n-1].ClientRequestToken)
		}
	}
	return token == p.Token, nil
}
