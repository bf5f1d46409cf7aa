package cloudformation_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

const reader = `
Resources:
  Entry: {Type: AWS::SSM::Parameter, Properties: {Type: String, Value: !GetStackOutput {StackName: net,
	OutputName: Cidr}}}
Outputs: {Value: {Value: !GetAtt Entry.Value}}
`

// "The referenced value is resolved at stack create or update time. If the referenced stack or output is later deleted
// or modified, the consuming stack is not automatically updated or notified."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html
func TestGetStackOutput(t *testing.T) {
	scenario(t, func(w *account) {
		w.create("first", reader)
		w.wait("first", types.StackStatusRollbackComplete)
		if got := w.history("first"); !strings.Contains(got, "Fn::GetStackOutput: Stack with id net does not exist") {
			t.Errorf("the reason is missing:\n%s", got)
		}
		net := w.up("net", network)
		w.up("app", reader)
		if got := w.output("app", "Value"); got != "10.0.0.0/16" {
			t.Errorf("read %s", got)
		}
		_, err := w.tryUpdate("app", reader)
		w.refused(err, "ValidationError", "No updates are to be performed.")

		w.update("net", network, updateWith("Cidr", "10.1.0.0/16"))
		w.wait("net", types.StackStatusUpdateComplete)
		if got := w.output("app", "Value"); got != "10.0.0.0/16" {
			t.Errorf("the reader was updated: %s", got)
		}
		w.update("app", reader)
		w.wait("app", types.StackStatusUpdateComplete)
		if got := w.output("app", "Value"); got != "10.1.0.0/16" {
			t.Errorf("read %s after the update", got)
		}
		w.update("app", strings.Replace(reader, "Cidr", "Cidre", 1))
		w.wait("app", types.StackStatusUpdateRollbackComplete)
		if got := w.history("app"); !strings.Contains(got, "Fn::GetStackOutput: Stack net has no output named Cidre") {
			t.Errorf("the reason is missing:\n%s", got)
		}
		w.remove("net")
		w.wait(net, types.StackStatusDeleteComplete)
		w.update("app", strings.Replace(reader, "Type: String", "Type: String, Description: x", 1))
		w.wait("app", types.StackStatusUpdateRollbackComplete)
	})
}
