# An application in two stages: cross-stack references, a file asset, a nested stack and a SAM function.
import os

import aws_cdk as cdk
from aws_cdk import aws_lambda, aws_s3_assets, aws_sam, aws_sns, aws_sqs

code = os.path.join(os.path.dirname(os.path.abspath(__file__)), "code")


class Network(cdk.Stack):
    def __init__(self, scope, id, **props):
        super().__init__(scope, id, **props)
        self.topic = aws_sns.Topic(self, "Topic")


class Queues(cdk.NestedStack):
    def __init__(self, scope, id):
        super().__init__(scope, id)
        aws_sqs.Queue(self, "Queue")


class App(cdk.Stack):
    def __init__(self, scope, id, topic):
        super().__init__(scope, id)
        aws_lambda.Function(
            self, "Handler", runtime=aws_lambda.Runtime.NODEJS_24_X, handler="index.handler",
            code=aws_lambda.Code.from_asset(code), environment={"TOPIC": topic.topic_arn},
        )
        Queues(self, "Queues")


class Functions(cdk.Stack):
    def __init__(self, scope, id, topic):
        super().__init__(scope, id)
        self.add_transform("AWS::Serverless-2016-10-31")
        file = aws_s3_assets.Asset(self, "Code", path=code)
        aws_sam.CfnFunction(
            self, "Function", runtime="nodejs24.x", handler="index.handler",
            code_uri=aws_sam.CfnFunction.S3LocationProperty(bucket=file.s3_bucket_name, key=file.s3_object_key),
            environment=aws_sam.CfnFunction.FunctionEnvironmentProperty(variables={"TOPIC": topic.topic_arn}),
        )


class Shop(cdk.Stage):
    def __init__(self, scope, id, protect, env=None):
        super().__init__(scope, id, env=env)
        network = Network(self, "Network", termination_protection=protect, tags={"team": "network"})
        App(self, "App", network.topic)
        Functions(self, "Functions", network.topic)


app = cdk.App()
Shop(app, "Beta", False)
Shop(app, "Prod", True, cdk.Environment(account="111111111111", region="eu-west-1"))
app.synth()
