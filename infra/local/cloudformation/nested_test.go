package cloudformation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/stackwright/stackwright/infra/local/cloudformation"
)

const (
	outer = `
Parameters: {Cidr: {Type: String, Default: 10.0.0.0/16}}
Resources:
  Net: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: https://templates.s3.amazonaws.com/inner, Parameters: {Cidr: !Ref Cidr}}}
  Group: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: g, VpcId: !GetAtt Net.Outputs.VPC}}
Outputs: {VPC: {Value: !GetAtt Net.Outputs.VPC}}
`
	inner = `
Parameters: {Cidr: {Type: String}}
Resources:
  VPC: {Type: AWS::EC2::VPC, Properties: {CidrBlock: !Ref Cidr}}
Outputs: {VPC: {Value: !Ref VPC}}
`
)

// nested runs a test in an account whose bucket has templates.
func nested(t *testing.T, templates map[string]string, test func(w *account)) {
	t.Helper()
	fetch := func(_ context.Context, _, key, _ string) ([]byte, error) {
		if body, ok := templates[key]; ok {
			return []byte(body), nil
		}
		return nil, errors.New("the specified key does not exist")
	}
	scenarioIn(t, "", cloudformation.Options{Fetch: fetch}, test)
}

func (w *account) proposeAll(name, stack string, kind types.ChangeSetType, parameters ...string) *cfn.DescribeChangeSetOutput {
	w.Helper()
	made, err := w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: &name, StackName: &stack, ChangeSetType: kind,
		TemplateBody: aws.String(outer), Parameters: given(parameters...), IncludeNestedStacks: aws.Bool(true)})
	if err != nil {
		w.Fatal(err)
	}
	return w.changeSet(*made.Id)
}

// The nested stack's content follows its template, and its outputs are attributes of the resource.
func TestNestedStacks(t *testing.T) {
	templates := map[string]string{"inner": inner}
	nested(t, templates, func(w *account) {
		w.up("s", outer)
		if got := w.output("s", "VPC"); !strings.HasPrefix(got, "vpc-") {
			t.Errorf("the VPC of the nested stack is %q", got)
		}
		templates["inner"] = strings.Replace(inner, "{CidrBlock", "{EnableDnsHostnames: true, CidrBlock", 1)
		w.update("s", outer) // an update, although the template of the parent is the same
		w.wait("s", types.StackStatusUpdateComplete)
		_, err := w.tryUpdate("s", outer)
		w.refused(err, "ValidationError", "No updates are to be performed.")
		delete(templates, "inner")
		w.create("t", outer)
		if st := w.wait("t", types.StackStatusRollbackComplete); !strings.Contains(aws.ToString(st.StackStatusReason), "Net") && !strings.Contains(w.history(*st.StackId), "S3 error") {
			t.Errorf("the template is missing: %s", w.history(*st.StackId))
		}
		templates["inner"] = outer // contains itself
		w.create("u", outer)
		w.wait("u", types.StackStatusRollbackComplete)
	})
}

// With IncludeNestedStacks, each nested stack has a change set, whose ID is in the change of its resource.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/change-sets-for-nested-stacks.html
func TestChangeSetsOfNestedStacks(t *testing.T) {
	templates := map[string]string{"inner": inner}
	nested(t, templates, func(w *account) {
		w.up("s", outer)
		c := w.proposeAll("a", "s", types.ChangeSetTypeUpdate, "Cidr", "10.1.0.0/16")
		w.reads(changes(c), "Modify Group AWS::EC2::SecurityGroup replacement Conditional /Properties/VpcId\n"+
			"Modify Net AWS::CloudFormation::Stack replacement False /Properties/Parameters/Cidr")
		in := w.changeSet(aws.ToString(c.Changes[1].ResourceChange.ChangeSetId))
		w.reads(changes(in), "Modify VPC AWS::EC2::VPC replacement True /Properties/CidrBlock")
		if *in.ParentChangeSetId != *c.ChangeSetId || *in.RootChangeSetId != *c.ChangeSetId || !strings.HasPrefix(*in.StackName, "s-Net-") {
			t.Errorf("the nested change set belongs to %s of %s", *in.ParentChangeSetId, *in.StackName)
		}
		_, err := w.client.DeleteChangeSet(w.Context(), &cfn.DeleteChangeSetInput{ChangeSetName: in.ChangeSetId})
		w.refused(err, "ValidationError", "use its root change set")

		// Only the nested template differs. Without IncludeNestedStacks, CloudFormation does not read it.
		templates["inner"] = strings.Replace(inner, "{CidrBlock", "{EnableDnsHostnames: true, CidrBlock", 1)
		c = w.proposeAll("b", "s", types.ChangeSetTypeUpdate)
		w.reads(details(c, "Net"), "Modify [Properties] False\nProperties Never Dynamic Automatic")
		w.reads(changes(w.changeSet(aws.ToString(c.Changes[1].ResourceChange.ChangeSetId))), "Modify VPC AWS::EC2::VPC replacement False /Properties/EnableDnsHostnames")
		templates["inner"] = inner
		if c = w.proposeAll("c", "s", types.ChangeSetTypeUpdate); c.Status != types.ChangeSetStatusFailed || !strings.Contains(*c.StatusReason, "didn't contain changes") {
			t.Errorf("nothing differs: %s %s", c.Status, changes(c))
		}
		c = w.propose("d", "s", types.ChangeSetTypeUpdate, outer)
		w.reads(details(c, "Net"), "Modify [Properties] False\nProperties Never Dynamic Automatic")

		delete(templates, "inner")
		if c = w.proposeAll("e", "s", types.ChangeSetTypeUpdate); c.Status != types.ChangeSetStatusFailed || !strings.Contains(*c.StatusReason, "was not successfully created: Currently in FAILED.") {
			t.Errorf("the template is missing: %s %s", c.Status, aws.ToString(c.StatusReason))
		}
	})
}

