package ecs

import (
	"context"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/stackwright/stackwright/pkg/lib/price"
)

// A size is what a task on Fargate is charged for.
type size struct {
	vcpu, memory float64 // vCPU, and GB of memory
	arm          bool
}

// sizes are those of task definitions, each of which is read once.
type sizes struct {
	client Client
	read   map[string]size // by ARN; one without vCPU has no known price
}

// charged is what the desired tasks of a service are charged by the hour; empty if that is not known. Tasks on EC2 cost nothing beside their
// instances, and those on instances of the user's own are charged by instance.
// https://docs.aws.amazon.com/AmazonECS/latest/developerguide/launch-type-fargate.html
// https://aws.amazon.com/ecs/pricing/
func (s sizes) charged(ctx context.Context, one types.Service) string {
	switch {
	case one.DesiredCount == 0:
		return price.Nothing
	case one.SchedulingStrategy == types.SchedulingStrategyDaemon: // it keeps running
		return ""
	case len(one.CapacityProviderStrategy) == 0 && (one.LaunchType == types.LaunchTypeEc2 || one.LaunchType == types.LaunchTypeExternal):
		return price.Nothing
	case !onFargate(one):
		return ""
	}
	of := s.of(ctx, aws.ToString(one.TaskDefinition))
	if of.vcpu == 0 {
		return ""
	}
	arm, n := "", float64(one.DesiredCount)
	if of.arm {
		arm = "arm-"
	}
	return price.JoinCharges(price.FlatCharge(n*of.vcpu, "fargate-"+arm+"vcpu"), price.FlatCharge(n*of.memory, "fargate-"+arm+"gb"))
}

// onFargate reports whether all tasks of a service run on Fargate, and none on Fargate Spot, whose price changes. A capacity provider of
// another name is one of the user: whether instances end with the tasks is not known.
// https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-capacity-providers.html
func onFargate(one types.Service) bool {
	for _, c := range one.CapacityProviderStrategy {
		if aws.ToString(c.CapacityProvider) != "FARGATE" {
			return false
		}
	}
	return len(one.CapacityProviderStrategy) > 0 || one.LaunchType == types.LaunchTypeFargate
}

// of returns the size of the tasks of a definition. Only the estimate of what a suspend saves needs it: if the definition cannot be read, the
// price is not known, and the suspend goes on.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeTaskDefinition.html
func (s sizes) of(ctx context.Context, arn string) size {
	if known, ok := s.read[arn]; ok || arn == "" {
		return known
	}
	var found size
	if out, err := s.client.DescribeTaskDefinition(ctx, &sdk.DescribeTaskDefinitionInput{TaskDefinition: &arn}); err == nil {
		found = sizeOf(out.TaskDefinition)
	}
	s.read[arn] = found
	return found
}

// includedStorage is how much ephemeral storage a task has without a charge, in GiB.
// https://aws.amazon.com/fargate/pricing/
const includedStorage = 20

// sizeOf is the size of the tasks of a definition, whose CPU and memory are in 1024ths. It is the zero value if something else is charged, too:
// Windows, or storage.
func sizeOf(d *types.TaskDefinition) size {
	if d == nil || d.EphemeralStorage != nil && d.EphemeralStorage.SizeInGiB > includedStorage {
		return size{}
	}
	var found size
	if p := d.RuntimePlatform; p != nil {
		if strings.HasPrefix(string(p.OperatingSystemFamily), "WINDOWS") {
			return size{}
		}
		found.arm = p.CpuArchitecture == types.CPUArchitectureArm64
	}
	cpu, a := strconv.ParseFloat(aws.ToString(d.Cpu), 64)
	memory, b := strconv.ParseFloat(aws.ToString(d.Memory), 64)
	if a != nil || b != nil || cpu <= 0 || memory <= 0 {
		return size{}
	}
	found.vcpu, found.memory = cpu/1024, memory/1024
	return found
}
