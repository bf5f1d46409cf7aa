package cloud_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/backup"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/aws-sdk-go-v2/service/redshift"
	"github.com/aws/aws-sdk-go-v2/service/sagemaker"

	"github.com/stackwright/stackwright/infra/local/cloud"
)

// switched is a stack with one resource of each service whose state requests change.
const switched = `
Resources:
  Machine: { Type: "AWS::EC2::Instance", Properties: { ImageId: ami-1 } }
  Database: { Type: "AWS::RDS::DBInstance", Properties: { DBInstanceIdentifier: orders, Engine: mysql } }
  Service: { Type: "AWS::ECS::Service", Properties: { DesiredCount: 2 } }
  Group: { Type: "AWS::AutoScaling::AutoScalingGroup", Properties: { AutoScalingGroupName: web, MinSize: "1", MaxSize: "2" } }
  Warehouse:
    Type: AWS::Redshift::Cluster
    Properties: { ClusterIdentifier: facts, ClusterType: single-node, NodeType: ra3.large, DBName: dev, MasterUsername: admin }
  Notebook: { Type: "AWS::SageMaker::NotebookInstance", Properties: { NotebookInstanceName: draft, InstanceType: ml.t3.medium, RoleArn: "arn:aws:iam::000000000000:role/x" } }
  Files: { Type: "AWS::EFS::FileSystem" }
  Table: { Type: "AWS::DynamoDB::Table", Properties: { TableName: carts, AttributeDefinitions: [{AttributeName: id, AttributeType: S}], KeySchema: [{AttributeName: id, KeyType: HASH}], BillingMode: PAY_PER_REQUEST } }
`

// services calls the services of a cloud.
type services struct {
	*testing.T
	aws.Config
	ids map[string]string // physical IDs by logical ID
}

// must fails the test after an error.
func (s services) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// change stops, scales and backs up each resource.
func (s services) change() {
	s.Helper()
	ctx := s.Context()
	_, err := ec2.NewFromConfig(s.Config).StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: []string{s.ids["Machine"]}})
	s.must(err)
	databases := rds.NewFromConfig(s.Config)
	_, err = databases.CreateDBSnapshot(ctx, &rds.CreateDBSnapshotInput{DBInstanceIdentifier: aws.String("orders"), DBSnapshotIdentifier: aws.String("first")})
	s.must(err)
	time.Sleep(time.Minute)
	_, err = databases.StopDBInstance(ctx, &rds.StopDBInstanceInput{DBInstanceIdentifier: aws.String("orders")})
	s.must(err)
	_, err = ecs.NewFromConfig(s.Config).UpdateService(ctx, &ecs.UpdateServiceInput{Service: aws.String(s.ids["Service"]), DesiredCount: aws.Int32(0)})
	s.must(err)
	_, err = autoscaling.NewFromConfig(s.Config).UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{
		AutoScalingGroupName: aws.String("web"), MinSize: aws.Int32(0), DesiredCapacity: aws.Int32(0)})
	s.must(err)
	_, err = redshift.NewFromConfig(s.Config).PauseCluster(ctx, &redshift.PauseClusterInput{ClusterIdentifier: aws.String("facts")})
	s.must(err)
	_, err = sagemaker.NewFromConfig(s.Config).StopNotebookInstance(ctx, &sagemaker.StopNotebookInstanceInput{NotebookInstanceName: aws.String("draft")})
	s.must(err)
	_, err = backup.NewFromConfig(s.Config).StartBackupJob(ctx, &backup.StartBackupJobInput{
		BackupVaultName: aws.String("Default"), IamRoleArn: aws.String("arn:aws:iam::000000000000:role/x"),
		ResourceArn: aws.String("arn:aws:elasticfilesystem:us-east-1:000000000000:file-system/" + s.ids["Files"])})
	s.must(err)
	_, err = dynamodb.NewFromConfig(s.Config).CreateBackup(ctx, &dynamodb.CreateBackupInput{TableName: aws.String("carts"), BackupName: aws.String("first")})
	s.must(err)
}

