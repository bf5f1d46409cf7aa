package rds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A BackupClient is the part of the SDK's RDS client that makes snapshots. It sends each request once.
type BackupClient interface {
	describer
	CreateDBSnapshot(context.Context, *sdk.CreateDBSnapshotInput, ...func(*sdk.Options)) (*sdk.CreateDBSnapshotOutput, error)
	DescribeDBSnapshots(context.Context, *sdk.DescribeDBSnapshotsInput, ...func(*sdk.Options)) (*sdk.DescribeDBSnapshotsOutput, error)
	DeleteDBSnapshot(context.Context, *sdk.DeleteDBSnapshotInput, ...func(*sdk.Options)) (*sdk.DeleteDBSnapshotOutput, error)
	CreateDBClusterSnapshot(context.Context, *sdk.CreateDBClusterSnapshotInput, ...func(*sdk.Options)) (*sdk.CreateDBClusterSnapshotOutput, error)
	DescribeDBClusterSnapshots(context.Context, *sdk.DescribeDBClusterSnapshotsInput, ...func(*sdk.Options)) (*sdk.DescribeDBClusterSnapshotsOutput, error)
	DeleteDBClusterSnapshot(context.Context, *sdk.DeleteDBClusterSnapshotInput, ...func(*sdk.Options)) (*sdk.DeleteDBClusterSnapshotOutput, error)
}

// Snapshots are the manual snapshots of DB instances, or of DB clusters, in all targets. It is a backup.Backer.
type Snapshots struct {
	clients func(context.Context, project.Target) (BackupClient, error)
	calls   calls
}

// calls are the requests about instances, or about clusters. A snapshot that they return is nil if there is none.
type calls struct {
	what     string // in messages
	source   string // the part of the ARN of what is backed up, and that of the snapshot
	resource string
	see      func(context.Context, describer, []string) (map[string]backup.Seen, error)
	create   func(context.Context, BackupClient, string, string, []types.Tag) (*snapshot, error)
	describe func(context.Context, BackupClient, string) (*snapshot, error)
	remove   func(context.Context, BackupClient, string) error
}

// A snapshot is one of a DB instance or a DB cluster.
type snapshot struct {
	arn, source, status string
	percent             int32
}

// InstanceSnapshots returns the snapshots of DB instances that the given clients reach.
func InstanceSnapshots(clients func(context.Context, project.Target) (BackupClient, error)) *Snapshots {
	return &Snapshots{clients, calls{"DB instance", ":db:", ":snapshot:", seeInstances, createSnapshot, describeSnapshot, deleteSnapshot}}
}

// ClusterSnapshots returns the snapshots of DB clusters that the given clients reach: those of Aurora, RDS, Neptune and DocumentDB.
func ClusterSnapshots(clients func(context.Context, project.Target) (BackupClient, error)) *Snapshots {
	return &Snapshots{clients, calls{"DB cluster", ":cluster:", ":cluster-snapshot:", seeClusters, createClusterSnapshot, describeClusterSnapshot, deleteClusterSnapshot}}
}

// See implements backup.Backer.
func (s *Snapshots) See(ctx context.Context, in project.Target, ids []string) (map[string]backup.Seen, error) {
	client, err := s.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	return s.calls.see(ctx, client, ids)
}

// BackUp implements backup.Backer. The name of a snapshot is unique, so one that exists is that of an earlier call.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBSnapshot.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBClusterSnapshot.html
func (s *Snapshots) BackUp(ctx context.Context, in project.Target, id, name string, tags map[string]string) (string, error) {
	client, err := s.clients(ctx, in)
	if err != nil {
		return "", fmt.Errorf("target %s: %w", in.Name, err)
	}
	var all []types.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	made, err := s.calls.create(ctx, client, id, name, all)
	if err = s.refused("back up the "+s.calls.what+" "+id, "arn:aws:rds:"+in.Region+":"+in.Account+s.calls.source+id, err); fault.Is(err, fault.Taken) {
		return s.Find(ctx, in, id, name)
	}
	if err != nil {
		return "", err
	}
	return made.arn, nil
}

// Find implements backup.Backer.
func (s *Snapshots) Find(ctx context.Context, in project.Target, id, name string) (string, error) {
	made, err := s.read(ctx, in, name)
	switch {
	case err != nil:
		return "", err
	case !strings.EqualFold(made.source, id):
		return "", fault.New(fault.Refused, "the snapshot %s is of the %s %s, and not of %s", made.arn, s.calls.what, made.source, id)
	}
	return made.arn, nil
}

// Backup implements backup.Backer.
func (s *Snapshots) Backup(ctx context.Context, in project.Target, arn string) (backup.Made, error) {
	made, err := s.read(ctx, in, nameOf(arn))
	if err != nil {
		return backup.Made{}, err
	}
	says := made.status
	if made.percent > 0 && made.percent < 100 {
		says += fmt.Sprintf(" (%d %%)", made.percent)
	}
	return backup.Made{State: stateOf(made.status), Says: says}, nil
}

// stateOf is the state of a snapshot by its status. A status that is not known is that of one that is not available yet.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DBSnapshot.html
func stateOf(status string) backup.State {
	switch {
	case status == "available":
		return backup.Available
	case status == "failed", strings.HasPrefix(status, "incompatible"):
		return backup.Failed
	case strings.HasPrefix(status, "delet"):
		return backup.Deleting
	}
	return backup.Making
}

// Delete implements backup.Backer.
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBSnapshot.html
// https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBClusterSnapshot.html
func (s *Snapshots) Delete(ctx context.Context, in project.Target, arn string) error {
	client, err := s.clients(ctx, in)
	if err != nil {
		return fmt.Errorf("target %s: %w", in.Name, err)
	}
	return s.refused("delete the snapshot "+nameOf(arn), arn, s.calls.remove(ctx, client, nameOf(arn)))
}

