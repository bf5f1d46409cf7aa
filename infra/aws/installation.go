package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/stackwright/stackwright/pkg/project"
)

// An installation is Stackwright in one account and region: one stack.
type installation struct {
	awscdk.Stack
	settings settings
	names    []string // of the functions, sorted

	key       awskms.Key // nil without customerKey
	table     awsdynamodb.Table
	bucket    awss3.Bucket
	dead      map[string]awssqs.Queue // dead-letter queues, by function
	functions map[string]awslambda.Function
	topic     awssns.Topic
	api       awsapigatewayv2.HttpApi
}

// install adds the installation to an app.
func install(scope constructs.Construct, s settings) error {
	names, err := built(s.code)
	if err != nil {
		return err
	}
	i := &installation{settings: s, names: s.installed(names), dead: make(map[string]awssqs.Queue), functions: make(map[string]awslambda.Function)}
	i.Stack = awscdk.NewStack(scope, jsii.String("Stackwright"), &awscdk.StackProps{
		StackName:          jsii.String(s.stack),
		Description:        jsii.String("Stackwright: deploys many CloudFormation stacks in the right order"),
		AnalyticsReporting: jsii.Bool(false),
		// Projects and other applications may write into the bucket of the usual qualifier.
		Synthesizer: awscdk.NewDefaultStackSynthesizer(&awscdk.DefaultStackSynthesizerProps{
			Qualifier: jsii.String(project.InstallationQualifier),
		}),
	})
	if s.key {
		i.addKey()
	}
	i.addTable()
	i.addBucket()
	i.addQueues()
	i.addFunctions()
	i.addMachine()
	i.addTriggers()
	i.addSchedules()
	i.addNotifications()
	i.addAlarms()
	if s.full {
		i.addDashboard()
	}
	i.addAPI()
	i.addExecutionRole()
	i.addPrincipals()
	return nil
}

// built lists the functions that were built, by the folders of their code.
func built(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) == 0 {
		return nil, fmt.Errorf("functions: there are none in %s: build them with make lambda", folder)
	}
	var names []string
	for _, e := range entries {
		if _, ok := sizes[e.Name()]; !ok {
			return nil, fmt.Errorf("function %s has no size in functions.go and no permissions in permissions*.go: add them, or remove %s/%s if it was left by an older build",
				e.Name(), folder, e.Name())
		}
		names = append(names, e.Name())
	}
	for name := range sizes {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("function %s: it is not in %s: build it with make lambda", name, folder)
		}
	}
	return names, nil
}

// output is an output of the stack, which a deployment prints.
func (i *installation) output(name, value, description string) {
	awscdk.NewCfnOutput(i.Stack, jsii.String(name), &awscdk.CfnOutputProps{
		Value: jsii.String(value), Description: jsii.String(description),
	})
}

// called sets a resource's logical ID, so that it does not depend on the names of the constructs around it.
func called(c constructs.IConstruct, name string) {
	c.Node().DefaultChild().(awscdk.CfnElement).OverrideLogicalId(jsii.String(name))
}
