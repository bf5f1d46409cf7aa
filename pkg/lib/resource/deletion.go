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
