package cloudformation

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// limitCached is how long the quota of stacks is cached. It changes only when somebody has it raised.
const limitCached = time.Hour

// A stackLimit is a quota of stacks, and when it was read.
type stackLimit struct {
	most int
	at   time.Time
}

// Room implements engine.Clouds. Stacks that are deleted do not count; nested ones do.
func (c *Cloud) Room(ctx context.Context, t project.Target, count func()) (plan.Room, error) {
	client, err := c.client(ctx, t)
	if err != nil {
		return plan.Room{}, err
	}
	most, err := c.stackLimit(ctx, client, t, count)
	if err != nil {
		return plan.Room{}, err
	}
	room := plan.Room{Limit: most}
	exist := slices.DeleteFunc(types.StackStatus("").Values(), func(s types.StackStatus) bool { return s == types.StackStatusDeleteComplete })
	pages := sdk.NewListStacksPaginator(client, &sdk.ListStacksInput{StackStatusFilter: exist})
	for pages.HasMorePages() {
		count()
		page, err := pages.NextPage(ctx)
		if err != nil {
			return plan.Room{}, requestFault("count the stacks", err)
		}
		room.Stacks += len(page.StackSummaries)
	}
	return room, nil
}

// stackLimit returns how many stacks an account may have in a region; 0 if CloudFormation does not say.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeAccountLimits.html
func (c *Cloud) stackLimit(ctx context.Context, client Client, t project.Target, count func()) (int, error) {
	c.mu.Lock()
	known := c.limits[t]
	c.mu.Unlock()
	if time.Since(known.at) < limitCached {
		return known.most, nil
	}
	known = stackLimit{at: time.Now()}
	pages := sdk.NewDescribeAccountLimitsPaginator(client, &sdk.DescribeAccountLimitsInput{})
	for pages.HasMorePages() && known.most == 0 {
		count()
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, requestFault("read the quota of stacks", err)
		}
		for _, l := range page.AccountLimits {
			if aws.ToString(l.Name) == "StackLimit" {
				known.most = int(aws.ToInt32(l.Value))
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limits[t] = known
	return known.most, nil
}
