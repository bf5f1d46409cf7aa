// The command go synthesizes an application in two stages: cross-stack references, a file asset, a nested
// stack and a SAM function.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3assets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// code is the folder of the functions' code, from the folder infra/aws.
const code = "assemblies/code"

func main() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	shop(app, "Beta", false, nil)
	shop(app, "Prod", true, &awscdk.Environment{Account: jsii.String("111111111111"), Region: jsii.String("eu-west-1")})
	app.Synth(nil)
}

func shop(scope constructs.Construct, id string, protect bool, env *awscdk.Environment) {
	stage := awscdk.NewStage(scope, &id, &awscdk.StageProps{Env: env})
	network := awscdk.NewStack(stage, jsii.String("Network"), &awscdk.StackProps{TerminationProtection: &protect, Tags: &map[string]*string{"team": jsii.String("network")}})
	topic := awssns.NewTopic(network, jsii.String("Topic"), nil)
	application(stage, topic)
	functions(stage, topic)
}

func application(stage constructs.Construct, topic awssns.ITopic) {
	stack := awscdk.NewStack(stage, jsii.String("App"), nil)
	awslambda.NewFunction(stack, jsii.String("Handler"), &awslambda.FunctionProps{
		Runtime: awslambda.Runtime_NODEJS_24_X(), Handler: jsii.String("index.handler"), Code: awslambda.Code_FromAsset(jsii.String(code), nil),
		Environment: &map[string]*string{"TOPIC": topic.TopicArn()},
	})
	awssqs.NewQueue(awscdk.NewNestedStack(stack, jsii.String("Queues"), nil), jsii.String("Queue"), nil)
}

func functions(stage constructs.Construct, topic awssns.ITopic) {
	stack := awscdk.NewStack(stage, jsii.String("Functions"), nil)
	stack.AddTransform(jsii.String("AWS::Serverless-2016-10-31"))
	file := awss3assets.NewAsset(stack, jsii.String("Code"), &awss3assets.AssetProps{Path: jsii.String(code)})
	awssam.NewCfnFunction(stack, jsii.String("Function"), &awssam.CfnFunctionProps{
		Runtime: jsii.String("nodejs24.x"), Handler: jsii.String("index.handler"),
		CodeUri:     &awssam.CfnFunction_S3LocationProperty{Bucket: file.S3BucketName(), Key: file.S3ObjectKey()},
		Environment: &awssam.CfnFunction_FunctionEnvironmentProperty{Variables: &map[string]*string{"TOPIC": topic.TopicArn()}},
	})
}
