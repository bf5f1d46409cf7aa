package stepfn_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkautoscaling "github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	sdkec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	sdkecs "github.com/aws/aws-sdk-go-v2/service/ecs"
	sdkrds "github.com/aws/aws-sdk-go-v2/service/rds"
	sdkredshift "github.com/aws/aws-sdk-go-v2/service/redshift"
	sdksagemaker "github.com/aws/aws-sdk-go-v2/service/sagemaker"

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

// The adapters with the emulators of CloudFormation, Auto Scaling, RDS, ECS, EC2, Redshift and SageMaker pass the same contract tests as the services in memory.
func TestSuspend(t *testing.T) {
	contract.Suspend(t, func(t *testing.T, holds func(*testing.T, contract.Ground)) {
		synctest.Test(t, func(t *testing.T) { holds(t, testGround{newEmulators(t)}) })
	})
}

// testGround is an account with the emulators.
type testGround struct{ backend *emulators }

func (g testGround) Services() suspend.Services {
	cfg := g.backend.cloud.Config()
	databases := inDefault[rds.Client](sdkrds.NewFromConfig(cfg))
	return suspend.Services{
		Stacks:       cfn.Reader{Clients: inDefault[cfn.ReadClient](cloudformation.NewFromConfig(cfg))},
		Instances:    ec2.New(inDefault[ec2.Client](sdkec2.NewFromConfig(cfg))),
		TaskServices: ecs.New(inDefault[ecs.Client](sdkecs.NewFromConfig(cfg))),
		Groups:       autoscaling.New(inDefault[autoscaling.Client](sdkautoscaling.NewFromConfig(cfg))),
		Databases:    rds.Instances(databases), Clusters: rds.Clusters(databases),
		Warehouses: redshift.New(inDefault[redshift.Client](sdkredshift.NewFromConfig(cfg))),
		Notebooks:  sagemaker.New(inDefault[sagemaker.Client](sdksagemaker.NewFromConfig(cfg))),
	}
}

// inDefault returns the client of the default target.
func inDefault[C any](client C) func(context.Context, project.Target) (C, error) {
	return func(context.Context, project.Target) (C, error) { return client, nil }
}

func (g testGround) Target() project.Target {
	return project.Target{Account: "000000000000", Region: "us-east-1"}
}

func (g testGround) Pass(d time.Duration) { g.backend.Pass(d) }

func (g testGround) Up(name, version string) string {
	g.backend.Helper()
	st := stack{name: name, physical: name, version: version}
	g.backend.put(st.innerFile(), st.innerTemplate())
	text := strings.ReplaceAll(string(st.template(nil)), st.innerFile(), "https://stackwright.s3.amazonaws.com/"+st.innerFile())
	out, err := g.client().CreateStack(g.backend.Context(), &cloudformation.CreateStackInput{StackName: &name, TemplateBody: &text})
	if err != nil {
		g.backend.Fatal(err)
	}
	g.Pass(time.Minute)
	return aws.ToString(out.StackId)
}

func (g testGround) Down(name string) {
	g.backend.Helper()
	if _, err := g.client().DeleteStack(g.backend.Context(), &cloudformation.DeleteStackInput{StackName: &name}); err != nil {
		g.backend.Fatal(err)
	}
	g.Pass(time.Minute)
}

func (g testGround) client() *cloudformation.Client {
	return cloudformation.NewFromConfig(g.backend.cloud.Config())
}
