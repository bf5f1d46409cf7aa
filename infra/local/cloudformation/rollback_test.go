package cloudformation_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

const three = `
Parameters: {V: {Type: String, Default: a}, Fail: {Type: String, Default: never}}
Conditions: {Fails: !Not [!Equals [!Ref Fail, never]]}
Resources:
  A: {Type: AWS::SNS::Topic, Properties: {DisplayName: !Ref V}}
  B:
    Type: AWS::SNS::Topic
    DependsOn: A
    Properties: {DisplayName: !Ref V}
    Metadata: {StackwrightLocal: !If [Fails, {Fail: out of luck, On: !Ref Fail}, !Ref AWS::NoValue]}
  C: {Type: AWS::SNS::Topic, DependsOn: A, Properties: {DisplayName: !Ref V}}
  D: {Type: AWS::SNS::Topic, DependsOn: B}
Outputs: {V: {Value: !Ref V}}
`

// An update of a volume changes its size, and fails if it changes anything else, as what it was created from. It is rolled back then.
// https://github.com/awsdocs/aws-cloudformation-user-guide/pull/556
func TestVolumeStaysWhatItWasCreatedFrom(t *testing.T) {
	const volume = `Parameters: {Size: {Type: String, Default: "1"}, From: {Type: String, Default: ""}}
Conditions: {Has: !Not [!Equals [!Ref From, ""]]}
Resources: {V: {Type: AWS::EC2::Volume, Properties: {AvailabilityZone: us-east-1a, Size: !Ref Size, SnapshotId: !If [Has, !Ref From, !Ref AWS::NoValue]}}}
Outputs: {V: {Value: !Ref V}}`
	scenario(t, func(w *account) {
		w.up("s", volume, createWith("From", "snap-1"))
		id := w.output("s", "V")
		w.update("s", volume, updateWith("From", "snap-1", "Size", "2"))
		w.wait("s", types.StackStatusUpdateComplete)
		for _, from := range []string{"snap-2", ""} {
			w.update("s", volume, updateWith("From", from))
			w.wait("s", types.StackStatusUpdateRollbackComplete)
		}
		if got := w.history("s"); w.output("s", "V") != id || strings.Count(got, "V UPDATE_FAILED: Volume properties other than AutoEnableIO, type, size, and IOPS cannot be updated.") != 2 {
			t.Errorf("%s\n%s", w.output("s", "V"), got)
		}
	})
}

