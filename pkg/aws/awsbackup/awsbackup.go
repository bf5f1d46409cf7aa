// Package awsbackup makes recovery points of file systems of EFS with AWS Backup.
package awsbackup

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/backup"
	"github.com/aws/aws-sdk-go-v2/service/backup/types"

	"github.com/stackwright/stackwright/pkg/aws/awserr"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A Client is the part of the SDK's Backup client that is used here. It sends each request once.
type Client interface {
	DescribeBackupVault(context.Context, *sdk.DescribeBackupVaultInput, ...func(*sdk.Options)) (*sdk.DescribeBackupVaultOutput, error)
	StartBackupJob(context.Context, *sdk.StartBackupJobInput, ...func(*sdk.Options)) (*sdk.StartBackupJobOutput, error)
	DescribeBackupJob(context.Context, *sdk.DescribeBackupJobInput, ...func(*sdk.Options)) (*sdk.DescribeBackupJobOutput, error)
	ListBackupJobs(context.Context, *sdk.ListBackupJobsInput, ...func(*sdk.Options)) (*sdk.ListBackupJobsOutput, error)
	ListTags(context.Context, *sdk.ListTagsInput, ...func(*sdk.Options)) (*sdk.ListTagsOutput, error)
	DescribeRecoveryPoint(context.Context, *sdk.DescribeRecoveryPointInput, ...func(*sdk.Options)) (*sdk.DescribeRecoveryPointOutput, error)
	DeleteRecoveryPoint(context.Context, *sdk.DeleteRecoveryPointInput, ...func(*sdk.Options)) (*sdk.DeleteRecoveryPointOutput, error)
}

// Points are the recovery points of file systems of EFS in all targets, in the vault of each. It is a backup.Backer.
type Points struct {
	vault   backup.Vault
	clients func(context.Context, project.Target) (Client, error)
}

// New returns the recovery points of a vault that the given clients reach.
func New(vault backup.Vault, clients func(context.Context, project.Target) (Client, error)) *Points {
	return &Points{vault, clients}
}

// See implements backup.Backer. It sees all file systems of a request: their stacks have them. None can be backed up without the vault. AWS Backup denies to describe a vault that does not
// exist, also to who may describe it.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DescribeBackupVault.html
// https://github.com/aws/aws-sdk-js/issues/2625
// https://github.com/ansible-collections/amazon.aws/pull/1436
func (p *Points) See(ctx context.Context, in project.Target, ids []string) (map[string]backup.Seen, error) {
	client, err := p.client(ctx, in)
	if err != nil {
		return nil, err
	}
	_, err = client.DescribeBackupVault(ctx, &sdk.DescribeBackupVaultInput{BackupVaultName: &p.vault.Name})
	err = refused("describe the backup vault "+p.vault.Name, p.vaultARN(in), err)
	create := "aws backup create-backup-vault --backup-vault-name " + p.vault.Name + " --region " + in.Region
	var seen backup.Seen
	switch {
	case fault.Is(err, fault.Missing):
		seen.Unready = fmt.Sprintf("there is no backup vault %s in region %s of account %s: create it: %s", p.vault.Name, in.Region, in.Account, create)
	case fault.Is(err, fault.Denied):
		seen.Unready = fmt.Sprintf("the backup vault %s in region %s of account %s does not exist, or the role may not describe it (AWS Backup answers both in the same way): if it does not exist, create it: %s; if it exists: %v", p.vault.Name, in.Region, in.Account, create, err)
	case err != nil:
		return nil, err
	}
	all := make(map[string]backup.Seen)
	for _, id := range ids {
		all[id] = seen
	}
	return all, nil
}

