// Package ecs sets how many tasks services of ECS keep running.
package ecs

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// A Client is the part of the SDK's ECS client that is used here. It sends each request once.
type Client interface {
	DescribeServices(context.Context, *sdk.DescribeServicesInput, ...func(*sdk.Options)) (*sdk.DescribeServicesOutput, error)
	DescribeTaskDefinition(context.Context, *sdk.DescribeTaskDefinitionInput, ...func(*sdk.Options)) (*sdk.DescribeTaskDefinitionOutput, error)
	UpdateService(context.Context, *sdk.UpdateServiceInput, ...func(*sdk.Options)) (*sdk.UpdateServiceOutput, error)
}

// Services are the services of ECS in all targets. It is a suspend.TaskServices.
type Services struct {
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the services that the given clients reach.
func New(clients func(context.Context, project.Target) (Client, error)) *Services {
	return &Services{clients}
}

// atOnce is how many services a request may name.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeServices.html
const atOnce = 10

// clusterOf returns the name of the cluster in the ARN of a service. An ARN of the old format has none.
// https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-account-settings.html#ecs-resource-ids
func clusterOf(arn string) (string, bool) {
	parts := strings.Split(arn, "/")
	return parts[min(1, len(parts)-1)], len(parts) == 3
}

// TaskServices implements suspend.TaskServices.
func (s *Services) TaskServices(ctx context.Context, in project.Target, arns []string) (map[string]suspend.TaskService, error) {
	client, err := s.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	all := make(map[string]suspend.TaskService)
	sizes := sizes{client: client, read: make(map[string]size)}
	clusters := make(map[string][]string)
	for _, arn := range arns {
		cluster, known := clusterOf(arn)
		if !known {
			all[arn] = suspend.TaskService{Fixed: "its ARN has the old format, which does not name the cluster"}
			continue
		}
		clusters[cluster] = append(clusters[cluster], arn)
	}
	for _, cluster := range slices.Sorted(maps.Keys(clusters)) {
		for some := range slices.Chunk(clusters[cluster], atOnce) {
			out, err := client.DescribeServices(ctx, &sdk.DescribeServicesInput{Cluster: &cluster, Services: some})
			if awserr.Is(err, "ClusterNotFoundException") { // with all its services
				continue
			}
			if err != nil {
				return nil, refused("describe ECS services", "*", err)
			}
			for _, one := range out.Services {
				if aws.ToString(one.Status) == "ACTIVE" { // else it is deleted, or was
					t := serviceOf(one)
					t.Charged = sizes.charged(ctx, one)
					all[aws.ToString(one.ServiceArn)] = t
				}
			}
		}
	}
	return all, nil
}

// serviceOf is a service as package suspend sees it. A service with the strategy DAEMON has a task on each container instance, and no desired
// count.
// https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_services.html#service_scheduler_daemon
func serviceOf(one types.Service) suspend.TaskService {
	t := suspend.TaskService{Desired: int(one.DesiredCount), Running: int(one.RunningCount), Present: int(one.RunningCount + one.PendingCount)}
	if one.SchedulingStrategy == types.SchedulingStrategyDaemon {
		t.Fixed = "it is a daemon service, which has a task on each container instance"
	}
	return t
}

// Scale implements suspend.TaskServices.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_UpdateService.html
func (s *Services) Scale(ctx context.Context, in project.Target, arn string, desired int) error {
	client, err := s.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	cluster, known := clusterOf(arn)
	if !known || desired < 0 || desired > math.MaxInt32 {
		return fault.New(fault.Broken, "set the desired tasks of the ECS service %q to %d", arn, desired)
	}
	_, err = client.UpdateService(ctx, &sdk.UpdateServiceInput{Cluster: &cluster, Service: &arn, DesiredCount: aws.Int32(int32(desired))})
	return refused("set the desired tasks of the ECS service "+arn, arn, err)
}

// refused returns the fault of a request. A service that is being deleted is not active.
func refused(do, arn string, err error) error {
	return awserr.Fault(do, arn, err, awserr.Kinds{
		"ServiceNotFoundException": fault.Missing, "ServiceNotActiveException": fault.Missing, "ClusterNotFoundException": fault.Missing,
		"ServerException": fault.Unavailable, awserr.Other: fault.Refused,
	})
}
