package backup

import "github.com/stackwright/stackwright/pkg/project"

// tableKind is a table of DynamoDB, by on-demand backups. CloudFormation has no property that names a backup: a restore makes a table of another name.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/BackupRestore.html
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableFromBackup.html
func tableKind() Kind {
	return Kind{Type: "AWS::DynamoDB::Table", Name: "DynamoDB table", Restore: restoreTable, Of: ofTables}
}

// globalTableKind is the replica of a global table in the region of its stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-globaltable.html
func globalTableKind() Kind {
	return Kind{Type: "AWS::DynamoDB::GlobalTable", Name: "DynamoDB global table", Restore: restoreTable, Of: ofTables}
}

// restoreTable is a Restore.
func restoreTable(Services, project.Target, string) string {
	return "aws dynamodb restore-table-from-backup --target-table-name NAME --backup-arn"
}

func ofTables(s Services) Backer { return s.Tables }
