package moto

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkautoscaling "github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	sdkec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	sdkecs "github.com/aws/aws-sdk-go-v2/service/ecs"
	sdkrds "github.com/aws/aws-sdk-go-v2/service/rds"
	sdkredshift "github.com/aws/aws-sdk-go-v2/service/redshift"
	sdksagemaker "github.com/aws/aws-sdk-go-v2/service/sagemaker"
	notebooks "github.com/aws/aws-sdk-go-v2/service/sagemaker/types"

	"github.com/stackwright/stackwright/pkg/aws/autoscaling"
	cfn "github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/aws/ec2"
	"github.com/stackwright/stackwright/pkg/aws/ecs"
	"github.com/stackwright/stackwright/pkg/aws/rds"
	"github.com/stackwright/stackwright/pkg/aws/redshift"
	"github.com/stackwright/stackwright/pkg/aws/sagemaker"
	"github.com/stackwright/stackwright/pkg/enginetest/contract"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/suspend"
)

// The laws are about each kind of resources that a suspend stops.
func TestKinds(t *testing.T) {
	judged := []string{"AWS::AutoScaling::AutoScalingGroup", "AWS::RDS::DBInstance", "AWS::RDS::DBCluster", "AWS::ECS::Service", "AWS::EC2::Instance", "AWS::Neptune::DBCluster", "AWS::DocDB::DBCluster", "AWS::Redshift::Cluster", "AWS::SageMaker::NotebookInstance", "AWS::SageMaker::Endpoint"}
	for _, k := range suspend.All() {
		if !slices.Contains(judged, k.Type) {
			t.Errorf("no law of contract.SuspendLaws is about %s: add some, let moto judge them here, and list the kind", k.Type)
		}
	}
}

// The adapters with moto keep the contract of what a suspend stops and a resume starts, but for what suspendDiffers lists.
func suspends(s *server) {
	laws := make(map[string]func(*trial))
	for name, law := range contract.SuspendLaws() {
		laws[name] = func(t *trial) {
			s.reset()
			law(t, ground{s, t})
		}
	}
	judged(s.T, laws, suspendDiffers)
}

// ground is an account of moto, as the contract controls it.
type ground struct {
	*server
	trial *trial
}

// in returns the client of every target.
func in[C any](client C) func(context.Context, project.Target) (C, error) {
	return func(context.Context, project.Target) (C, error) { return client, nil }
}

func (g ground) Services() suspend.Services { return services(g.config) }

// services are the adapters of what is stopped and started.
func services(cfg aws.Config) suspend.Services {
	databases := in[rds.Client](sdkrds.NewFromConfig(cfg))
	return suspend.Services{
		Stacks:       cfn.Reader{Clients: in[cfn.ReadClient](cloudformation.NewFromConfig(cfg))},
		Instances:    ec2.New(in[ec2.Client](sdkec2.NewFromConfig(cfg))),
		TaskServices: ecs.New(in[ecs.Client](sdkecs.NewFromConfig(cfg))),
		Groups:       autoscaling.New(in[autoscaling.Client](sdkautoscaling.NewFromConfig(cfg))),
		Databases:    rds.Instances(databases), Clusters: rds.Clusters(databases),
		Warehouses: redshift.New(in[redshift.Client](sdkredshift.NewFromConfig(cfg))),
		Notebooks:  sagemaker.New(in[sagemaker.Client](sdksagemaker.NewFromConfig(cfg))),
	}
}

func (ground) Target() project.Target { return target }

// target is where moto is.
var target = project.Target{Account: account, Region: region}

func (ground) Pass(time.Duration) {} // moto stops and starts at once

func (g ground) Up(stack, version string) string {
	g.trial.Helper()
	text := template(stack, version)
	out, err := cloudformation.NewFromConfig(g.config).CreateStack(g.trial.Context(), &cloudformation.CreateStackInput{StackName: &stack, TemplateBody: &text})
	if err != nil {
		g.trial.Fatal(err)
	}
	id := aws.ToString(out.StackId)
	switch version {
	case contract.NestedVersion: // moto creates no nested stacks, so another stack is nested in it
		g.played.has(id, "AWS::CloudFormation::Stack", g.Up(stack+"-inner", serviceVersion))
	case contract.DatabasesVersion:
		g.cluster(id, stack+"-cluster", "aurora-mysql", "AWS::RDS::DBCluster")
	case contract.ComputeVersion:
		g.cluster(id, stack+"-graph", "neptune", "AWS::Neptune::DBCluster")
		g.warehouse(id, stack+"-warehouse")
		g.notebook(id, stack+"-notebook")
		g.cluster(id, stack+"-document", "aurora-mysql", "AWS::DocDB::DBCluster") // moto has no DocumentDB, whose requests are the same
	}
	return id
}

