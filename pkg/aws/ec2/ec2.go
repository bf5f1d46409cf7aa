// Package ec2 stops and starts instances of EC2, and backs up its volumes.
package ec2

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// A Client is the part of the SDK's EC2 client that is used here. It sends each request once.
type Client interface {
	DescribeInstances(context.Context, *sdk.DescribeInstancesInput, ...func(*sdk.Options)) (*sdk.DescribeInstancesOutput, error)
	StopInstances(context.Context, *sdk.StopInstancesInput, ...func(*sdk.Options)) (*sdk.StopInstancesOutput, error)
	StartInstances(context.Context, *sdk.StartInstancesInput, ...func(*sdk.Options)) (*sdk.StartInstancesOutput, error)
}

// Instances are the instances of EC2 in all targets. It is a suspend.Machines.
type Instances struct {
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the instances that the given clients reach.
func New(clients func(context.Context, project.Target) (Client, error)) *Instances {
	return &Instances{clients}
}

// atOnce is how many instances a request asks for. A filter has at most 200 values.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html
const atOnce = 100

// Machines implements suspend.Machines. A filter leaves out what does not exist; without one, the request would be refused.
func (i *Instances) Machines(ctx context.Context, in project.Target, ids []string) (map[string]suspend.Machine, error) {
	client, err := i.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	all := make(map[string]suspend.Machine)
	for some := range slices.Chunk(ids, atOnce) {
		request := &sdk.DescribeInstancesInput{Filters: []types.Filter{{Name: aws.String("instance-id"), Values: some}}}
		for {
			out, err := client.DescribeInstances(ctx, request)
			if err != nil {
				return nil, refused("describe EC2 instances", "*", err)
			}
			for _, r := range out.Reservations {
				for _, one := range r.Instances {
					if m, exists := machineOf(one); exists {
						all[aws.ToString(one.InstanceId)] = m
					}
				}
			}
			if aws.ToString(out.NextToken) == "" {
				break
			}
			request.NextToken = out.NextToken
		}
	}
	return all, nil
}

// groupTag is the tag of the instances of an Auto Scaling group.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html
const groupTag = "aws:autoscaling:groupName"

// machineOf is an instance as package suspend sees it. It reports false for one that is terminated, or being terminated.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Stop_Start.html
func machineOf(one types.Instance) (m suspend.Machine, exists bool) {
	if one.State == nil || one.State.Name == types.InstanceStateNameTerminated || one.State.Name == types.InstanceStateNameShuttingDown {
		return m, false
	}
	m.Status, m.Charged = string(one.State.Name), charged(one)
	if one.StateReason != nil {
		m.Why = aws.ToString(one.StateReason.Message)
	}
	m.Member = slices.ContainsFunc(one.Tags, func(t types.Tag) bool { return aws.ToString(t.Key) == groupTag })
	switch {
	case one.RootDeviceType == types.DeviceTypeInstanceStore:
		m.Fixed = "its root volume is in the instance store"
	case one.InstanceLifecycle == types.InstanceLifecycleTypeSpot:
		m.Fixed = "it is a Spot Instance"
	}
	return m, true
}

// systems are the operating systems of package price, by what an instance is billed for. Who brings a license pays as for Linux.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-info-fields.html
var systems = map[string]string{
	"RunInstances": "linux", "RunInstances:00g0": "linux", "RunInstances:0800": "linux", "RunInstances:0010": "rhel", "RunInstances:0002": "windows",
}

// charged is what an instance is charged by the hour, and no longer when it is stopped. A reservation of capacity is charged in any case, and
// so is a dedicated host.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Stop_Start.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-pricing-billing.html
func charged(one types.Instance) string {
	system := systems[aws.ToString(one.UsageOperation)]
	switch {
	case system == "", one.InstanceType == "", one.InstanceLifecycle != "", aws.ToString(one.CapacityReservationId) != "":
		return ""
	case one.Placement != nil && one.Placement.Tenancy != "" && one.Placement.Tenancy != types.TenancyDefault:
		return ""
	}
	return price.Charge(1, price.EC2, system, string(one.InstanceType))
}

// StopMachine implements suspend.Machines. The instance does not hibernate.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StopInstances.html
func (i *Instances) StopMachine(ctx context.Context, in project.Target, id string) error {
	client, err := i.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	_, err = client.StopInstances(ctx, &sdk.StopInstancesInput{InstanceIds: []string{id}})
	return refused("stop the EC2 instance "+id, arn(in, id), err)
}

// StartMachine implements suspend.Machines.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StartInstances.html
func (i *Instances) StartMachine(ctx context.Context, in project.Target, id string) error {
	client, err := i.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	_, err = client.StartInstances(ctx, &sdk.StartInstancesInput{InstanceIds: []string{id}})
	return refused("start the EC2 instance "+id, arn(in, id), err)
}

// arn is the ARN of an instance.
func arn(in project.Target, id string) string {
	return "arn:aws:ec2:" + in.Region + ":" + in.Account + ":instance/" + id
}

// refused returns the fault of a request. EC2 may have no capacity for an instance now.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func refused(do, arn string, err error) error {
	return awserr.Fault(do, arn, err, awserr.Kinds{
		"IncorrectInstanceState": fault.Busy, "InsufficientInstanceCapacity": fault.Busy, "InvalidInstanceID.NotFound": fault.Missing, awserr.Other: fault.Refused,
	})
}
