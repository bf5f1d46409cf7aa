package cloudformation

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

const (
	few    = 3  // places up to which it is cheaper to ask for each than for all stacks
	oldest = 50 // pages of events that are read at most to find a stack's first one
)

// Observe looks at the stack of each place, by name, and returns what is there
// by the places' nodes; a node whose stack is not there is left out. It changes
// nothing. A stack that is not the recorded one is Born if its first event bears
// the place's token; one with more than about 5,000 events is taken not to be.
// What is in a target that denies us is Unseen; if nothing can be seen at all,
// that is the error.
func (c *Cloud) Observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error) {
	by := map[project.Target][]plan.Location{}
	for _, p := range places {
		by[p.Target] = append(by[p.Target], p)
	}
	all := make(map[string]plan.Live, len(places))
	var denied []error
	for _, t := range slices.SortedFunc(maps.Keys(by), before) {
		seen, err := c.observe(ctx, t, by[t])
		if fault.Is(err, fault.Denied) {
			denied, seen = append(denied, err), unseen(by[t], err)
		} else if err != nil {
			return nil, err
		}
		maps.Copy(all, seen)
	}
	if len(denied) > 0 && len(denied) == len(by) {
		return nil, errors.Join(denied...)
	}
	return all, nil
}

// unseen is what is known of places that nobody may look at.
func unseen(places []plan.Location, why error) map[string]plan.Live {
	all := make(map[string]plan.Live, len(places))
	for _, p := range places {
		all[p.Node] = plan.Live{AccessError: why.Error()}
	}
	return all
}

// before puts targets in an order.
func before(a, b project.Target) int {
	return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Name, b.Name))
}

// observe looks at the places of one target.
func (c *Cloud) observe(ctx context.Context, t project.Target, places []plan.Location) (map[string]plan.Live, error) {
	client, err := c.client(ctx, t)
	if err != nil {
		return nil, err
	}
	named, err := byName(ctx, client, places)
	if err != nil {
		return nil, err
	}
	all := make(map[string]plan.Live, len(places))
	for _, p := range places {
		l, ok := named[p.Stack]
		if !ok {
			continue
		}
		if p.Token != "" && p.StackID != l.StackID {
			if l.CreatedByToken, err = born(ctx, client, l.StackID, p); err != nil {
				return nil, err
			}
		}
		all[p.Node] = l
	}
	return all, nil
}

// byName returns the live stacks at the places, by their names.
func byName(ctx context.Context, client Client, places []plan.Location) (map[string]plan.Live, error) {
	wanted := map[string]bool{}
	for _, p := range places {
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
				if named[n], err = seen(ctx, client, s); err != nil {
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
			return nil, understood("look at all stacks", err)
		}
		for _, s := range page.Stacks {
			if n := aws.ToString(s.StackName); wanted[n] && !plan.Status(s.StackStatus).Gone() {
				if named[n], err = seen(ctx, client, s); err != nil {
					return nil, err
				}
			}
		}
	}
	return named, nil
}

// born reports whether the first event of a stack bears the token of p.
func born(ctx context.Context, client Client, stackID string, p plan.Location) (bool, error) {
	pages := sdk.NewDescribeStackEventsPaginator(client, &sdk.DescribeStackEventsInput{StackName: &stackID})
	token := ""
	for n := 0; pages.HasMorePages(); n++ {
		if n == oldest {
			return false, nil
		}
		page, err := pages.NextPage(ctx)
		if err := understood("read the events of stack "+p.Stack, err); fault.Is(err, fault.Missing) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		if last := len(page.StackEvents) - 1; last >= 0 {
			token = aws.ToString(page.StackEvents[last].ClientRequestToken)
		}
	}
	return token == p.Token, nil
}
