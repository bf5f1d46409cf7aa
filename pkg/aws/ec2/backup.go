package ec2

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A BackupClient is the part of the SDK's EC2 client that makes snapshots of volumes. It sends each request once.
type BackupClient interface {
	DescribeVolumes(context.Context, *sdk.DescribeVolumesInput, ...func(*sdk.Options)) (*sdk.DescribeVolumesOutput, error)
	CreateSnapshot(context.Context, *sdk.CreateSnapshotInput, ...func(*sdk.Options)) (*sdk.CreateSnapshotOutput, error)
	DescribeSnapshots(context.Context, *sdk.DescribeSnapshotsInput, ...func(*sdk.Options)) (*sdk.DescribeSnapshotsOutput, error)
	DeleteSnapshot(context.Context, *sdk.DeleteSnapshotInput, ...func(*sdk.Options)) (*sdk.DeleteSnapshotOutput, error)
}

// Snapshots are the snapshots of EBS volumes in all targets. EC2 chooses their IDs, so the name of a backup is a tag. It is a backup.Backer.
type Snapshots struct {
	clients func(context.Context, project.Target) (BackupClient, error)
}

// NewSnapshots returns the snapshots that the given clients reach.
func NewSnapshots(clients func(context.Context, project.Target) (BackupClient, error)) *Snapshots {
	return &Snapshots{clients}
}