// A create that fails is rolled back; the stack can then only be deleted.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
func TestFailedCreate(t *testing.T) {
	scenario(t, func(w *account) {
		id := *w.create("s", three, createWith("Fail", "create")).StackId
		w.wait("s", types.StackStatusRollbackComplete)
		w.reads(w.history("s"), `
s CREATE_IN_PROGRESS: User Initiated
A CREATE_IN_PROGRESS
A CREATE_IN_PROGRESS: Resource creation Initiated
A CREATE_COMPLETE
B CREATE_IN_PROGRESS
B CREATE_IN_PROGRESS: Resource creation Initiated
C CREATE_IN_PROGRESS
C CREATE_IN_PROGRESS: Resource creation Initiated
B CREATE_FAILED: out of luck
C CREATE_FAILED: Resource creation cancelled
s ROLLBACK_IN_PROGRESS: The following resource(s) failed to create: [B, C]. Rollback requested by user.
B DELETE_IN_PROGRESS
C DELETE_IN_PROGRESS
B DELETE_COMPLETE
C DELETE_COMPLETE
A DELETE_IN_PROGRESS
A DELETE_COMPLETE
s ROLLBACK_COMPLETE`)
		_, err := w.tryUpdate("s", three)
		w.refused(err, "ValidationError", "is in ROLLBACK_COMPLETE state and can not be updated.")
		_, err = w.tryCreate("s", three)
		w.refused(err, "AlreadyExistsException", "Stack [s] already exists")
		w.remove("s")
		w.wait(id, types.StackStatusDeleteComplete)
	})
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html (OnFailure, DisableRollback)
func TestOnFailure(t *testing.T) {
	scenario(t, func(w *account) {
		fail := createWith("Fail", "create")
		id := *w.create("gone", three, fail, func(in *cfn.CreateStackInput) { in.OnFailure = types.OnFailureDelete }).StackId
		w.wait(id, types.StackStatusDeleteComplete)
		w.has(id, "DELETE_IN_PROGRESS", "The following resource(s) failed to create: [B, C]. Delete requested by user.")

		disable := func(in *cfn.CreateStackInput) { in.DisableRollback = aws.Bool(true) }
		w.create("retained", three, fail, disable)
		w.wait("retained", types.StackStatusCreateFailed)
		w.update("retained", three, func(in *cfn.UpdateStackInput) { in.DisableRollback = aws.Bool(true) }) // what failed is made now
		w.wait("retained", types.StackStatusUpdateComplete)

		w.create("idle", three, fail, func(in *cfn.CreateStackInput) { in.OnFailure = types.OnFailureDoNothing })
		w.wait("idle", types.StackStatusCreateFailed)
		_, err := w.tryUpdate("idle", three, func(in *cfn.UpdateStackInput) { in.DisableRollback = aws.Bool(true) })
		w.refused(err, "ValidationError", "because it contains [on-failure: DO_NOTHING]")

		_, err = w.tryCreate("both", three, func(in *cfn.CreateStackInput) {
			in.OnFailure, in.DisableRollback = types.OnFailureDelete, aws.Bool(true)
		})
		w.refused(err, "ValidationError", "Only one of DisableRollback and OnFailure")
	})
}

// An update that fails goes back to the template, parameters and outputs before it.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
func TestFailedUpdate(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("s", three)
		before := w.history("s")
		w.update("s", strings.Replace(three, "  D:", "  E: {Type: AWS::SNS::Topic}\n  D:", 1), updateWith("Fail", "update", "V", "b"))
		st := w.wait("s", types.StackStatusUpdateRollbackComplete)
		w.reads(strings.TrimPrefix(w.history("s"), before), `
s UPDATE_IN_PROGRESS: User Initiated
A UPDATE_IN_PROGRESS
E CREATE_IN_PROGRESS
E CREATE_IN_PROGRESS: Resource creation Initiated
A UPDATE_COMPLETE
E CREATE_COMPLETE
B UPDATE_IN_PROGRESS
C UPDATE_IN_PROGRESS
B UPDATE_FAILED: out of luck
C UPDATE_FAILED: Resource update cancelled
s UPDATE_ROLLBACK_IN_PROGRESS: The following resource(s) failed to update: [B, C].
A UPDATE_IN_PROGRESS
A UPDATE_COMPLETE
B UPDATE_IN_PROGRESS
C UPDATE_IN_PROGRESS
B UPDATE_COMPLETE
C UPDATE_COMPLETE
s UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS
E DELETE_IN_PROGRESS
E DELETE_COMPLETE
s UPDATE_ROLLBACK_COMPLETE`)
		if *st.Outputs[0].OutputValue != "a" || *st.Parameters[0].ParameterValue != "a" {
			t.Errorf("not rolled back: %v %v", *st.Outputs[0].OutputValue, *st.Parameters[0].ParameterValue)
		}
		got, err := w.client.GetTemplate(w.Context(), &cfn.GetTemplateInput{StackName: aws.String("s")})
		if err != nil || *got.TemplateBody != three {
			t.Errorf("template not rolled back: %v", err)
		}
		_, err = w.tryUpdate("s", three)
		w.refused(err, "ValidationError", "No updates are to be performed.")
		w.update("s", three, updateWith("V", "c"))
		w.wait("s", types.StackStatusUpdateComplete)
	})
}

// A failed rollback is finished by ContinueUpdateRollback, which may skip resources that
// cannot be rolled back.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
func TestFailedRollback(t *testing.T) {
	for _, skip := range [][]string{nil, {"C"}} {
		scenario(t, func(w *account) {
			w.up("s", three)
			w.fault("POST", `{"stack":"s","operation":"rollback","resource":"C","reason":"stuck","times":1}`, 200)
			w.update("s", three, updateWith("Fail", "update", "V", "b"))
			w.wait("s", types.StackStatusUpdateRollbackFailed)
			w.has("s", "UPDATE_FAILED", "stuck")
			_, err := w.tryUpdate("s", three, updateWith("V", "c"))
			w.refused(err, "ValidationError", "is in UPDATE_ROLLBACK_FAILED state and can not be updated.")
			if _, err := w.client.ContinueUpdateRollback(w.Context(), &cfn.ContinueUpdateRollbackInput{
				StackName: aws.String("s"), ClientRequestToken: aws.String("continue"), ResourcesToSkip: skip}); err != nil {
				t.Fatal(err)
			}
			st := w.wait("s", types.StackStatusUpdateRollbackComplete)
			if *st.Outputs[0].OutputValue != "a" || st.LastOperations[0].OperationType != types.OperationTypeContinueRollback {
				t.Errorf("not continued: %v %v", *st.Outputs[0].OutputValue, st.LastOperations)
			}
			w.update("s", three, updateWith("V", "c"))
			w.wait("s", types.StackStatusUpdateComplete)
		})
	}
}

