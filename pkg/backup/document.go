package backup

// documentKind is a cluster of DocumentDB. The API of RDS answers for it.
// https://docs.aws.amazon.com/documentdb/latest/developerguide/backup_restore-create_manual_cluster_snapshot.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-docdb-dbcluster.html#cfn-docdb-dbcluster-snapshotidentifier
func documentKind() Kind {
	return Kind{Type: "AWS::DocDB::DBCluster", Name: "DocumentDB cluster", Property: "SnapshotIdentifier", Of: ofClusters}
}