// BackUp implements backup.Backer. The name is the token of the job, so a repeated call is the same job. AWS Backup knows the ARN of a recovery point of EFS at once.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_StartBackupJob.html
func (p *Points) BackUp(ctx context.Context, in project.Target, id, name string, tags map[string]string) (string, error) {
	client, err := p.client(ctx, in)
	if err != nil {
		return "", err
	}
	all := maps.Clone(tags)
	if all == nil {
		all = make(map[string]string)
	}
	all[backup.NameTag] = name
	do := "back up the file system " + id
	started, err := client.StartBackupJob(ctx, &sdk.StartBackupJobInput{
		BackupVaultName: &p.vault.Name, IamRoleArn: aws.String(p.vault.RoleARN(in)), ResourceArn: aws.String(files(in, id)), IdempotencyToken: &name, RecoveryPointTags: all,
	})
	if err != nil {
		return "", refused(do, p.vaultARN(in), err)
	}
	if arn := aws.ToString(started.RecoveryPointArn); arn != "" {
		return arn, nil
	}
	job, err := client.DescribeBackupJob(ctx, &sdk.DescribeBackupJobInput{BackupJobId: started.BackupJobId})
	switch {
	case err != nil:
		return "", refused(do, "*", err)
	case aws.ToString(job.RecoveryPointArn) == "":
		return "", fault.New(fault.Busy, "the backup job %s of the file system %s has no recovery point yet: it is %s", aws.ToString(started.BackupJobId), id, job.State)
	}
	return *job.RecoveryPointArn, nil
}

// Find implements backup.Backer. Jobs have neither tags nor tokens, so it compares the tags of the recovery points of the jobs of the file system. A job that runs and has none yet may be
// of that name, unless a backup plan has started it.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_ListBackupJobs.html
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_RecoveryPointCreator.html
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_ListTags.html
func (p *Points) Find(ctx context.Context, in project.Target, id, name string) (string, error) {
	client, err := p.client(ctx, in)
	if err != nil {
		return "", err
	}
	jobs, err := p.jobs(ctx, in, client, &sdk.ListBackupJobsInput{ByResourceArn: aws.String(files(in, id)), ByBackupVaultName: &p.vault.Name})
	if err != nil {
		return "", err
	}
	none := fault.New(fault.Missing, "there is no recovery point %s of the file system %s", name, id)
	for _, j := range jobs {
		if j.CreatedBy != nil && aws.ToString(j.CreatedBy.BackupPlanId) != "" {
			continue
		}
		arn := aws.ToString(j.RecoveryPointArn)
		tags, err := tagsOf(ctx, client, arn)
		switch {
		case fault.Is(err, fault.Missing) && stateOfJob(j.State) == backup.Making:
			none = fault.New(fault.Busy, "another backup job (%s) of the file system %s is running (%s): Stackwright waits until it can read the tags of its recovery point", aws.ToString(j.BackupJobId), id, j.State)
		case fault.Is(err, fault.Missing):
		case err != nil:
			return "", err
		case tags[backup.NameTag] == name:
			return arn, nil
		}
	}
	return "", none
}

// tagsOf lists the tags of a recovery point. A job that AWS Backup has just created may have no ARN of one yet.
func tagsOf(ctx context.Context, client Client, arn string) (map[string]string, error) {
	if arn == "" {
		return nil, fault.New(fault.Missing, "there is no recovery point yet")
	}
	out, err := client.ListTags(ctx, &sdk.ListTagsInput{ResourceArn: &arn})
	if err != nil {
		return nil, refused("list the tags of the recovery point "+arn, arn, err)
	}
	return out.Tags, nil
}

// jobs lists jobs, all pages.
func (p *Points) jobs(ctx context.Context, in project.Target, client Client, request *sdk.ListBackupJobsInput) ([]types.BackupJob, error) {
	var all []types.BackupJob
	for {
		out, err := client.ListBackupJobs(ctx, request)
		if err != nil {
			return nil, refused("list the backup jobs of the vault "+p.vault.Name, "*", err)
		}
		all = append(all, out.BackupJobs...)
		if request.NextToken = out.NextToken; aws.ToString(out.NextToken) == "" {
			return all, nil
		}
	}
}

