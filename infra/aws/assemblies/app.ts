// An application in two stages: cross-stack references, a file asset, a nested stack and a SAM function.
import * as path from "path";
import * as cdk from "aws-cdk-lib";
import { aws_lambda as lambda, aws_s3_assets as assets, aws_sam as sam, aws_sns as sns, aws_sqs as sqs } from "aws-cdk-lib";
import { Construct } from "constructs";

const code = path.join(__dirname, "code");

class Network extends cdk.Stack {
  readonly topic: sns.Topic;

  constructor(scope: Construct, id: string, props: cdk.StackProps) {
    super(scope, id, props);
    this.topic = new sns.Topic(this, "Topic");
  }
}

class Queues extends cdk.NestedStack {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    new sqs.Queue(this, "Queue");
  }
}

class App extends cdk.Stack {
  constructor(scope: Construct, id: string, topic: sns.ITopic) {
    super(scope, id);
    new lambda.Function(this, "Handler", {
      runtime: lambda.Runtime.NODEJS_24_X, handler: "index.handler", code: lambda.Code.fromAsset(code), environment: { TOPIC: topic.topicArn },
    });
    new Queues(this, "Queues");
  }
}

class Functions extends cdk.Stack {
  constructor(scope: Construct, id: string, topic: sns.ITopic) {
    super(scope, id);
    this.addTransform("AWS::Serverless-2016-10-31");
    const file = new assets.Asset(this, "Code", { path: code });
    new sam.CfnFunction(this, "Function", {
      runtime: "nodejs24.x", handler: "index.handler", codeUri: { bucket: file.s3BucketName, key: file.s3ObjectKey }, environment: { variables: { TOPIC: topic.topicArn } },
    });
  }
}

class Shop extends cdk.Stage {
  constructor(scope: Construct, id: string, protect: boolean, env?: cdk.Environment) {
    super(scope, id, { env });
    const network = new Network(this, "Network", { terminationProtection: protect, tags: { team: "network" } });
    new App(this, "App", network.topic);
    new Functions(this, "Functions", network.topic);
  }
}

const app = new cdk.App();
new Shop(app, "Beta", false);
new Shop(app, "Prod", true, { account: "111111111111", region: "eu-west-1" });
app.synth();
