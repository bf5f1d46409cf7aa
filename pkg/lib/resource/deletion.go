package resource

import "strings"

// undeletable lists the stateful types whose resources AWS does not delete while they hold data: the references of their Delete
// requests say so.
var undeletable = map[string]bool{
	"AWS::Backup::BackupVault":                   true,
	"AWS::Backup::LogicallyAirGappedBackupVault": true,
	"AWS::ECR::PublicRepository":                 true,
	"AWS::ECR::Repository":                       true,
	"AWS::IAM::User":                             true,
	"AWS::MediaStore::Container":                 true,
	"AWS::Route53::HostedZone":                   true,
	"AWS::S3::Bucket":                            true,
	"AWS::S3Express::DirectoryBucket":            true,
	"AWS::S3Outposts::Bucket":                    true,
	"AWS::S3Tables::TableBucket":                 true,
	"AWS::S3Vectors::VectorBucket":               true,
}

// snapshots lists the types of which CloudFormation makes a snapshot before it deletes a resource with the policy
// Snapshot. It refuses the policy for all others.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
var snapshots = map[string]bool{
	"AWS::DocDB::DBCluster":              true,
	"AWS::EC2::Volume":                   true,
	"AWS::ElastiCache::CacheCluster":     true,
	"AWS::ElastiCache::ReplicationGroup": true,
	"AWS::Neptune::DBCluster":            true,
	"AWS::RDS::DBCluster":                true,
	"AWS::RDS::DBInstance":               true,
	"AWS::Redshift::Cluster":             true,
}

// Snapshots reports whether the policy Snapshot keeps the data of resources of the type.
func Snapshots(typ string) bool { return snapshots[typ] }

// KeepsData reports whether AWS refuses to delete a resource of a stateful type because of its data: the type refuses that, or a property with a
// known value does.
func KeepsData(typ string, properties map[string]any) bool {
	if isTrue(properties["EmptyOnDelete"]) { // of a repository: its images are deleted with it
		return false
	}
	return undeletable[typ] || isTrue(properties["DeletionProtection"]) || isTrue(properties["DeletionProtectionEnabled"])
}

// isTrue reports whether the value of a property turns something on. Types differ in how they say that.
func isTrue(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return strings.EqualFold(v, "true") || v == "ACTIVE" || v == "ENABLED"
	}
	return false
}
