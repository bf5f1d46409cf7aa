package main

// holdings finds what stacks hold that can be backed up, if projects are listed whose data may be.
func holdings(s settings) []permission {
	if len(s.backups) == 0 {
		return nil
	}
	return []permission{
		{Do: []string{"rds:DescribeDBClusters", "rds:DescribeDBInstances"}, On: []string{"*"}, Why: "RDS allows a filter, which names the databases of a stack, only to who may describe all"},
		{Do: []string{"dynamodb:DescribeTable"}, On: []string{"arn:${Partition}:dynamodb:*:${Account}:table/*"}, Why: "projects name their tables, and one that does not exist has no tags; targets are in any region"},
	}
}

// backsUp makes and deletes backups of what stacks of the projects hold that the owner of the installation lists, in the own account. In other accounts, the roles of
// targets decide. It is one managed policy, as changes is. CloudFormation gives resources the tags of their stack, and Stackwright gives them to backups. Those of DynamoDB
// have no tags, and their ARNs have no names: the function refuses to delete one whose name does not begin with sw-.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonrds.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
func backsUp(s settings) []permission {
	if len(s.backups) == 0 {
		return nil
	}
	of := func(key string) conditions {
		return conditions{"StringLike": {"aws:" + key + "/stackwright:project": []string(s.backups)}}
	}
	made := []string{"arn:${Partition}:rds:*:${Account}:cluster-snapshot:sw-*", "arn:${Partition}:rds:*:${Account}:snapshot:sw-*"}
	return []permission{
		{Do: []string{"rds:DescribeDBClusterSnapshots", "rds:DescribeDBSnapshots"}, On: []string{"*"}, Why: "RDS says of a snapshot that does not exist that it is missing only to who may describe all"},
		{
			Do: []string{"rds:CreateDBClusterSnapshot", "rds:CreateDBSnapshot"}, On: []string{"arn:${Partition}:rds:*:${Account}:cluster:*", "arn:${Partition}:rds:*:${Account}:db:*"}, If: of("ResourceTag"),
			Why: "a snapshot backs up what stacks of these projects hold, and projects name their databases; targets are in any region",
		},
		{
			Do: []string{"rds:AddTagsToResource", "rds:CreateDBClusterSnapshot", "rds:CreateDBSnapshot"}, On: made, If: conditions{
				"StringLike": of("RequestTag")["StringLike"], "StringLikeIfExists": of("ResourceTag")["StringLike"],
			},
			Why: "the names of backups begin with sw-, and contain the project and the snapshot",
		},
		{Do: []string{"rds:DeleteDBClusterSnapshot", "rds:DeleteDBSnapshot"}, On: made, If: of("ResourceTag"), Why: "the names of backups begin with sw-, and contain the project and the snapshot"},
		{Do: []string{"dynamodb:ListBackups"}, On: []string{"*"}, Why: "DynamoDB knows no resource for it"},
		{Do: []string{"dynamodb:CreateBackup"}, On: []string{"arn:${Partition}:dynamodb:*:${Account}:table/*"}, If: of("ResourceTag"), Why: "a snapshot backs up what stacks of these projects hold, and projects name their tables; targets are in any region"},
		{
			Do: []string{"dynamodb:DeleteBackup", "dynamodb:DescribeBackup"}, On: []string{"arn:${Partition}:dynamodb:*:${Account}:table/*/backup/*"},
			Why: "the ARNs of backups have no names, and backups have no tags; the function deletes only those whose names begin with sw-",
		},
	}
}
