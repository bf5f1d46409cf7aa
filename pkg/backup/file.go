package backup

import (
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
	"github.com/stackwright/stackwright/pkg/project"
)

// fileKind is a file system of EFS, which has no snapshots of its own: AWS Backup makes a recovery point of it. CloudFormation has no property that names one.
// https://docs.aws.amazon.com/efs/latest/ug/awsbackup.html
// https://docs.aws.amazon.com/aws-backup/latest/devguide/restoring-efs.html
func fileKind() Kind {
	return Kind{Type: "AWS::EFS::FileSystem", Name: "file system of EFS", Restore: restoreFiles, Setting: "backupVault", Of: func(s Services) Backer { return s.Files }}
}

// restoreFiles is a Restore. A creation token names a new file system, at most once in an account and region.
// https://docs.aws.amazon.com/efs/latest/ug/API_CreateFileSystem.html
func restoreFiles(s Services, in project.Target, id string) string {
	role := "ROLE"
	if s.Vault != (Vault{}) {
		role = s.Vault.RoleARN(in)
	}
	return "aws backup start-restore-job --iam-role-arn " + role + " --metadata file-system-id=" + id + ",Encrypted=true,PerformanceMode=generalPurpose,CreationToken=restored-" + id + ",newFileSystem=true --recovery-point-arn"
}

// A Vault is where AWS Backup keeps recovery points, and with which role it makes them. Every account of a target has both, by these names, and the vault in each region.
// The zero value is none.
type Vault struct {
	Name string
	Role string // with its path, as service-role/AWSBackupDefaultServiceRole
}

// The forms of names.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/API_CreateBackupVault.html
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html
var (
	vaultForm = pattern.New(`^[A-Za-z0-9_-]{2,50}$`)
	roleForm  = pattern.New(`^[A-Za-z0-9_+=.@-][A-Za-z0-9_+=.@/-]{0,511}$`)
)

// ParseVault reads a vault and its role, as in "Default,service-role/AWSBackupDefaultServiceRole"; an empty text is none.
func ParseVault(text string) (Vault, error) {
	if text == "" {
		return Vault{}, nil
	}
	name, role, both := strings.Cut(text, ",")
	if !both || !vaultForm.MatchString(name) || !roleForm.MatchString(role) {
		return Vault{}, fault.New(fault.Invalid, "%q is not the name of a vault of AWS Backup and the name of a role, with a comma between them: write VAULT,ROLE, such as Default,service-role/AWSBackupDefaultServiceRole", text)
	}
	return Vault{name, role}, nil
}

// RoleARN is the ARN of the role in the account of a target.
func (v Vault) RoleARN(in project.Target) string {
	return "arn:" + in.Partition() + ":iam::" + in.Account + ":role/" + v.Role
}

// String writes the vault as ParseVault reads it.
func (v Vault) String() string {
	if v == (Vault{}) {
		return ""
	}
	return v.Name + "," + v.Role
}
