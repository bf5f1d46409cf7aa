package backup

// databaseKind is a DB instance of RDS that is in no cluster.
// https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_CreateSnapshot.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbinstance.html#cfn-rds-dbinstance-dbsnapshotidentifier
func databaseKind() Kind {
	return Kind{Type: "AWS::RDS::DBInstance", Name: "DB instance", Property: "DBSnapshotIdentifier", Of: func(s Services) Backer { return s.Instances }}
}