// With rollback disabled a failed update stays, to be updated or rolled back.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html
func TestUpdateFailed(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("s", three)
		keep := func(in *cfn.UpdateStackInput) { in.DisableRollback = aws.Bool(true) }
		w.update("s", three, updateWith("Fail", "update", "V", "b"), keep)
		w.wait("s", types.StackStatusUpdateFailed)
		_, err := w.tryUpdate("s", three, updateWith("V", "b"))
		w.refused(err, "ValidationError", "currently in a non-terminal [UPDATE_FAILED] state")
		w.update("s", three, updateWith("V", "b"), keep)
		w.wait("s", types.StackStatusUpdateComplete)
	})
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html
func TestCancelUpdate(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("s", three)
		w.update("s", three, updateWith("V", "b"))
		if _, err := w.client.CancelUpdateStack(w.Context(), &cfn.CancelUpdateStackInput{
			StackName: aws.String("s"), ClientRequestToken: aws.String("stop")}); err != nil {
			t.Fatal(err)
		}
		if st := w.wait("s", types.StackStatusUpdateRollbackComplete); *st.Outputs[0].OutputValue != "a" {
			t.Errorf("rolled back to %s", *st.Outputs[0].OutputValue)
		}
		w.has("s", "UPDATE_ROLLBACK_IN_PROGRESS", "User Initiated")
		w.has("s", "UPDATE_FAILED", "Resource update cancelled")
	})
}

// A delete that fails keeps what could not go and what that needs; the next
// may leave it behind.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeleteStack.html
func TestFailedDelete(t *testing.T) {
	scenario(t, func(w *account) {
		id := w.up("s", three, createWith("Fail", "delete"))
		w.refused(w.tryRemove("s", func(in *cfn.DeleteStackInput) { in.RetainResources = []string{"B"} }),
			"ValidationError", "only when the stack is in the DELETE_FAILED state")
		w.remove("s")
		st := w.wait("s", types.StackStatusDeleteFailed)
		if got := aws.ToString(st.StackStatusReason); got != "The following resource(s) failed to delete: [B]." {
			t.Errorf("reason: %s", got)
		}
		out, err := w.client.DescribeStackResources(w.Context(), &cfn.DescribeStackResourcesInput{StackName: aws.String("s")})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, r := range out.StackResources {
			all = append(all, *r.LogicalResourceId+" "+string(r.ResourceStatus))
		}
		w.reads(strings.Join(all, "\n"), "A CREATE_COMPLETE\nB DELETE_FAILED\nC DELETE_COMPLETE\nD DELETE_COMPLETE")
		_, err = w.tryUpdate("s", three)
		w.refused(err, "ValidationError", "is in DELETE_FAILED state and can not be updated.")
		w.refused(w.tryRemove("s", func(in *cfn.DeleteStackInput) { in.RetainResources = []string{"C"} }),
			"ValidationError", "Do not specify resources that are in the DELETE_COMPLETE state")
		w.remove("s", func(in *cfn.DeleteStackInput) { in.RetainResources = []string{"B"} })
		w.wait(id, types.StackStatusDeleteComplete)
		if !strings.Contains(w.history(id), "B DELETE_SKIPPED") {
			t.Errorf("B was not skipped:\n%s", w.history(id))
		}
	})
}

// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html
func TestDeletionPolicy(t *testing.T) {
	const retained = `Resources: {A: {Type: 'AWS::SNS::Topic', DeletionPolicy: Retain}, B: {Type: 'AWS::SNS::Topic'}}`
	scenario(t, func(w *account) {
		id := w.up("s", retained)
		w.remove("s")
		w.wait(id, types.StackStatusDeleteComplete)
		if history := w.history(id); !strings.Contains(history, "A DELETE_SKIPPED\n") || !strings.Contains(history, "B DELETE_COMPLETE\n") {
			t.Error(history)
		}
	})
}

// A replacement makes the new resource first and removes the old one in the cleanup.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html#update-replacement
func TestReplacement(t *testing.T) {
	scenario(t, func(w *account) {
		w.up("net", network)
		before, was := w.history("net"), w.output("net", "VPC")
		w.update("net", network, updateWith("Cidr", "10.9.0.0/16"))
		w.wait("net", types.StackStatusUpdateComplete)
		w.reads(strings.TrimPrefix(w.history("net"), before), `
net UPDATE_IN_PROGRESS: User Initiated
VPC UPDATE_IN_PROGRESS: Requested update requires the creation of a new physical resource; hence creating one.
VPC UPDATE_COMPLETE
net UPDATE_COMPLETE_CLEANUP_IN_PROGRESS
VPC DELETE_IN_PROGRESS
VPC DELETE_COMPLETE
net UPDATE_COMPLETE`)
		if is := w.output("net", "VPC"); is == was || !strings.HasPrefix(is, "vpc-") {
			t.Errorf("%s was replaced by %s", was, is)
		}
		r, err := w.client.DescribeStackResource(w.Context(), &cfn.DescribeStackResourceInput{StackName: aws.String("net"), LogicalResourceId: aws.String("VPC")})
		if err != nil || *r.StackResourceDetail.PhysicalResourceId != w.output("net", "VPC") || r.StackResourceDetail.ResourceStatus != types.ResourceStatusUpdateComplete {
			t.Errorf("VPC: %v %v", r, err)
		}
	})
}