// The change set of a new stack makes its nested stacks, in REVIEW_IN_PROGRESS. They are deleted with the root change
// set; the root stack stays.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeleteChangeSet.html
func TestReviewOfNestedStacks(t *testing.T) {
	nested(t, map[string]string{"inner": inner}, func(w *account) {
		for _, end := range []string{"delete the change set", "delete the stack", "execute"} {
			name := fmt.Sprintf("s%d", len(end))
			c := w.proposeAll("a", name, types.ChangeSetTypeCreate)
			w.reads(changes(c), "Add Group AWS::EC2::SecurityGroup\nAdd Net AWS::CloudFormation::Stack")
			in := w.changeSet(aws.ToString(c.Changes[1].ResourceChange.ChangeSetId))
			w.reads(changes(in), "Add VPC AWS::EC2::VPC")
			inside := w.stack(*in.StackId)
			if inside.StackStatus != types.StackStatusReviewInProgress || aws.ToString(inside.ParentId) != *c.StackId || aws.ToString(inside.RootId) != *c.StackId {
				t.Errorf("the nested stack is %s, in %s", inside.StackStatus, aws.ToString(inside.ParentId))
			}
			left := types.StackStatusReviewInProgress
			switch end {
			case "delete the change set":
				if _, err := w.client.DeleteChangeSet(w.Context(), &cfn.DeleteChangeSetInput{ChangeSetName: c.ChangeSetId}); err != nil {
					t.Fatal(err)
				}
			case "delete the stack":
				w.remove(name)
				left = types.StackStatusDeleteComplete
				w.wait(*c.StackId, left)
			default:
				if _, err := w.client.ExecuteChangeSet(w.Context(), &cfn.ExecuteChangeSetInput{ChangeSetName: c.ChangeSetId}); err != nil {
					t.Fatal(err)
				}
				left = types.StackStatusCreateComplete
				w.wait(name, left)
			}
			if got := w.stack(*in.StackId).StackStatus; got != types.StackStatusDeleteComplete {
				t.Errorf("%s: the nested stack is %s", end, got)
			}
			if got := w.stack(*c.StackId).StackStatus; got != left {
				t.Errorf("%s: the stack is %s", end, got)
			}
		}
	})
}

// A nested stack exports and imports as any other stack does.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
func TestExportsOfNestedStacks(t *testing.T) {
	const (
		around = "Resources: {In: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: https://templates.s3.amazonaws.com/%s}}}"
		makes  = "Resources: {T: {Type: AWS::SNS::Topic}}\nOutputs: {T: {Value: !Ref T, Export: {Name: topic}}}"
		uses   = "Resources: {P: {Type: AWS::SSM::Parameter, Properties: {Type: String, Value: !ImportValue topic}}}"
		topic  = "Resources: {T: {Type: AWS::SNS::Topic}}\n"
	)
	templates := map[string]string{"makes": makes, "uses": uses}
	nested(t, templates, func(w *account) {
		base, user := fmt.Sprintf(around, "makes"), fmt.Sprintf(around, "uses")
		w.create("early", user)
		w.wait("early", types.StackStatusRollbackComplete)
		w.up("base", base)
		user0 := w.up("user", user)
		listed, err := w.client.ListImports(w.Context(), &cfn.ListImportsInput{ExportName: aws.String("topic")})
		if err != nil || len(listed.Imports) != 1 {
			t.Fatalf("importers: %+v, %v", listed, err)
		}
		importer, err := w.client.DescribeStacks(w.Context(), &cfn.DescribeStacksInput{StackName: &listed.Imports[0]})
		if err != nil || len(importer.Stacks) != 1 || !strings.Contains(aws.ToString(importer.Stacks[0].ParentId), "/user/") {
			t.Errorf("the importer %q is not the nested stack: %+v, %v", listed.Imports[0], importer, err)
		}
		templates["makes"] = topic
		w.update("base", base)
		w.wait("base", types.StackStatusUpdateRollbackComplete)
		w.remove("base")
		if st := w.wait("base", types.StackStatusUpdateRollbackComplete); !strings.Contains(aws.ToString(st.StackStatusReason), "in use by") {
			t.Errorf("reason: %s", aws.ToString(st.StackStatusReason))
		}
		w.remove("user")
		w.wait(user0, types.StackStatusDeleteComplete)
		w.update("base", base)
		w.wait("base", types.StackStatusUpdateComplete)
		templates["makes"] = makes
		w.up("other", base)
		w.update("base", base)
		w.wait("base", types.StackStatusUpdateRollbackComplete)
	})
}
