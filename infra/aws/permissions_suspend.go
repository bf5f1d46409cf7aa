package main

// suspends stops and starts what stacks of the projects have that the owner of the installation lists, in the own account. In other accounts,
// the roles of targets decide. It is a managed policy of the functions that change stacks, as changes is. CloudFormation gives resources the tags of their stack, so nothing else is stopped.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-resource-tags.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2autoscaling.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonrds.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelasticcontainerservice.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonredshift.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
func suspends(s settings) []permission {
	if len(s.suspend) == 0 {
		return nil
	}
	return []permission{
		{
			Do: []string{"autoscaling:DescribeAutoScalingGroups", "ec2:DescribeInstances", "ecs:DescribeServices", "ecs:DescribeTaskDefinition", "rds:DescribeDBClusters", "rds:DescribeDBInstances", "redshift:DescribeClusters", "sagemaker:DescribeNotebookInstance", "sagemaker:ListNotebookInstances"}, On: []string{"*"},
			Why: "Auto Scaling and EC2 have no resource type for it, nor has ECS for task definitions, RDS allows a filter, which names the databases of a stack, only to who may describe all, and a suspend reads what has no tag yet, too",
		},
		{
			Do:  []string{"autoscaling:UpdateAutoScalingGroup", "ec2:StartInstances", "ec2:StopInstances", "ecs:UpdateService", "rds:StartDBCluster", "rds:StartDBInstance", "rds:StopDBCluster", "rds:StopDBInstance", "redshift:PauseCluster", "redshift:ResumeCluster", "sagemaker:StartNotebookInstance", "sagemaker:StopNotebookInstance"},
			On:  []string{"arn:${Partition}:autoscaling:*:${Account}:autoScalingGroup:*:autoScalingGroupName/*", "arn:${Partition}:ec2:*:${Account}:instance/*", "arn:${Partition}:ecs:*:${Account}:service/*", "arn:${Partition}:rds:*:${Account}:cluster:*", "arn:${Partition}:rds:*:${Account}:db:*", "arn:${Partition}:redshift:*:${Account}:cluster:*", "arn:${Partition}:sagemaker:*:${Account}:notebook-instance/*"},
			If:  conditions{"StringLike": {"aws:ResourceTag/stackwright:project": []string(s.suspend)}},
			Why: "a suspend stops what stacks of these projects have, and projects name their groups, services and databases; targets are in any region",
		},
		{
			Do: []string{"kms:CreateGrant"}, On: []string{"arn:${Partition}:kms:*:${Account}:key/*"},
			If:  conditions{"Bool": {"kms:GrantIsForAWSResource": "true"}, "StringLike": {"kms:ViaService": "ec2.*.amazonaws.com*"}},
			Why: "EC2 starts an instance whose volumes have a customer managed key only for who may let it use the key; the policy of the key decides, too",
		},
	}
}