// read describes a snapshot.
func (s *Snapshots) read(ctx context.Context, in project.Target, name string) (*snapshot, error) {
	client, err := s.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	made, err := s.calls.describe(ctx, client, name)
	if err = s.refused("describe the snapshot "+name, "arn:aws:rds:"+in.Region+":"+in.Account+s.calls.resource+name, err); err != nil {
		return nil, err
	}
	if made == nil {
		return nil, fault.New(fault.Missing, "there is no snapshot %s of a %s", name, s.calls.what)
	}
	return made, nil
}

// nameOf is the identifier of a snapshot: the last part of its ARN.
func nameOf(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }

// refused returns the fault of a request about snapshots. What is not available refuses them until its operation is over.
func (s *Snapshots) refused(do, arn string, err error) error {
	return awserr.Fault(do, arn, err, awserr.Kinds{
		"InvalidDBInstanceState": fault.Busy, "InvalidDBClusterStateFault": fault.Busy, "InvalidDBSnapshotState": fault.Busy, "InvalidDBClusterSnapshotStateFault": fault.Busy,
		"DBSnapshotAlreadyExists": fault.Taken, "DBClusterSnapshotAlreadyExistsFault": fault.Taken,
		"DBInstanceNotFound": fault.Missing, "DBClusterNotFoundFault": fault.Missing, "DBSnapshotNotFound": fault.Missing, "DBClusterSnapshotNotFoundFault": fault.Missing,
		awserr.Other: fault.Refused,
	})
}

// unready says why a database cannot be backed up until somebody starts it.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_CreateSnapshot.html
func unready(status string) string {
	if status == "stopped" || status == "stopping" {
		return "it is " + status + ": start it first (stackwright resume, if a suspend has stopped it)"
	}
	return ""
}

func seeInstances(ctx context.Context, c describer, ids []string) (map[string]backup.Seen, error) {
	found, err := instances(ctx, c, ids)
	all := make(map[string]backup.Seen)
	for _, one := range found {
		if id := named(ids, one.DBInstanceIdentifier); id != "" && aws.ToString(one.DBClusterIdentifier) == "" {
			all[id] = backup.Seen{Unready: unready(aws.ToString(one.DBInstanceStatus))}
		}
	}
	return all, err
}

func seeClusters(ctx context.Context, c describer, ids []string) (map[string]backup.Seen, error) {
	found, err := clusters(ctx, c, ids)
	all := make(map[string]backup.Seen)
	for _, one := range found {
		if id := named(ids, one.DBClusterIdentifier); id != "" {
			all[id] = backup.Seen{Unready: unready(aws.ToString(one.Status))}
		}
	}
	return all, err
}

func createSnapshot(ctx context.Context, c BackupClient, id, name string, tags []types.Tag) (*snapshot, error) {
	out, err := c.CreateDBSnapshot(ctx, &sdk.CreateDBSnapshotInput{DBInstanceIdentifier: &id, DBSnapshotIdentifier: &name, Tags: tags})
	if err != nil {
		return nil, err
	}
	return ofInstance(*out.DBSnapshot), nil
}

func ofInstance(s types.DBSnapshot) *snapshot {
	return &snapshot{aws.ToString(s.DBSnapshotArn), aws.ToString(s.DBInstanceIdentifier), aws.ToString(s.Status), aws.ToInt32(s.PercentProgress)}
}

func describeSnapshot(ctx context.Context, c BackupClient, name string) (*snapshot, error) {
	out, err := c.DescribeDBSnapshots(ctx, &sdk.DescribeDBSnapshotsInput{DBSnapshotIdentifier: &name})
	if err != nil || len(out.DBSnapshots) == 0 {
		return nil, err
	}
	return ofInstance(out.DBSnapshots[0]), nil
}

func deleteSnapshot(ctx context.Context, c BackupClient, name string) error {
	_, err := c.DeleteDBSnapshot(ctx, &sdk.DeleteDBSnapshotInput{DBSnapshotIdentifier: &name})
	return err
}

func createClusterSnapshot(ctx context.Context, c BackupClient, id, name string, tags []types.Tag) (*snapshot, error) {
	out, err := c.CreateDBClusterSnapshot(ctx, &sdk.CreateDBClusterSnapshotInput{DBClusterIdentifier: &id, DBClusterSnapshotIdentifier: &name, Tags: tags})
	if err != nil {
		return nil, err
	}
	return ofCluster(*out.DBClusterSnapshot), nil
}

func ofCluster(s types.DBClusterSnapshot) *snapshot {
	return &snapshot{aws.ToString(s.DBClusterSnapshotArn), aws.ToString(s.DBClusterIdentifier), aws.ToString(s.Status), aws.ToInt32(s.PercentProgress)}
}

func describeClusterSnapshot(ctx context.Context, c BackupClient, name string) (*snapshot, error) {
	out, err := c.DescribeDBClusterSnapshots(ctx, &sdk.DescribeDBClusterSnapshotsInput{DBClusterSnapshotIdentifier: &name})
	if err != nil || len(out.DBClusterSnapshots) == 0 {
		return nil, err
	}
	return ofCluster(out.DBClusterSnapshots[0]), nil
}

func deleteClusterSnapshot(ctx context.Context, c BackupClient, name string) error {
	_, err := c.DeleteDBClusterSnapshot(ctx, &sdk.DeleteDBClusterSnapshotInput{DBClusterSnapshotIdentifier: &name})
	return err
}