// states is what the services answer about each resource.
func (s services) states() map[string]string {
	s.Helper()
	ctx := s.Context()
	machines, err := ec2.NewFromConfig(s.Config).DescribeInstances(ctx, &ec2.DescribeInstancesInput{
		Filters: []ec2types.Filter{{Name: aws.String("instance-id"), Values: []string{s.ids["Machine"]}}}})
	s.must(err)
	databases, err := rds.NewFromConfig(s.Config).DescribeDBInstances(ctx, &rds.DescribeDBInstancesInput{
		Filters: []rdstypes.Filter{{Name: aws.String("db-instance-id"), Values: []string{"orders"}}}})
	s.must(err)
	snapshots, err := rds.NewFromConfig(s.Config).DescribeDBSnapshots(ctx, &rds.DescribeDBSnapshotsInput{
		Filters: []rdstypes.Filter{{Name: aws.String("db-snapshot-id"), Values: []string{"first"}}}})
	s.must(err)
	tasks, err := ecs.NewFromConfig(s.Config).DescribeServices(ctx, &ecs.DescribeServicesInput{Services: []string{s.ids["Service"]}})
	s.must(err)
	groups, err := autoscaling.NewFromConfig(s.Config).DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"web"}})
	s.must(err)
	warehouses, err := redshift.NewFromConfig(s.Config).DescribeClusters(ctx, &redshift.DescribeClustersInput{ClusterIdentifier: aws.String("facts")})
	s.must(err)
	notebook, err := sagemaker.NewFromConfig(s.Config).DescribeNotebookInstance(ctx, &sagemaker.DescribeNotebookInstanceInput{NotebookInstanceName: aws.String("draft")})
	s.must(err)
	jobs, err := backup.NewFromConfig(s.Config).ListBackupJobs(ctx, &backup.ListBackupJobsInput{})
	s.must(err)
	tables, err := dynamodb.NewFromConfig(s.Config).ListBackups(ctx, &dynamodb.ListBackupsInput{})
	s.must(err)
	text := func(of any) string {
		body, err := json.Marshal(of)
		s.must(err)
		return string(body)
	}
	return map[string]string{
		"ec2": text(machines.Reservations), "rds": text(databases.DBInstances), "rds snapshots": text(snapshots.DBSnapshots),
		"ecs": text(tasks.Services), "autoscaling": text(groups.AutoScalingGroups), "redshift": text(warehouses.Clusters),
		"sagemaker": text(notebook.NotebookInstanceStatus), "backup": text(jobs.BackupJobs), "dynamodb": text(tables.BackupSummaries),
	}
}

// What requests have stopped, scaled and backed up outlives the process.
func TestStatesOfResourcesOutliveTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := cloud.Options{Data: t.TempDir(), Seconds: 1, Getenv: func(string) string { return "" }}
		c := open(t, opts)
		s := services{t, c.Config(), make(map[string]string)}
		stacks := cloudformation.NewFromConfig(c.Config())
		_, err := stacks.CreateStack(t.Context(), &cloudformation.CreateStackInput{StackName: aws.String("all"), TemplateBody: aws.String(switched)})
		s.must(err)
		time.Sleep(time.Minute)
		out, err := stacks.DescribeStackResources(t.Context(), &cloudformation.DescribeStackResourcesInput{StackName: aws.String("all")})
		s.must(err)
		for _, r := range out.StackResources {
			s.ids[*r.LogicalResourceId] = aws.ToString(r.PhysicalResourceId)
		}
		before := s.states()
		s.change()
		time.Sleep(time.Minute)
		changed := s.states()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = open(t, opts)
		defer c.Close()
		s.Config = c.Config()
		after := s.states()
		for name := range changed {
			if before[name] == changed[name] {
				t.Errorf("%s: nothing has changed: %s", name, changed[name])
			}
			if after[name] != changed[name] {
				t.Errorf("%s: after a restart\n%s\nbefore it\n%s", name, after[name], changed[name])
			}
		}
	})
}
