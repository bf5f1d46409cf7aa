package stepfn_test

import (
	"testing"
	"testing/synctest"

	sdkbackup "github.com/aws/aws-sdk-go-v2/service/backup"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	sdkdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	sdkec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	sdkrds "github.com/aws/aws-sdk-go-v2/service/rds"
	sdkredshift "github.com/aws/aws-sdk-go-v2/service/redshift"

	"github.com/stackwright/stackwright/pkg/aws/awsbackup"
	cfn "github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/ec2"
	"github.com/stackwright/stackwright/pkg/aws/rds"
	"github.com/stackwright/stackwright/pkg/aws/redshift"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
)

// backupVault is the vault that every account has.
var backupVault = backup.Vault{Name: "Default", Role: "service-role/AWSBackupDefaultServiceRole"}

// The adapters with the emulators of CloudFormation, RDS, Redshift, EC2, AWS Backup and DynamoDB pass the same contract tests as the services in memory.
func TestBackup(t *testing.T) {
	contract.Backup(t, func(t *testing.T, holds func(*testing.T, contract.BackupGround)) {
		synctest.Test(t, func(t *testing.T) { holds(t, testGround{newEmulators(t)}) })
	})
}

func (g testGround) Backups() backup.Services {
	cfg := g.backend.cloud.Config()
	databases := inDefault[rds.BackupClient](sdkrds.NewFromConfig(cfg))
	return backup.Services{
		Stacks:    cfn.Reader{Clients: inDefault[cfn.ReadClient](cloudformation.NewFromConfig(cfg))},
		Instances: rds.InstanceSnapshots(databases), Clusters: rds.ClusterSnapshots(databases),
		Warehouses: redshift.NewSnapshots(inDefault[redshift.BackupClient](sdkredshift.NewFromConfig(cfg))),
		Volumes:    ec2.NewSnapshots(inDefault[ec2.BackupClient](sdkec2.NewFromConfig(cfg))),
		Vault:      backupVault,
		Files:      awsbackup.New(backupVault, inDefault[awsbackup.Client](sdkbackup.NewFromConfig(cfg))),
		Tables:     dynamodb.NewBackups(inDefault[dynamodb.BackupClient](sdkdynamodb.NewFromConfig(cfg))),
	}
}
