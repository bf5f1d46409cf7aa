package cloudformation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

// listed are the resources of a stack: logical ID and status.
func (w *account) listed(stack string) (text, nested string) {
	w.Helper()
	out, err := w.client.ListStackResources(w.Context(), &cfn.ListStackResourcesInput{StackName: &stack})
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range out.StackResourceSummaries {
		if aws.ToString(r.ResourceType) == "AWS::CloudFormation::Stack" {
			nested = aws.ToString(r.PhysicalResourceId)
		}
		text += aws.ToString(r.LogicalResourceId) + " " + string(r.ResourceStatus) + "\n"
	}
	return strings.TrimSpace(text), nested
}

// drift detects the drift of a stack: its status, and the resources that are not in sync.
func (w *account) drift(stack string) string {
	w.Helper()
	made, err := w.client.DetectStackDrift(w.Context(), &cfn.DetectStackDriftInput{StackName: &stack})
	if err != nil {
		w.Fatal(err)
	}
	var out *cfn.DescribeStackDriftDetectionStatusOutput
	for range 1000 {
		if out, err = w.client.DescribeStackDriftDetectionStatus(w.Context(), &cfn.DescribeStackDriftDetectionStatusInput{StackDriftDetectionId: made.StackDriftDetectionId}); err != nil {
			w.Fatal(err)
		}
		if out.DetectionStatus != types.StackDriftDetectionStatusDetectionInProgress {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	found, err := w.client.DescribeStackResourceDrifts(w.Context(), &cfn.DescribeStackResourceDriftsInput{StackName: out.StackId, StackResourceDriftStatusFilters: []types.StackResourceDriftStatus{types.StackResourceDriftStatusModified}})
	if err != nil || aws.ToString(out.StackId) != stack {
		w.Fatal(aws.ToString(out.StackId), err)
	}
	text := string(out.StackDriftStatus)
	for _, d := range found.StackResourceDrifts {
		text += " " + aws.ToString(d.LogicalResourceId)
	}
	return text
}

// A nested stack is a stack: requests name it by its ID, which is the physical ID of its resource. It exists as long as that does.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-nested-stacks.html
func TestInsideOfNestedStacks(t *testing.T) {
	templates := map[string]string{"middle": outer, "inner": inner}
	deep := strings.ReplaceAll(outer, "/inner", "/middle")
	nested(t, templates, func(w *account) {
		id := w.up("s", deep)
		all, middle := w.listed("s")
		w.reads(all, "Group CREATE_COMPLETE\nNet CREATE_COMPLETE")
		all, in := w.listed(middle)
		w.reads(all, "Group CREATE_COMPLETE\nNet CREATE_COMPLETE")
		all, _ = w.listed(in)
		w.reads(all, "VPC CREATE_COMPLETE")
		is := w.stack(in)
		if aws.ToString(is.ParentId) != middle || aws.ToString(is.RootId) != id || is.StackStatus != types.StackStatusCreateComplete {
			t.Errorf("it is %s, in %s of %s", is.StackStatus, aws.ToString(is.ParentId), aws.ToString(is.RootId))
		}
		found, err := w.client.DescribeStackResources(w.Context(), &cfn.DescribeStackResourcesInput{PhysicalResourceId: aws.String(w.output("s", "VPC"))})
		if err != nil || len(found.StackResources) != 1 || aws.ToString(found.StackResources[0].StackId) != in {
			t.Errorf("the VPC is in %+v: %v", found, err)
		}
		w.update("s", deep, func(in *cfn.UpdateStackInput) { in.Parameters = given("Cidr", "10.1.0.0/16") })
		w.wait("s", types.StackStatusUpdateComplete)
		all, _ = w.listed(in)
		w.reads(all, "VPC CREATE_COMPLETE") // it is another one: its range cannot be changed
		w.remove("s")
		w.wait(id, types.StackStatusDeleteComplete)
		if _, err := w.client.ListStackResources(w.Context(), &cfn.ListStackResourcesInput{StackName: &in}); err == nil {
			t.Error("a nested stack has resources after its parent was deleted")
		}
	})
}

// "When you perform a drift detection operation on a stack, CloudFormation doesn't detect drift on any nested stacks that belong to that stack."
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-drift.html
func TestDriftOfNestedStacks(t *testing.T) {
	nested(t, map[string]string{"inner": inner}, func(w *account) {
		id := w.up("s", outer)
		_, in := w.listed("s")
		if err := w.service.Inject(cloudformation.Fault{Stack: "s-Net-*", Resource: "VPC", Drift: &cloudformation.Drift{Properties: map[string]any{"CidrBlock": "10.9.0.0/16"}}}); err != nil {
			t.Fatal(err)
		}
		if parent, child := w.drift(id), w.drift(in); parent != "IN_SYNC" || child != "DRIFTED VPC" {
			t.Errorf("the parent is %s, the nested stack %s", parent, child)
		}
		w.update("s", strings.Replace(outer, "GroupDescription: g", "GroupDescription: h", 1))
		w.wait("s", types.StackStatusUpdateComplete)
		if child := w.drift(in); child != "DRIFTED VPC" {
			t.Errorf("after an update of something else, the nested stack is %s", child)
		}
	})
}
