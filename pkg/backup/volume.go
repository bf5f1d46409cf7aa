package backup

import "github.com/stackwright/stackwright/pkg/plan"

// volumeKind is an EBS volume that is a resource of its own. CloudFormation does not change the snapshot that a volume was created from: "The only properties that can be
// updated are the volume size, type, and IOPS."
// https://docs.aws.amazon.com/ebs/latest/userguide/ebs-snapshots.html
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-volume.html#cfn-ec2-volume-snapshotid
// https://github.com/awsdocs/aws-cloudformation-user-guide/pull/556
// https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1505
func volumeKind() Kind {
	return Kind{Type: "AWS::EC2::Volume", Name: "volume of EBS", Property: "SnapshotId", Naming: plan.AtFirst, Of: func(s Services) Backer { return s.Volumes }}
}