// Backup implements backup.Backer. While a job has made no recovery point, the job says how far it is.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DescribeRecoveryPoint.html
func (p *Points) Backup(ctx context.Context, in project.Target, arn string) (backup.Made, error) {
	client, err := p.client(ctx, in)
	if err != nil {
		return backup.Made{}, err
	}
	point, err := client.DescribeRecoveryPoint(ctx, &sdk.DescribeRecoveryPointInput{BackupVaultName: &p.vault.Name, RecoveryPointArn: &arn})
	err = refused("describe the recovery point "+arn, arn, err)
	if err == nil {
		return backup.Made{State: stateOf(point.Status), Says: string(point.Status)}, nil
	}
	if !fault.Is(err, fault.Missing) {
		return backup.Made{}, err
	}
	jobs, listed := p.jobs(ctx, in, client, &sdk.ListBackupJobsInput{ByBackupVaultName: &p.vault.Name, ByResourceType: aws.String("EFS")})
	if listed != nil {
		return backup.Made{}, listed
	}
	for _, j := range jobs {
		if state := stateOfJob(j.State); aws.ToString(j.RecoveryPointArn) == arn && state != backup.Available {
			return backup.Made{State: state, Says: cmp.Or(string(j.State)+said(j.PercentDone)+said(j.StatusMessage), "in progress"), Gone: state == backup.Failed}, nil
		}
	}
	return backup.Made{}, p.elsewhere(ctx, client, arn, err)
}

// said is what a job says of itself, after its state.
func said(text *string) string {
	if aws.ToString(text) == "" {
		return ""
	}
	return " (" + *text + ")"
}

// elsewhere returns the error of a recovery point that the vault does not have, which is missing: one that another vault has is refused, because the setting has changed since it was
// made.
func (p *Points) elsewhere(ctx context.Context, client Client, arn string, missing error) error {
	switch _, err := tagsOf(ctx, client, arn); {
	case err == nil:
		return fault.New(fault.Refused, "the recovery point %s exists, and not in the vault %s: the setting backupVault has changed since it was made: name its vault again, or delete it yourself", arn, p.vault.Name)
	case fault.Is(err, fault.Missing):
		return missing
	default:
		return err
	}
}

// stateOf is the state of a recovery point by its status. A status that is not known is that of one that is not available yet.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DescribeRecoveryPoint.html#Backup-DescribeRecoveryPoint-response-Status
func stateOf(s types.RecoveryPointStatus) backup.State {
	switch s {
	case types.RecoveryPointStatusCompleted, types.RecoveryPointStatusAvailable:
		return backup.Available
	case types.RecoveryPointStatusPartial, types.RecoveryPointStatusExpired, types.RecoveryPointStatusStopped:
		return backup.Failed
	case types.RecoveryPointStatusDeleting:
		return backup.Deleting
	}
	return backup.Making
}

// stateOfJob is the state of a recovery point by that of its job.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_BackupJob.html
func stateOfJob(s types.BackupJobState) backup.State {
	switch s {
	case types.BackupJobStateCompleted:
		return backup.Available
	case types.BackupJobStateAborting, types.BackupJobStateAborted, types.BackupJobStateFailed, types.BackupJobStateExpired, types.BackupJobStatePartial:
		return backup.Failed
	}
	return backup.Making
}

// Delete implements backup.Backer.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DeleteRecoveryPoint.html
func (p *Points) Delete(ctx context.Context, in project.Target, arn string) error {
	client, err := p.client(ctx, in)
	if err != nil {
		return err
	}
	_, err = client.DeleteRecoveryPoint(ctx, &sdk.DeleteRecoveryPointInput{BackupVaultName: &p.vault.Name, RecoveryPointArn: &arn})
	return refused("delete the recovery point "+arn, arn, err)
}

// client returns the client of a target.
func (p *Points) client(ctx context.Context, in project.Target) (Client, error) {
	client, err := p.clients(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", in.Name, err)
	}
	return client, nil
}

// files is the ARN of a file system.
func files(in project.Target, id string) string {
	return "arn:" + in.Partition() + ":elasticfilesystem:" + in.Region + ":" + in.Account + ":file-system/" + id
}

// vaultARN is the ARN of the vault in a target.
func (p *Points) vaultARN(in project.Target) string {
	return "arn:" + in.Partition() + ":backup:" + in.Region + ":" + in.Account + ":backup-vault:" + p.vault.Name
}

// refused returns the fault of a request. AWS Backup limits how many jobs run at the same time.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_StartBackupJob.html#API_StartBackupJob_Errors
func refused(do, resource string, err error) error {
	return awserr.Fault(do, resource, err, awserr.Kinds{
		"LimitExceededException": fault.Busy, "InvalidResourceStateException": fault.Busy, "ConflictException": fault.Busy, "ResourceNotFoundException": fault.Missing, awserr.Other: fault.Refused,
	})
}
