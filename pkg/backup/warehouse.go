package backup

import "github.com/stackwright/stackwright/pkg/plan"

// warehouseKind is a cluster of Redshift. The property is the name of a snapshot, which is not case sensitive, and never its ARN; the name is unique in the account and region.
// https://docs.aws.amazon.com/redshift/latest/mgmt/working-with-snapshots.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-redshift-cluster.html#cfn-redshift-cluster-snapshotidentifier
func warehouseKind() Kind {
	return Kind{Type: "AWS::Redshift::Cluster", Name: "Redshift cluster", Property: "SnapshotIdentifier", Naming: plan.ByName, Of: func(s Services) Backer { return s.Warehouses }}
}
