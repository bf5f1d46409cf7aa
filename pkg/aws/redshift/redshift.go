// Package redshift pauses, resumes and backs up clusters of Redshift.
package redshift

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/redshift"
	"github.com/aws/aws-sdk-go-v2/service/redshift/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/price"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// A Client is the part of the SDK's Redshift client that is used here. It sends each request once.
type Client interface {
	DescribeClusters(context.Context, *sdk.DescribeClustersInput, ...func(*sdk.Options)) (*sdk.DescribeClustersOutput, error)
	PauseCluster(context.Context, *sdk.PauseClusterInput, ...func(*sdk.Options)) (*sdk.PauseClusterOutput, error)
	ResumeCluster(context.Context, *sdk.ResumeClusterInput, ...func(*sdk.Options)) (*sdk.ResumeClusterOutput, error)
}

// Clusters are the clusters of Redshift in all targets. It is a suspend.Machines.
type Clusters struct {
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the clusters that the given clients reach.
func New(clients func(context.Context, project.Target) (Client, error)) *Clusters {
	return &Clusters{clients}
}

// Machines implements suspend.Machines. A request names one cluster.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_DescribeClusters.html
func (c *Clusters) Machines(ctx context.Context, in project.Target, ids []string) (map[string]suspend.Machine, error) {
	client, err := c.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	all := make(map[string]suspend.Machine)
	for _, id := range ids {
		out, err := client.DescribeClusters(ctx, &sdk.DescribeClustersInput{ClusterIdentifier: &id})
		if err = refused("describe the Redshift cluster "+id, "*", err); fault.Is(err, fault.Missing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, one := range out.Clusters {
			all[id] = suspend.Machine{Status: aws.ToString(one.ClusterStatus), Fixed: fixed(one), Charged: charged(one)}
		}
	}
	return all, nil
}

// fixed says why a cluster cannot be paused.
// https://docs.aws.amazon.com/redshift/latest/mgmt/rs-mgmt-pause-resume-cluster.html
func fixed(c types.Cluster) string {
	switch {
	case c.AutomatedSnapshotRetentionPeriod != nil && *c.AutomatedSnapshotRetentionPeriod == 0:
		return "its automated snapshots are turned off"
	case c.HsmStatus != nil && aws.ToString(c.HsmStatus.HsmConfigurationIdentifier) != "":
		return "it uses a hardware security module"
	}
	return ""
}

// charged is what the nodes of a cluster are charged by the hour. The storage of RA3 nodes costs as before.
// https://aws.amazon.com/redshift/pricing/
func charged(c types.Cluster) string {
	if aws.ToString(c.NodeType) == "" || aws.ToInt32(c.NumberOfNodes) < 1 {
		return ""
	}
	return price.FlatCharge(float64(*c.NumberOfNodes), "redshift-"+*c.NodeType)
}

// StopMachine implements suspend.Machines.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_PauseCluster.html
func (c *Clusters) StopMachine(ctx context.Context, in project.Target, id string) error {
	client, err := c.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	_, err = client.PauseCluster(ctx, &sdk.PauseClusterInput{ClusterIdentifier: &id})
	return refused("pause the Redshift cluster "+id, arn(in, id), err)
}

// StartMachine implements suspend.Machines.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_ResumeCluster.html
func (c *Clusters) StartMachine(ctx context.Context, in project.Target, id string) error {
	client, err := c.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	_, err = client.ResumeCluster(ctx, &sdk.ResumeClusterInput{ClusterIdentifier: &id})
	return refused("resume the Redshift cluster "+id, arn(in, id), err)
}

// arn is the ARN of a cluster.
func arn(in project.Target, id string) string {
	return "arn:aws:redshift:" + in.Region + ":" + in.Account + ":cluster:" + id
}

// refused returns the fault of a request. Redshift may have no capacity for a cluster now.
func refused(do, arn string, err error) error {
	return awserr.Fault(do, arn, err, awserr.Kinds{
		"InvalidClusterState": fault.Busy, "InsufficientClusterCapacity": fault.Busy, "ClusterNotFound": fault.Missing, awserr.Other: fault.Refused,
	})
}
