package autoscaling

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// atOnce is how many groups a request may name.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeAutoScalingGroups.html
const atOnce = 50

// Groups implements suspend.Groups.
func (g *Groups) Groups(ctx context.Context, in project.Target, names []string) (map[string]suspend.Group, error) {
	client, err := g.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	all := make(map[string]suspend.Group)
	for some := range slices.Chunk(names, atOnce) {
		out, err := client.DescribeAutoScalingGroups(ctx, &sdk.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: some})
		if err != nil {
			return nil, awserr.Fault("describe Auto Scaling groups", "*", err, awserr.Kinds{"ResourceContention": fault.Throttled, awserr.Other: fault.Refused})
		}
		for _, one := range out.AutoScalingGroups {
			all[aws.ToString(one.AutoScalingGroupName)] = groupOf(one)
		}
	}
	return all, nil
}

// groupOf is a group as package suspend sees it. The sizes of a group with weights are in units, and each instance counts as many.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-mixed-instances-groups-instance-weighting.html
func groupOf(g types.AutoScalingGroup) suspend.Group {
	one := suspend.Group{
		Size:     suspend.Size{Min: int(aws.ToInt32(g.MinSize)), Max: int(aws.ToInt32(g.MaxSize)), Desired: int(aws.ToInt32(g.DesiredCapacity))},
		Deleting: g.Status != nil, // it has one only while it is deleted
	}
	for _, i := range g.Instances {
		weight := 1
		if n, err := strconv.Atoi(aws.ToString(i.WeightedCapacity)); err == nil {
			weight = n
		}
		one.Instances += weight
		if i.LifecycleState == types.LifecycleStateInService {
			one.InService += weight
		}
	}
	one.Charged = charged(g)
	return one
}

// charged is what the instances of a group are charged by the hour, if they are of Linux. Those of a group that mixes types may be Spot
// instances, whose price changes.
func charged(g types.AutoScalingGroup) string {
	if g.MixedInstancesPolicy != nil {
		return ""
	}
	count := make(map[string]float64)
	for _, i := range g.Instances {
		count[aws.ToString(i.InstanceType)]++
	}
	if len(count) == 0 {
		return price.Nothing
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if name == "" {
			return ""
		}
		all = append(all, price.Charge(count[name], price.EC2, "linux", name))
	}
	return price.JoinCharges(all...)
}

// Resize implements suspend.Groups. Auto Scaling does not say that a group is missing but with the text of a ValidationError, so a group
// that was deleted meanwhile is refused.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_UpdateAutoScalingGroup.html
func (g *Groups) Resize(ctx context.Context, in project.Target, name string, to suspend.Size) error {
	client, err := g.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	if min(to.Min, to.Max, to.Desired) < 0 || max(to.Min, to.Max, to.Desired) > math.MaxInt32 {
		return fault.New(fault.Broken, "sizes of the Auto Scaling group %s: %+v", name, to)
	}
	_, err = client.UpdateAutoScalingGroup(ctx, &sdk.UpdateAutoScalingGroupInput{
		AutoScalingGroupName: &name, MinSize: aws.Int32(int32(to.Min)), MaxSize: aws.Int32(int32(to.Max)), DesiredCapacity: aws.Int32(int32(to.Desired)),
	})
	if awserr.Is(err, "ScalingActivityInProgress") {
		return awserr.Fault("set the sizes of the Auto Scaling group "+name, "", err, awserr.Kinds{"ScalingActivityInProgress": fault.Busy})
	}
	return refused("set the sizes of", in, name, err)
}
