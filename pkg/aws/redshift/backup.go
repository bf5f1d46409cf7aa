package redshift

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/redshift"
	"github.com/aws/aws-sdk-go-v2/service/redshift/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A BackupClient is the part of the SDK's Redshift client that makes snapshots. It sends each request once.
type BackupClient interface {
	DescribeClusters(context.Context, *sdk.DescribeClustersInput, ...func(*sdk.Options)) (*sdk.DescribeClustersOutput, error)
	CreateClusterSnapshot(context.Context, *sdk.CreateClusterSnapshotInput, ...func(*sdk.Options)) (*sdk.CreateClusterSnapshotOutput, error)
	DescribeClusterSnapshots(context.Context, *sdk.DescribeClusterSnapshotsInput, ...func(*sdk.Options)) (*sdk.DescribeClusterSnapshotsOutput, error)
	DeleteClusterSnapshot(context.Context, *sdk.DeleteClusterSnapshotInput, ...func(*sdk.Options)) (*sdk.DeleteClusterSnapshotOutput, error)
}

// Snapshots are the manual snapshots of clusters in all targets. It is a backup.Backer.
type Snapshots struct {
	clients func(context.Context, project.Target) (BackupClient, error)
}

// NewSnapshots returns the snapshots that the given clients reach.
func NewSnapshots(clients func(context.Context, project.Target) (BackupClient, error)) *Snapshots {
	return &Snapshots{clients}
}

// See implements backup.Backer. A request names one cluster.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_DescribeClusters.html
func (s *Snapshots) See(ctx context.Context, in project.Target, ids []string) (map[string]backup.Seen, error) {
	client, err := s.client(ctx, in)
	if err != nil {
		return nil, err
	}
	all := make(map[string]backup.Seen)
	for _, id := range ids {
		out, err := client.DescribeClusters(ctx, &sdk.DescribeClustersInput{ClusterIdentifier: &id})
		if err = refused("describe the Redshift cluster "+id, "*", err); fault.Is(err, fault.Missing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, one := range out.Clusters {
			all[id] = backup.Seen{Unready: unready(aws.ToString(one.ClusterStatus))}
		}
	}
	return all, nil
}

// unready says why a cluster cannot be backed up until somebody resumes it: "The cluster must be in the available state."
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_CreateClusterSnapshot.html
func unready(status string) string {
	if status == "paused" || status == "pausing" {
		return "it is " + status + ": resume it first (stackwright resume, if a suspend has paused it)"
	}
	return ""
}

// BackUp implements backup.Backer. The name of a snapshot is unique, so one that exists is that of an earlier call. It is kept until a request deletes it.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_CreateClusterSnapshot.html
func (s *Snapshots) BackUp(ctx context.Context, in project.Target, id, name string, tags map[string]string) (string, error) {
	client, err := s.client(ctx, in)
	if err != nil {
		return "", err
	}
	var all []types.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	out, err := client.CreateClusterSnapshot(ctx, &sdk.CreateClusterSnapshotInput{ClusterIdentifier: &id, SnapshotIdentifier: &name, ManualSnapshotRetentionPeriod: aws.Int32(-1), Tags: all})
	if err = refusedSnapshot("back up the Redshift cluster "+id, snapshotARN(in, id, name), err); fault.Is(err, fault.Taken) {
		return s.Find(ctx, in, id, name)
	}
	if err != nil {
		return "", err
	}
	return cmp.Or(aws.ToString(out.Snapshot.SnapshotArn), snapshotARN(in, id, name)), nil
}

// Find implements backup.Backer.
func (s *Snapshots) Find(ctx context.Context, in project.Target, id, name string) (string, error) {
	made, err := s.read(ctx, in, snapshotARN(in, id, name))
	switch source := aws.ToString(made.ClusterIdentifier); {
	case err != nil:
		return "", err
	case !strings.EqualFold(source, id):
		return "", fault.New(fault.Refused, "the snapshot %s is of the Redshift cluster %s, and not of %s", name, source, id)
	}
	return cmp.Or(aws.ToString(made.SnapshotArn), snapshotARN(in, id, name)), nil
}

// Backup implements backup.Backer.
func (s *Snapshots) Backup(ctx context.Context, in project.Target, arn string) (backup.Made, error) {
	made, err := s.read(ctx, in, arn)
	if err != nil {
		return backup.Made{}, err
	}
	status := aws.ToString(made.Status)
	return backup.Made{State: stateOf(status), Says: status}, nil
}

// stateOf is the state of a snapshot by its status. A status that is not known is that of one that is not available yet.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_Snapshot.html
func stateOf(status string) backup.State {
	switch {
	case status == "available", status == "final snapshot":
		return backup.Available
	case status == "failed", status == "cancelled":
		return backup.Failed
	case strings.HasPrefix(status, "delet"):
		return backup.Deleting
	}
	return backup.Making
}

// Delete implements backup.Backer.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_DeleteClusterSnapshot.html
func (s *Snapshots) Delete(ctx context.Context, in project.Target, arn string) error {
	client, err := s.client(ctx, in)
	if err != nil {
		return err
	}
	name := nameOf(arn)
	_, err = client.DeleteClusterSnapshot(ctx, &sdk.DeleteClusterSnapshotInput{SnapshotIdentifier: &name})
	return refusedSnapshot("delete the snapshot "+name, arn, err)
}

// read describes a snapshot. A snapshot stays when its cluster is deleted.
// https://docs.aws.amazon.com/redshift/latest/APIReference/API_DescribeClusterSnapshots.html
func (s *Snapshots) read(ctx context.Context, in project.Target, arn string) (types.Snapshot, error) {
	client, err := s.client(ctx, in)
	if err != nil {
		return types.Snapshot{}, err
	}
	name := nameOf(arn)
	out, err := client.DescribeClusterSnapshots(ctx, &sdk.DescribeClusterSnapshotsInput{SnapshotIdentifier: &name})
	if err != nil {
		return types.Snapshot{}, refusedSnapshot("describe the snapshot "+name, arn, err)
	}
	if len(out.Snapshots) == 0 {
		return types.Snapshot{}, fault.New(fault.Missing, "there is no snapshot %s of a Redshift cluster", name)
	}
	return out.Snapshots[0], nil
}

// client returns the client of a target.
func (s *Snapshots) client(ctx context.Context, in project.Target) (BackupClient, error) {
	client, err := s.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	return client, nil
}

// snapshotARN is the ARN of a snapshot.
// https://docs.aws.amazon.com/redshift/latest/mgmt/redshift-iam-access-control-overview.html
func snapshotARN(in project.Target, cluster, name string) string {
	return "arn:" + in.Partition() + ":redshift:" + in.Region + ":" + in.Account + ":snapshot:" + cluster + "/" + name
}

// nameOf is the name of a snapshot in its ARN. It is unique in the account and region.
func nameOf(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

// refusedSnapshot returns the fault of a request about snapshots. What is not available refuses them until its operation is over.
func refusedSnapshot(do, arn string, err error) error {
	return awserr.Fault(do, arn, err, awserr.Kinds{
		"InvalidClusterState": fault.Busy, "InvalidClusterSnapshotState": fault.Busy, "ClusterSnapshotAlreadyExists": fault.Taken,
		"ClusterNotFound": fault.Missing, "ClusterSnapshotNotFound": fault.Missing, awserr.Other: fault.Refused,
	})
}