// See implements backup.Backer. A filter leaves out what does not exist; without one, the request would be refused.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVolumes.html
func (s *Snapshots) See(ctx context.Context, in project.Target, ids []string) (map[string]backup.Seen, error) {
	client, err := s.client(ctx, in)
	if err != nil {
		return nil, err
	}
	all := make(map[string]backup.Seen)
	for some := range slices.Chunk(ids, atOnce) {
		request := &sdk.DescribeVolumesInput{Filters: []types.Filter{{Name: aws.String("volume-id"), Values: some}}}
		for {
			out, err := client.DescribeVolumes(ctx, request)
			if err != nil {
				return nil, refusedSnapshot("describe EBS volumes", "*", err)
			}
			for _, one := range out.Volumes {
				if one.State != types.VolumeStateDeleting && one.State != types.VolumeStateDeleted {
					all[aws.ToString(one.VolumeId)] = backup.Seen{Unready: unready(one.State)}
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

// unready says why a volume cannot be backed up until a person does something about it.
// https://docs.aws.amazon.com/ebs/latest/userguide/ebs-describing-volumes.html
func unready(state types.VolumeState) string {
	if state == types.VolumeStateError {
		return "its hardware has failed (error), and its data cannot be read: replace it first"
	}
	return ""
}

// BackUp implements backup.Backer. CreateSnapshot has no token, so an earlier call is found by the tag with the name.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSnapshot.html
func (s *Snapshots) BackUp(ctx context.Context, in project.Target, id, name string, tags map[string]string) (string, error) {
	arn, err := s.Find(ctx, in, id, name)
	if !fault.Is(err, fault.Missing) {
		return arn, err
	}
	client, err := s.client(ctx, in)
	if err != nil {
		return "", err
	}
	all := []types.Tag{{Key: aws.String(backup.NameTag), Value: &name}}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	out, err := client.CreateSnapshot(ctx, &sdk.CreateSnapshotInput{
		VolumeId: &id, Description: aws.String("Stackwright: " + name), TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeSnapshot, Tags: all}},
	})
	if err != nil {
		return "", refusedSnapshot("back up the EBS volume "+id, "arn:"+in.Partition()+":ec2:"+in.Region+":"+in.Account+":volume/"+id, err)
	}
	return snapshotARN(in, aws.ToString(out.SnapshotId)), nil
}

// Find implements backup.Backer. Of several with the name, it is the oldest.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSnapshots.html
func (s *Snapshots) Find(ctx context.Context, in project.Target, id, name string) (string, error) {
	client, err := s.client(ctx, in)
	if err != nil {
		return "", err
	}
	request := &sdk.DescribeSnapshotsInput{OwnerIds: []string{"self"}, Filters: []types.Filter{
		{Name: aws.String("tag:" + backup.NameTag), Values: []string{name}}, {Name: aws.String("volume-id"), Values: []string{id}},
	}}
	var found []types.Snapshot
	for {
		out, err := client.DescribeSnapshots(ctx, request)
		if err != nil {
			return "", refusedSnapshot("list the snapshots of the EBS volume "+id, "*", err)
		}
		found = append(found, out.Snapshots...)
		if aws.ToString(out.NextToken) == "" {
			break
		}
		request.NextToken = out.NextToken
	}
	if len(found) == 0 {
		return "", fault.New(fault.Missing, "there is no snapshot %s of the EBS volume %s", name, id)
	}
	oldest := slices.MinFunc(found, func(a, b types.Snapshot) int { return aws.ToTime(a.StartTime).Compare(aws.ToTime(b.StartTime)) })
	return snapshotARN(in, aws.ToString(oldest.SnapshotId)), nil
}

// Backup implements backup.Backer.
func (s *Snapshots) Backup(ctx context.Context, in project.Target, arn string) (backup.Made, error) {
	made, err := s.read(ctx, in, arn)
	if err != nil {
		return backup.Made{}, err
	}
	says := string(made.State)
	if made.State == types.SnapshotStatePending && aws.ToString(made.Progress) != "" {
		says += " (" + *made.Progress + ")"
	}
	return backup.Made{State: stateOf(made.State), Says: says}, nil
}

// stateOf is the state of a snapshot. One that is not known is that of one that is not available yet.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Snapshot.html
func stateOf(s types.SnapshotState) backup.State {
	switch s {
	case types.SnapshotStateCompleted:
		return backup.Available
	case types.SnapshotStateError:
		return backup.Failed
	case types.SnapshotStateRecoverable: // it is in the Recycle Bin
		return backup.Deleting
	}
	return backup.Making
}

// Delete implements backup.Backer. It refuses a snapshot that another program has made.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSnapshot.html
func (s *Snapshots) Delete(ctx context.Context, in project.Target, arn string) error {
	made, err := s.read(ctx, in, arn)
	if err != nil {
		return err
	}
	id, name := idOf(arn), ""
	for _, t := range made.Tags {
		if aws.ToString(t.Key) == backup.NameTag {
			name = aws.ToString(t.Value)
		}
	}
	if !strings.HasPrefix(name, backup.OwnName) {
		return fault.New(fault.Refused, "the snapshot %s has no tag %s whose value begins with %s, and Stackwright deletes no other one: delete it yourself: aws ec2 delete-snapshot --snapshot-id %s --region %s", arn, backup.NameTag, backup.OwnName, id, in.Region)
	}
	client, err := s.client(ctx, in)
	if err != nil {
		return err
	}
	_, err = client.DeleteSnapshot(ctx, &sdk.DeleteSnapshotInput{SnapshotId: &id})
	return refusedSnapshot("delete the snapshot "+id, arn, err)
}

// read describes a snapshot.
func (s *Snapshots) read(ctx context.Context, in project.Target, arn string) (types.Snapshot, error) {
	client, err := s.client(ctx, in)
	if err != nil {
		return types.Snapshot{}, err
	}
	out, err := client.DescribeSnapshots(ctx, &sdk.DescribeSnapshotsInput{SnapshotIds: []string{idOf(arn)}})
	if err != nil {
		return types.Snapshot{}, refusedSnapshot("describe the snapshot "+idOf(arn), arn, err)
	}
	if len(out.Snapshots) == 0 {
		return types.Snapshot{}, fault.New(fault.Missing, "there is no snapshot %s", idOf(arn))
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

// snapshotARN is the ARN of a snapshot, which has no account.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html#amazonec2-resources-for-iam-policies
func snapshotARN(in project.Target, id string) string {
	return "arn:" + in.Partition() + ":ec2:" + in.Region + "::snapshot/" + id
}

// idOf is the ID of a snapshot in its ARN.
func idOf(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

// refusedSnapshot returns the fault of a request about snapshots. EC2 limits how many snapshots of a volume are pending, and how often one begins.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func refusedSnapshot(do, arn string, err error) error {
	return awserr.Fault(do, arn, err, awserr.Kinds{
		"IncorrectState": fault.Busy, "ConcurrentSnapshotLimitExceeded": fault.Busy, "PendingSnapshotLimitExceeded": fault.Busy, "SnapshotCreationPerVolumeRateExceeded": fault.Busy,
		"InvalidVolume.NotFound": fault.Missing, "InvalidSnapshot.NotFound": fault.Missing, awserr.Other: fault.Refused,
	})
}
