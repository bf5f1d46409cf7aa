package backup

// neptuneKind is a DB cluster of Neptune. The API of RDS answers for it.
// https://docs.aws.amazon.com/neptune/latest/userguide/backup-restore-create-snapshot.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-neptune-dbcluster.html#cfn-neptune-dbcluster-snapshotidentifier
func neptuneKind() Kind {
	return Kind{Type: "AWS::Neptune::DBCluster", Name: "Neptune cluster", Property: "SnapshotIdentifier", Of: ofClusters}
}
