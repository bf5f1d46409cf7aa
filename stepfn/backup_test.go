package stepfn_test

import (
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	sdkdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	sdkrds "github.com/aws/aws-sdk-go-v2/service/rds"

	cfn "github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/dynamodb"
	"github.com/stackwright/stackwright/pkg/aws/rds"
	"github.com/stackwright/stackwright/pkg/backup"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
)

// The adapters with the emulators of CloudFormation, RDS and DynamoDB pass the same contract tests as the services in memory.
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
		Tables: dynamodb.NewBackups(inDefault[dynamodb.BackupClient](sdkdynamodb.NewFromConfig(cfg))),
	}
}
