package cloudformation_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

// Types and properties are those that AWS has published.
func TestPublishedTypes(t *testing.T) {
	const topic = "Resources: {T: {Type: AWS::SNS::Topic}, "
	const unknown = topic + "Q: {Type: AWS::SQS::Queu}, P: {Type: AWS::SQS::Qeue}, " +
		"C: {Type: Custom::Any, Properties: {ServiceToken: a}}}"
	const refusal = "Template format error: Unrecognized resource types: [AWS::SQS::Queu, AWS::SQS::Qeue]"
	const unfit = topic + "Q: {Type: AWS::SQS::Queue, Properties: {DelaySecond: 1, Tags: [{Key: a}]}}}"
	const reason = "Q CREATE_FAILED: Properties validation failed for resource Q with message: " +
		"[#: extraneous key [DelaySecond] is not permitted, #/Tags/0: required key [Value] not found]"
	const fits = topic + "Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: 1}}}"
	const outer = "Resources: {Inner: {Type: AWS::CloudFormation::Stack, " +
		"Properties: {TemplateURL: 'https://s3.amazonaws.com/b/inner'}}}"
	const large = "[#/DelaySeconds: failed validation constraint for keyword [maximum]]"
	bodies := map[string]string{"inner": unfit}
	fetch := func(_ context.Context, _, key, _ string) ([]byte, error) { return []byte(bodies[key]), nil }
	scenarioIn(t, "", cloudformation.Options{Fetch: fetch}, func(w *account) {
		_, err := w.tryCreate("app", unknown)
		w.refused(err, "ValidationError", refusal)
		_, err = w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{StackName: aws.String("app"),
			ChangeSetName: aws.String("a"), ChangeSetType: types.ChangeSetTypeCreate, TemplateBody: aws.String(unknown)})
		w.refused(err, "ValidationError", refusal)
		w.create("unfit", unfit)
		w.wait("unfit", types.StackStatusRollbackComplete)
		if got := w.history("unfit"); !strings.Contains(got, reason) {
			t.Error(got)
		}
		w.up("app", fits)
		_, err = w.tryUpdate("app", unknown)
		w.refused(err, "ValidationError", refusal)
		w.update("app", strings.Replace(fits, "DelaySeconds: 1", "DelaySeconds: 1000", 1))
		w.wait("app", types.StackStatusUpdateRollbackComplete)
		if got := w.history("app"); !strings.Contains(got, large) {
			t.Error(got)
		}
		w.create("outer", outer)
		w.wait("outer", types.StackStatusRollbackComplete)
		if got := w.history("outer"); !strings.Contains(got, "Inner CREATE_FAILED: Embedded stack") ||
			!strings.Contains(got, "The following resource(s) failed to create: [Q].") {
			t.Error(got)
		}
	})
}

// A request may say what is not compared, and later requests about the stack need not say it again.
func TestUncheckedTypes(t *testing.T) {
	const body = "Resources: {Q: {Type: AWS::New::Type, Properties: {Any: 1}}, " +
		"T: {Type: AWS::SNS::Topic, Properties: {New: 1}}}"
	allow := func(names string) func(*cfn.Options) {
		return func(o *cfn.Options) {
			o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue("X-Stackwright-Unchecked", names))
		}
	}
	scenario(t, func(w *account) {
		in := &cfn.CreateStackInput{StackName: aws.String("app"), TemplateBody: aws.String(body)}
		if _, err := w.client.CreateStack(w.Context(), in, allow("AWS::New::Type,AWS::SNS::Topic.New")); err != nil {
			t.Fatal(err)
		}
		w.wait("app", types.StackStatusCreateComplete)
		w.update("app", strings.Replace(body, "New: 1", "New: 2", 1))
		w.wait("app", types.StackStatusUpdateComplete)
		in.StackName = aws.String("other")
		_, err := w.client.CreateStack(w.Context(), in, allow("AWS::SNS::Topic.New"))
		w.refused(err, "ValidationError", "Template format error: Unrecognized resource types: [AWS::New::Type]")
	})
}

// An attribute that AWS has published as a list is one, also of a type that the emulator does not know.
func TestListAttributes(t *testing.T) {
	const body = `Resources: {E: {Type: AWS::EC2::VPCEndpoint, Properties: {VpcId: vpc-11111111, ServiceName: s}}}
Outputs:
  All: {Value: !Join [' ', !GetAtt E.DnsEntries]}
  Second: {Value: !Select [1, !GetAtt E.NetworkInterfaceIds]}`
	scenario(t, func(w *account) {
		w.up("app", body)
		if all := strings.Fields(w.output("app", "All")); len(all) != 2 || all[0] == all[1] {
			t.Error(all)
		}
		if w.output("app", "Second") == "" {
			t.Error("there is no second interface")
		}
	})
}
