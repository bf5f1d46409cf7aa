// Package autoscaling suspends and resumes the processes of Auto Scaling groups for hooks, and sets their sizes.
package autoscaling

import (
	"context"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's Auto Scaling client that is used here. It sends each request once.
type Client interface {
	SuspendProcesses(context.Context, *sdk.SuspendProcessesInput, ...func(*sdk.Options)) (*sdk.SuspendProcessesOutput, error)
	ResumeProcesses(context.Context, *sdk.ResumeProcessesInput, ...func(*sdk.Options)) (*sdk.ResumeProcessesOutput, error)
	DescribeAutoScalingGroups(context.Context, *sdk.DescribeAutoScalingGroupsInput, ...func(*sdk.Options)) (*sdk.DescribeAutoScalingGroupsOutput, error)
	UpdateAutoScalingGroup(context.Context, *sdk.UpdateAutoScalingGroupInput, ...func(*sdk.Options)) (*sdk.UpdateAutoScalingGroupOutput, error)
}

// Groups are the Auto Scaling groups in all targets. It is a hook.ScalingGroups and a suspend.Groups.
type Groups struct {
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the groups that the given clients reach.
func New(clients func(context.Context, project.Target) (Client, error)) *Groups {
	return &Groups{clients}
}

// SuspendProcesses implements hook.ScalingGroups. Without processes in the request, Auto Scaling suspends all.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_SuspendProcesses.html
func (g *Groups) SuspendProcesses(ctx context.Context, in project.Target, group string, processes []string) error {
	client, err := g.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	_, err = client.SuspendProcesses(ctx, &sdk.SuspendProcessesInput{AutoScalingGroupName: &group, ScalingProcesses: processes})
	return refused("suspend processes of", in, group, err)
}

// ResumeProcesses implements hook.ScalingGroups. Without processes in the request, Auto Scaling resumes all.
// https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_ResumeProcesses.html
func (g *Groups) ResumeProcesses(ctx context.Context, in project.Target, group string, processes []string) error {
	client, err := g.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	_, err = client.ResumeProcesses(ctx, &sdk.ResumeProcessesInput{AutoScalingGroupName: &group, ScalingProcesses: processes})
	return refused("resume processes of", in, group, err)
}

// refused returns the fault of a request about a group.
func refused(do string, in project.Target, group string, err error) error {
	arn := "arn:aws:autoscaling:" + in.Region + ":" + in.Account + ":autoScalingGroup:*:autoScalingGroupName/" + group
	return awserr.Fault(do+" the Auto Scaling group "+group, arn, err, awserr.Kinds{"ResourceContention": fault.Throttled, awserr.Other: fault.Refused})
}
