package backup

// clusterKind is a DB cluster of RDS: of Aurora, or Multi-AZ. Its instances hold no data of their own.
// https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/USER_CreateSnapshotCluster.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbcluster.html#cfn-rds-dbcluster-snapshotidentifier
func clusterKind() Kind {
	return Kind{Type: "AWS::RDS::DBCluster", Name: "DB cluster", Property: "SnapshotIdentifier", Of: ofClusters}
}

func ofClusters(s Services) Backer { return s.Clusters }
