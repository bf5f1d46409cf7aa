package cloudformation_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

const (
	network = `
Parameters: {Cidr: {Type: String, Default: 10.0.0.0/16}, Also: {Type: String, Default: yes}}
Conditions: {Also: !Equals [!Ref Also, yes]}
Resources: {VPC: {Type: AWS::EC2::VPC, Properties: {CidrBlock: !Ref Cidr}}}
Outputs:
  VPC: {Condition: Also, Value: !Ref VPC, Export: {Name: !Sub '${AWS::StackName}-VPC'}}
  Cidr: {Value: !GetAtt VPC.CidrBlock}
`
	group = `
Parameters: {Network: {Type: String, Default: net}}
Resources:
  Group: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: g, VpcId: {'Fn::ImportValue': !Sub '${Network}-VPC'}}}
Outputs: {Id: {Value: !GetAtt Group.VpcId}}
`
)

// An export that is imported can be neither deleted nor changed.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
// The status after a refused delete is the one before it: https://github.com/boto/botocore/issues/2590
func TestExportInUse(t *testing.T) {
	scenario(t, func(w *account) {
		net := w.up("net", network)
		w.up("app", group)
		w.up("lib", group)
		if got, want := w.output("app", "Id"), w.output("net", "VPC"); got != want {
			t.Errorf("imported %s, exported %s", got, want)
		}
		const users = "net-VPC as it is in use by app, lib."

		w.remove("net")
		if got := w.stack("net").StackStatus; got != types.StackStatusDeleteInProgress {
			t.Errorf("at once it is %s", got)
		}
		st := w.wait("net", types.StackStatusCreateComplete)
		if got := aws.ToString(st.StackStatusReason); got != "Delete canceled. Cannot delete export "+users {
			t.Errorf("reason: %s", got)
		}

		vpc := w.output("net", "VPC")
		w.update("net", network, updateWith("Cidr", "10.1.0.0/16"))
		w.wait("net", types.StackStatusUpdateRollbackComplete)
		w.has("net", "UPDATE_ROLLBACK_IN_PROGRESS", "Update canceled. Cannot update export "+users)
		if w.output("net", "VPC") != vpc || w.output("net", "Cidr") != "10.0.0.0/16" {
			t.Errorf("not rolled back: %s %s", w.output("net", "VPC"), w.output("net", "Cidr"))
		}
		w.update("net", network, updateWith("Also", "no"))
		w.wait("net", types.StackStatusUpdateRollbackComplete)
		w.has("net", "UPDATE_ROLLBACK_IN_PROGRESS", "Delete canceled. Cannot delete export "+users)

		for _, name := range []string{"app", "lib"} {
			id := *w.stack(name).StackId
			w.remove(name)
			w.wait(id, types.StackStatusDeleteComplete)
		}
		w.remove("net")
		w.wait(net, types.StackStatusDeleteComplete)
	})
}

// has checks that a stack or a resource had a status with a reason.
func (w *account) has(name, status, reason string) {
	w.Helper()
	for _, e := range w.stackEvents(name) {
		if string(e.ResourceStatus) == status && aws.ToString(e.ResourceStatusReason) == reason {
			return
		}
	}
	w.Errorf("no %s for %q in\n%s", status, reason, w.history(name))
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference-importvalue.html
func TestMissingExport(t *testing.T) {
	scenario(t, func(w *account) {
		w.create("app", group)
		w.wait("app", types.StackStatusRollbackComplete)
		w.reads(w.history("app"), `
app CREATE_IN_PROGRESS: User Initiated
app ROLLBACK_IN_PROGRESS: No export named net-VPC found. Rollback requested by user.
app ROLLBACK_COMPLETE`)

		w.up("net", network)
		w.up("lib", group)
		w.update("lib", group, updateWith("Network", "nowhere"))
		w.wait("lib", types.StackStatusUpdateRollbackComplete)
		w.has("lib", "UPDATE_ROLLBACK_IN_PROGRESS", "No export named nowhere-VPC found")
	})
}

func TestExportNamesAreUnique(t *testing.T) {
	const other = `
Resources: {VPC: {Type: AWS::EC2::VPC}}
Outputs: {VPC: {Value: x, Export: {Name: net-VPC}}}`
	scenario(t, func(w *account) {
		w.up("net", network)
		w.create("other", other)
		w.wait("other", types.StackStatusRollbackComplete)
		w.has("other", "ROLLBACK_IN_PROGRESS", "Export with name net-VPC is already exported by stack net. Rollback requested by user.")
		out, err := w.client.ListExports(w.Context(), &cfn.ListExportsInput{})
		if err != nil || len(out.Exports) != 1 || *out.Exports[0].ExportingStackId != *w.stack("net").StackId {
			t.Errorf("exports: %v %v", out, err)
		}
	})
}

// The stacks that import an export are listed. An export that no stack imports is refused.
func TestImportsAreListed(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("net", network)
		_, err := w.client.ListImports(w.Context(), &cfn.ListImportsInput{ExportName: aws.String("net-VPC")})
		if err == nil || !strings.Contains(err.Error(), "Export 'net-VPC' is not imported by any stack.") {
			t.Errorf("imports of what nobody imports: %v", err)
		}
		w.up("app", group)
		out, err := w.client.ListImports(w.Context(), &cfn.ListImportsInput{ExportName: aws.String("net-VPC")})
		if err != nil || !slices.Equal(out.Imports, []string{"app"}) {
			t.Errorf("imports: %v %v", out, err)
		}
	})
}

// An import lasts until the cleanup of the update that removes it. A stack that was
// rolled back imports nothing.
func TestImportsAreGivenUp(t *testing.T) {
	scenario(t, func(w *account) {
		net := w.up("net", network)
		w.up("app", group)
		w.update("app", topic)
		w.remove("net") // too early
		w.wait("net", types.StackStatusCreateComplete)
		w.wait("app", types.StackStatusUpdateComplete)
		w.remove("net")
		w.wait(net, types.StackStatusDeleteComplete)
	})
}

// What a failed update began to import stays imported until its cleanup.
func TestImportsOfFailedUpdates(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("net", network)
		w.up("app", topic)
		w.fault("POST", `{"stack":"app","operation":"update","times":1}`, 200)
		w.update("app", group)
		for w.stack("app").StackStatus != types.StackStatusUpdateRollbackInProgress {
			time.Sleep(100 * time.Millisecond)
		}
		w.remove("net")
		w.wait("net", types.StackStatusCreateComplete)
		w.wait("app", types.StackStatusUpdateRollbackComplete)
	})
}

// A stack whose creation was rolled back imports nothing any more, also while it is deleted.
func TestRolledBackStackImportsNothing(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("net", network)
		w.fault("POST", `{"stack":"app","operation":"create","reason":"no capacity","times":1}`, 200)
		w.create("app", group)
		w.wait("app", types.StackStatusRollbackComplete)
		w.fault("POST", `{"stack":"app","operation":"delete","seconds":3600}`, 200)
		w.remove("app")
		if got := w.stack("app").StackStatus; got != types.StackStatusDeleteInProgress {
			t.Fatalf("app is %s", got)
		}
		w.update("net", network, updateWith("Also", "no"))
		w.wait("net", types.StackStatusUpdateComplete)
	})
}
