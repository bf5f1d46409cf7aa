package cloudformation_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

// The events of a nested stack are those of its ID, also when it has been deleted by the rollback of its parent.
func TestEventsOfANestedStackThatFails(t *testing.T) {
	const outer = "Resources: {Inner: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: 'https://s3.amazonaws.com/b/inner'}}}"
	const inner = "Resources: {Topic: {Type: AWS::SNS::Topic, Metadata: {StackwrightLocal: {Fail: the quota of topics is reached}}}}"
	fetch := func(context.Context, string, string, string) ([]byte, error) { return []byte(inner), nil }
	scenarioIn(t, "", cloudformation.Options{Fetch: fetch}, func(w *account) {
		w.create("app", outer)
		w.wait("app", types.StackStatusRollbackComplete)
		id := ""
		for _, e := range w.stackEvents("app") {
			if *e.LogicalResourceId == "Inner" && e.ResourceStatus == types.ResourceStatusCreateFailed {
				id = *e.PhysicalResourceId
			}
		}
		if got := w.history(id); !strings.Contains(got, "Topic CREATE_FAILED: the quota of topics is reached") {
			t.Errorf("events of %s:\n%s", id, got)
		}
	})
}

// What a stack has stored in the parameter store is there for parameters of other stacks, and the public parameters
// for all.
func TestStoredParametersOfStacks(t *testing.T) {
	const user = `
Parameters: {Size: {Type: AWS::SSM::Parameter::Value<String>, Default: /size},
	Zones: {Type: AWS::SSM::Parameter::Value<List<String>>, Default: /zones}}
Resources: {S: {Type: AWS::SNS::Topic, Properties: {DisplayName: '{{resolve:ssm:/aws/service/x}}'}}}
Outputs: {Value: {Value: !Join ['-', [!Ref Size, !Select [1, !Ref Zones]]]}}
`
	scenario(t, func(w *account) {
		_, err := w.tryCreate("user", user)
		w.refused(err, "ValidationError", "Unable to fetch parameters [/size] from parameter store for this account.")
		w.up("store", "Resources:\n  A: {Type: AWS::SSM::Parameter, Properties: {Name: /size, Type: String, Value: small}}\n"+
			"  B: {Type: AWS::SSM::Parameter, Properties: {Name: /zones, Type: StringList, Value: 'a,b'}}\n")
		w.up("user", user)
		if got := w.output("user", "Value"); got != "small-b" {
			t.Error(got)
		}
	})
}
