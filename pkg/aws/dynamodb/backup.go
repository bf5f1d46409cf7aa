package dynamodb

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A BackupClient is the part of the SDK's DynamoDB client that makes on-demand backups. It sends each request once.
type BackupClient interface {
	DescribeTable(context.Context, *sdk.DescribeTableInput, ...func(*sdk.Options)) (*sdk.DescribeTableOutput, error)
	CreateBackup(context.Context, *sdk.CreateBackupInput, ...func(*sdk.Options)) (*sdk.CreateBackupOutput, error)
	ListBackups(context.Context, *sdk.ListBackupsInput, ...func(*sdk.Options)) (*sdk.ListBackupsOutput, error)
	DescribeBackup(context.Context, *sdk.DescribeBackupInput, ...func(*sdk.Options)) (*sdk.DescribeBackupOutput, error)
	DeleteBackup(context.Context, *sdk.DeleteBackupInput, ...func(*sdk.Options)) (*sdk.DeleteBackupOutput, error)
}

// ownBackup begins the names of the backups that Stackwright makes. IAM cannot say it: the ARN of a backup has no name, and backups have no tags.
const ownBackup = "sw-"

// Backups are the on-demand backups of tables in all targets. It is a backup.Backer.
type Backups struct {
	clients func(context.Context, project.Target) (BackupClient, error)
}

// NewBackups returns the backups that the given clients reach.
func NewBackups(clients func(context.Context, project.Target) (BackupClient, error)) *Backups {
	return &Backups{clients}
}

// See implements backup.Backer.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTable.html
func (b *Backups) See(ctx context.Context, in project.Target, ids []string) (map[string]backup.Seen, error) {
	client, err := b.client(ctx, in)
	if err != nil {
		return nil, err
	}
	all := make(map[string]backup.Seen)
	for _, id := range ids {
		out, err := client.DescribeTable(ctx, &sdk.DescribeTableInput{TableName: &id})
		err = refusedBackup("describe the table "+id, tableARN(in, id), err)
		switch {
		case fault.Is(err, fault.Missing):
		case err != nil:
			return nil, err
		default:
			all[id] = backup.Seen{Unready: unready(out.Table.TableStatus)}
		}
	}
	return all, nil
}

// unready says why a table cannot be backed up until a person does something about it.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TableDescription.html
func unready(s types.TableStatus) string {
	switch s {
	case types.TableStatusInaccessibleEncryptionCredentials, types.TableStatusArchiving, types.TableStatusArchived:
		return "it is " + string(s) + ", because DynamoDB cannot use its KMS key: allow the key again, or restore the table first"
	}
	return ""
}

// BackUp implements backup.Backer. Names of backups are not unique and CreateBackup has no token, so an earlier call is found by the name.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html
func (b *Backups) BackUp(ctx context.Context, in project.Target, id, name string, _ map[string]string) (string, error) {
	arn, err := b.Find(ctx, in, id, name)
	if !fault.Is(err, fault.Missing) {
		return arn, err
	}
	client, err := b.client(ctx, in)
	if err != nil {
		return "", err
	}
	out, err := client.CreateBackup(ctx, &sdk.CreateBackupInput{TableName: &id, BackupName: &name})
	if err != nil {
		return "", refusedBackup("back up the table "+id, tableARN(in, id), err)
	}
	return aws.ToString(out.BackupDetails.BackupArn), nil
}

// Find implements backup.Backer.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListBackups.html
func (b *Backups) Find(ctx context.Context, in project.Target, id, name string) (string, error) {
	client, err := b.client(ctx, in)
	if err != nil {
		return "", err
	}
	pages := sdk.ListBackupsInput{TableName: &id, BackupType: types.BackupTypeFilterUser}
	for {
		out, err := client.ListBackups(ctx, &pages)
		if err != nil {
			return "", refusedBackup("list the backups of the table "+id, tableARN(in, id), err)
		}
		for _, one := range out.BackupSummaries {
			if aws.ToString(one.BackupName) == name && one.BackupStatus != types.BackupStatusDeleted {
				return aws.ToString(one.BackupArn), nil
			}
		}
		if pages.ExclusiveStartBackupArn = out.LastEvaluatedBackupArn; aws.ToString(out.LastEvaluatedBackupArn) == "" {
			return "", fault.New(fault.Missing, "there is no backup %s of the table %s", name, id)
		}
	}
}

// Backup implements backup.Backer.
func (b *Backups) Backup(ctx context.Context, in project.Target, arn string) (backup.Made, error) {
	d, err := b.describe(ctx, in, arn)
	if err != nil {
		return backup.Made{}, err
	}
	return backup.Made{State: stateOf(d.BackupStatus), Says: string(d.BackupStatus)}, nil
}

// stateOf is the state of a backup by its status. A status that is not known is that of one that is not available yet.
func stateOf(s types.BackupStatus) backup.State {
	if s == types.BackupStatusAvailable {
		return backup.Available
	}
	return backup.Making
}

// describe reads a backup. One that was deleted may still be described for a while.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeBackup.html
func (b *Backups) describe(ctx context.Context, in project.Target, arn string) (types.BackupDetails, error) {
	client, err := b.client(ctx, in)
	if err != nil {
		return types.BackupDetails{}, err
	}
	out, err := client.DescribeBackup(ctx, &sdk.DescribeBackupInput{BackupArn: &arn})
	if err != nil {
		return types.BackupDetails{}, refusedBackup("describe the backup "+arn, arn, err)
	}
	if d := out.BackupDescription.BackupDetails; d.BackupStatus != types.BackupStatusDeleted {
		return *d, nil
	}
	return types.BackupDetails{}, fault.New(fault.Missing, "the backup %s is deleted", arn)
}

// Delete implements backup.Backer. It refuses a backup that another program has made.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteBackup.html
func (b *Backups) Delete(ctx context.Context, in project.Target, arn string) error {
	d, err := b.describe(ctx, in, arn)
	if err != nil {
		return err
	}
	if name := aws.ToString(d.BackupName); !strings.HasPrefix(name, ownBackup) {
		return fault.New(fault.Refused, "the backup %s has the name %s, and Stackwright deletes only backups whose names begin with %s: delete it yourself: aws dynamodb delete-backup --backup-arn %s", arn, name, ownBackup, arn)
	}
	client, err := b.client(ctx, in)
	if err != nil {
		return err
	}
	_, err = client.DeleteBackup(ctx, &sdk.DeleteBackupInput{BackupArn: &arn})
	return refusedBackup("delete the backup "+arn, arn, err)
}

// client returns the client of a target.
func (b *Backups) client(ctx context.Context, in project.Target) (BackupClient, error) {
	client, err := b.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	return client, nil
}

func tableARN(in project.Target, id string) string {
	return "arn:aws:dynamodb:" + in.Region + ":" + in.Account + ":table/" + id
}

// refusedBackup returns the fault of a request about backups. DynamoDB limits how many operations on tables run at the same time, and refuses a backup of a
// table that was just created.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html#API_CreateBackup_Errors
func refusedBackup(do, resource string, err error) error {
	return awserr.Fault(do, resource, err, awserr.Kinds{
		"LimitExceededException": fault.Busy, "BackupInUseException": fault.Busy, "TableInUseException": fault.Busy, "ResourceInUseException": fault.Busy, "ContinuousBackupsUnavailableException": fault.Busy,
		"TableNotFoundException": fault.Missing, "ResourceNotFoundException": fault.Missing, "BackupNotFoundException": fault.Missing, awserr.Other: fault.Refused,
	})
}
