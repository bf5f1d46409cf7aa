package template_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/template"
)

// misfits lists what does not fit in a template, each with its place.
func misfits(t *testing.T, body string, s template.Scope) string {
	t.Helper()
	parsed, err := template.Parse("t.yaml", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range parsed.UnknownTypes() {
		all = append(all, fmt.Sprintf("%d:%d %s", r.Line, r.Column, r.Type))
	}
	e := parsed.In(s)
	for _, name := range parsed.ResourceNames() {
		for _, m := range e.Misfits(parsed.Resources[name]) {
			all = append(all, fmt.Sprintf("%d:%d %s.%s: %s", m.Line, m.Column, name, m.Name(), m.Text))
		}
	}
	return strings.Join(all, "\n")
}

func TestMisfits(t *testing.T) {
	const big = "1000 is too large: at most 900 is allowed"
	for _, c := range []struct{ what, body, want string }{
		{"an unknown type", "Resources: {Q: {Type: AWS::SQS::Queu}}", "1:13 AWS::SQS::Queu"},
		{"types that others publish", `Resources:
  A: {Type: Custom::Thing, Properties: {X: 1}}
  B: {Type: AWS::CloudFormation::CustomResource, Properties: {ServiceToken: x, X: 1}}
  C: {Type: Org::Service::Resource, Properties: {X: 1}}
  D: {Type: Org::Service::Resource::MODULE, Properties: {X: 1}}`, ""},
		{"a property", "Resources: {Q: {Type: AWS::SQS::Queue, Properties: {\n DelaySecond: 1}}}",
			"2:15 Q.DelaySecond: there is no such property: did you mean DelaySeconds?"},
		{"no properties", "Resources: {S: {Type: AWS::IAM::Role}}",
			"1:13 S.AssumeRolePolicyDocument: the property is required, and missing"},
		{"what is not known", `Parameters: {P: {Type: String, Default: "1000"}}
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !Ref P, QueueName: '{{resolve:ssm:/name}}'}}
  R: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: {"Fn::Transform": {Name: AWS::Include}}}}
  S: {Type: AWS::SQS::Queue, Properties: {"Fn::Transform": {Name: AWS::Include}, Unknown: 1}}
  T: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !Ref AWS::NoValue, Tags: !Split [",", a]}}`, ""},
		{"a scalar of another kind", `Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: "10", FifoQueue: "true", QueueName: 5}}
  F: {Type: AWS::Lambda::Function, Properties: {Role: !Ref R, Code: {ZipFile: x}, 
    Environment: {Variables: {AA: 1, BB: true}}}}
  R: {Type: AWS::SNS::Topic}`, ""},
		{"a macro", "Transform: My::Macro\nResources: {Q: {Type: AWS::SQS::Queu, Properties: {X: 1}}}", ""},
		{"transforms that change nothing else", `Transform: [AWS::LanguageExtensions, AWS::Serverless-2016-10-31]
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {X: 1}}
  F: {Type: AWS::Serverless::Function, Properties: {X: 1}}
  L: {Type: AWS::SQS::Queue, Properties: {"Fn::ForEach::T": [A, [b], {"${A}": 1}]}}`,
			"3:46 Q.X: there is no such property: available: " +
				"Arn, ContentBasedDeduplication, DeduplicationScope, DelaySeconds, FifoQueue, FifoThroughputLimit, " +
				"KmsDataKeyReusePeriodSeconds, KmsMasterKeyId, MaximumMessageSize, MessageRetentionPeriod, QueueName, " +
				"QueueUrl, ReceiveMessageWaitTimeSeconds, RedriveAllowPolicy, RedrivePolicy, SqsManagedSseEnabled, Tags, " +
				"VisibilityTimeout"},
		{"a macro in a resource", "Transform: AWS::Serverless-2016-10-31\nResources: {R: {Type: AWS::IAM::Role, " +
			"\"Fn::Transform\": {Name: AWS::Include, Parameters: {Location: s3://b/k}}}}", ""},
		{"the values of conditions", `Parameters: {P: {Type: String}}
Conditions: {Yes: !Equals [a, a], No: !Equals [a, b], Maybe: !Equals [!Ref P, a]}
Resources:
  A: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !If [Yes, 1, 1000]}}
  B: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !If [No, 1, 1000]}}
  C: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: !If [Maybe, 1, 1000]}}
  D: {Type: AWS::SQS::Queue, Condition: No, Properties: {DelaySeconds: 1000}}
  E: {Type: AWS::SNS::Subscription, Properties: {Protocol: sqs, TopicArn: !If [Maybe, x, !Ref AWS::NoValue]}}`,
			"5:69 B.DelaySeconds: " + big + "\n6:72 C.DelaySeconds: " + big},
	} {
		if got := misfits(t, c.body, template.Scope{}); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.what, got, c.want)
		}
	}
}