// cluster makes a DB cluster, which the stack then has: moto's CloudFormation makes none.
func (g ground) cluster(stack, name, engine, kind string) {
	g.trial.Helper()
	in := sdkrds.CreateDBClusterInput{DBClusterIdentifier: &name, Engine: &engine}
	if engine != "neptune" { // it has no passwords
		in.MasterUsername, in.MasterUserPassword = aws.String("admin"), aws.String("password1")
	}
	if _, err := sdkrds.NewFromConfig(g.config).CreateDBCluster(g.trial.Context(), &in); err != nil {
		g.trial.Fatal(err)
	}
	g.played.has(stack, kind, name)
}

// warehouse makes a cluster of Redshift, which the stack then has: moto's CloudFormation does not list one.
func (g ground) warehouse(stack, name string) {
	g.trial.Helper()
	_, err := sdkredshift.NewFromConfig(g.config).CreateCluster(g.trial.Context(), &sdkredshift.CreateClusterInput{
		ClusterIdentifier: &name, ClusterType: aws.String("single-node"), NodeType: aws.String("dc2.large"), DBName: aws.String("dev"),
		MasterUsername: aws.String("awsuser"), MasterUserPassword: aws.String("Password1"),
	})
	if err != nil {
		g.trial.Fatal(err)
	}
	g.played.has(stack, "AWS::Redshift::Cluster", name)
}

// notebook makes a notebook instance of SageMaker, which the stack then has by its ARN.
func (g ground) notebook(stack, name string) {
	g.trial.Helper()
	out, err := sdksagemaker.NewFromConfig(g.config).CreateNotebookInstance(g.trial.Context(), &sdksagemaker.CreateNotebookInstanceInput{
		NotebookInstanceName: &name, InstanceType: notebooks.InstanceTypeMlT3Medium, RoleArn: aws.String("arn:aws:iam::" + account + ":role/notebook"),
	})
	if err != nil {
		g.trial.Fatal(err)
	}
	g.played.has(stack, "AWS::SageMaker::NotebookInstance", aws.ToString(out.NotebookInstanceArn))
}

func (g ground) Down(stack string) {
	g.trial.Helper()
	if _, err := cloudformation.NewFromConfig(g.config).DeleteStack(g.trial.Context(), &cloudformation.DeleteStackInput{StackName: &stack}); err != nil {
		g.trial.Fatal(err)
	}
}

// serviceVersion is the version of a stack with nothing but an ECS service.
const serviceVersion = "service"

// template is that of a stack of a version of the contract.
func template(stack, version string) string {
	switch version {
	case contract.NestedVersion:
		return "Resources: { Topic: { Type: AWS::SNS::Topic } }\n"
	case serviceVersion:
		text, _, _ := strings.Cut(template(stack, contract.ComputeVersion), "  Instance:")
		return text
	case contract.GroupsVersion:
		text := `Resources:
  Launch:
    Type: AWS::AutoScaling::LaunchConfiguration
    Properties: { ImageId: ami-12c6146b, InstanceType: t3.micro }
`
		for _, name := range []string{"a", "b"} {
			text += fmt.Sprintf(`  Group%[2]s:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties: { AutoScalingGroupName: %[1]s-%[2]s, LaunchConfigurationName: !Ref Launch, AvailabilityZones: [us-east-1a], MinSize: "1", MaxSize: "4", DesiredCapacity: "2" }
`, stack, name)
		}
		return text
	case contract.DatabasesVersion:
		return fmt.Sprintf(`Resources:
  Database:
    Type: AWS::RDS::DBInstance
    Properties: { DBInstanceIdentifier: %[1]s-db, Engine: mysql, DBInstanceClass: db.t3.micro, AllocatedStorage: "20", MasterUsername: admin, MasterUserPassword: password1 }
`, stack)
	case contract.ComputeVersion:
		return fmt.Sprintf(`Resources:
  Cluster:
    Type: AWS::ECS::Cluster
    Properties: { ClusterName: cluster }
  Tasks:
    Type: AWS::ECS::TaskDefinition
    Properties: { Family: %[1]s, ContainerDefinitions: [{ Name: web, Image: nginx, Memory: 128 }] }
  Service:
    Type: AWS::ECS::Service
    Properties: { ServiceName: %[1]s-service, Cluster: !Ref Cluster, TaskDefinition: !Ref Tasks, DesiredCount: 3 }
  Instance:
    Type: AWS::EC2::Instance
    Properties: { ImageId: ami-12c6146b, InstanceType: t3.micro }
`, stack)
	}
	return ""
}
