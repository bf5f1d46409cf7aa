package main

import "slices"

// holdings finds what stacks hold that can be backed up, if projects are listed whose data may be.
func holdings(s settings) []permission {
	if len(s.backups) == 0 {
		return nil
	}
	all := []permission{
		{
			Do: []string{"ec2:DescribeVolumes", "rds:DescribeDBClusters", "rds:DescribeDBInstances", "redshift:DescribeClusters"}, On: []string{"*"},
			Why: "RDS allows a filter, which names the databases of a stack, only to who may describe all, and EC2 and Redshift know no resource for it",
		},
		{Do: []string{"dynamodb:DescribeTable"}, On: []string{"arn:${Partition}:dynamodb:*:${Account}:table/*"}, Why: "projects name their tables, and one that does not exist has no tags; targets are in any region"},
	}
	if s.vault.Name != "" {
		all = append(all, permission{Do: []string{"backup:DescribeBackupVault"}, On: []string{s.vaults()}, Why: "targets are in any region"})
	}
	return all
}

// vaults are the ARNs of the vault of the own account in all regions.
func (s settings) vaults() string {
	return "arn:${Partition}:backup:*:${Account}:backup-vault:" + s.vault.Name
}

// points are the ARNs of the recovery points of the own account.
const points = "arn:${Partition}:backup:*:${Account}:recovery-point:*"

// backsUpFiles makes and deletes recovery points of file systems in the vault that the owner of the installation gives. It is another managed policy. AWS Backup makes them with the role of the owner, and copies
// the tags of file systems to those that its own plans make. To start a job, it compares only the vault.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbackup.html
func backsUpFiles(s settings) []permission {
	if s.vault.Name == "" {
		return nil
	}
	return []permission{
		{Do: []string{"backup:DescribeBackupJob", "backup:ListBackupJobs"}, On: []string{"*"}, Why: "AWS Backup knows no resource for it"},
		{Do: []string{"backup:DescribeRecoveryPoint", "backup:ListTags"}, On: []string{points}, Why: "AWS Backup chooses the IDs of recovery points, and tells the jobs of a file system apart only by the tags of these"},
		{Do: []string{"backup:StartBackupJob"}, On: []string{s.vaults()}, Why: "targets are in any region"},
		{Do: []string{"backup:TagResource"}, On: []string{points}, If: conditions{"StringLike": {"aws:RequestTag/stackwright:project": []string(s.backups)}}, Why: "AWS Backup chooses the IDs of recovery points"},
		{
			Do: []string{"backup:DeleteRecoveryPoint"}, On: []string{points}, If: conditions{"StringLike": {"aws:ResourceTag/stackwright:backup": "sw-*", "aws:ResourceTag/stackwright:project": []string(s.backups)}},
			Why: "AWS Backup chooses the IDs of recovery points, and gives those that its plans make the tags of the file system, but for the first of these",
		},
		{Do: []string{"iam:PassRole"}, On: []string{"arn:${Partition}:iam::${Account}:role/" + s.vault.Role}, If: conditions{"StringEquals": {"iam:PassedToService": "backup.amazonaws.com"}}},
	}
}

// backsUp makes and deletes backups of what stacks of the projects hold that the owner of the installation lists, in the own account. In other accounts, the roles of
// targets decide. It is one managed policy, as changes is, which has room for the list three times. CloudFormation gives resources the tags of their stack, and Stackwright gives
// them to backups. Other programs copy the tags of a volume to its snapshots, so those that Stackwright makes have a further one. Backups of DynamoDB have no tags, and their ARNs have no names: the function refuses to delete one whose name does not begin with sw-. To make a snapshot of a cluster,
// Redshift compares only the ARN and the tags of the snapshot.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonrds.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonredshift.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func backsUp(s settings) []permission {
	if len(s.backups) == 0 {
		return nil
	}
	of := func(key string) map[string]any {
		return map[string]any{"aws:" + key + "/stackwright:project": []string(s.backups)}
	}
	made := []string{"arn:${Partition}:rds:*:${Account}:cluster-snapshot:sw-*", "arn:${Partition}:rds:*:${Account}:snapshot:sw-*", "arn:${Partition}:redshift:*:${Account}:snapshot:*/sw-*", "arn:${Partition}:ec2:*::snapshot/*"}
	held := []string{"arn:${Partition}:dynamodb:*:${Account}:table/*", "arn:${Partition}:ec2:*:${Account}:volume/*", "arn:${Partition}:rds:*:${Account}:cluster:*", "arn:${Partition}:rds:*:${Account}:db:*"}
	return []permission{
		{
			Do: []string{"dynamodb:ListBackups", "ec2:DescribeSnapshots", "rds:DescribeDBClusterSnapshots", "rds:DescribeDBSnapshots", "redshift:DescribeClusterSnapshots"}, On: []string{"*"},
			Why: "DynamoDB, EC2 and Redshift know no resource for it, and RDS says of a snapshot that does not exist that it is missing only to who may describe all",
		},
		{
			Do: []string{"dynamodb:CreateBackup", "ec2:CreateSnapshot", "ec2:DeleteSnapshot", "rds:CreateDBClusterSnapshot", "rds:CreateDBSnapshot", "rds:DeleteDBClusterSnapshot", "rds:DeleteDBSnapshot", "redshift:DeleteClusterSnapshot"},
			On: slices.Concat(held, made), If: conditions{"StringLike": of("ResourceTag")},
			Why: "a snapshot backs up what stacks of these projects hold, and projects name their databases and tables; the names of backups begin with sw-, and contain the project and the snapshot, and EC2 chooses the IDs of volumes and of their snapshots; targets are in any region",
		},
		{
			Do: []string{"ec2:CreateSnapshot", "rds:AddTagsToResource", "rds:CreateDBClusterSnapshot", "rds:CreateDBSnapshot", "redshift:CreateClusterSnapshot", "redshift:CreateTags"},
			On: made, If: conditions{"StringLike": of("RequestTag"), "StringLikeIfExists": of("ResourceTag")},
			Why: "the names of backups begin with sw-, and contain the project and the snapshot, and EC2 chooses the IDs of snapshots; the tag of a backup of other projects stays",
		},
		{
			Do: []string{"ec2:CreateTags"}, On: []string{"arn:${Partition}:ec2:*::snapshot/*"}, If: conditions{"StringEquals": {"ec2:CreateAction": "CreateSnapshot"}},
			Why: "a snapshot gets its tags when it is made, and EC2 chooses its ID",
		},
		{
			Deny: true, Do: []string{"ec2:DeleteSnapshot"}, On: []string{"arn:${Partition}:ec2:*::snapshot/*"}, If: conditions{"StringNotLike": {"aws:ResourceTag/stackwright:backup": "sw-*"}},
			Why: "another program has made it, and copied the tags of the volume",
		},
		{
			Do: []string{"dynamodb:DeleteBackup", "dynamodb:DescribeBackup"}, On: []string{"arn:${Partition}:dynamodb:*:${Account}:table/*/backup/*"},
			Why: "the ARNs of backups have no names, and backups have no tags; the function deletes only those whose names begin with sw-",
		},
	}
}
