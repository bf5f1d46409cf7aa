package cloudformation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

func (w *account) propose(name, stack string, kind types.ChangeSetType, template string, parameters ...string) *cfn.DescribeChangeSetOutput {
	w.Helper()
	made, err := w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{
		ChangeSetName: &name, StackName: &stack, ChangeSetType: kind, TemplateBody: &template, Parameters: given(parameters...)})
	if err != nil {
		w.Fatal(err)
	}
	got, err := w.client.DescribeChangeSet(w.Context(), &cfn.DescribeChangeSetInput{ChangeSetName: made.Id})
	if err != nil {
		w.Fatal(err)
	}
	return got
}

func changes(c *cfn.DescribeChangeSetOutput) string {
	var all []string
	for _, one := range c.Changes {
		r := one.ResourceChange
		line := fmt.Sprintf("%s %s %s", r.Action, *r.LogicalResourceId, *r.ResourceType)
		if r.Replacement != "" {
			line += " replacement " + string(r.Replacement)
		}
		for _, d := range r.Details {
			line += " " + *d.Target.Name
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

// A change set of type CREATE makes a stack in REVIEW_IN_PROGRESS; executing it creates the stack.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-changesets.html
func TestChangeSets(t *testing.T) {
	scenario(t, func(w *account) {
		c := w.propose("first", "net", types.ChangeSetTypeCreate, network)
		w.reads(changes(c), "Add VPC AWS::EC2::VPC")
		if got := w.stack("net").StackStatus; got != types.StackStatusReviewInProgress {
			t.Errorf("the stack is %s", got)
		}
		_, err := w.tryUpdate("net", network)
		w.refused(err, "ValidationError", "is in REVIEW_IN_PROGRESS state and can not be updated.")
		execute := &cfn.ExecuteChangeSetInput{ChangeSetName: c.ChangeSetId, ClientRequestToken: aws.String("go")}
		for range 2 { // the token starts one operation
			if _, err := w.client.ExecuteChangeSet(w.Context(), execute); err != nil {
				t.Fatal(err)
			}
		}
		w.wait("net", types.StackStatusCreateComplete)
		_, err = w.client.ExecuteChangeSet(w.Context(), &cfn.ExecuteChangeSetInput{ChangeSetName: c.ChangeSetId})
		w.refused(err, "InvalidChangeSetStatus", "cannot be executed in its current status")

		c = w.propose("second", "net", types.ChangeSetTypeUpdate, network)
		if c.Status != types.ChangeSetStatusFailed || !strings.HasPrefix(*c.StatusReason, "The submitted information didn't contain changes.") {
			t.Errorf("%s: %s", c.Status, aws.ToString(c.StatusReason))
		}
		c = w.propose("third", "net", types.ChangeSetTypeUpdate, strings.Replace(network, "Resources: {", "Resources: {Topic: {Type: AWS::SNS::Topic}, ", 1), "Cidr", "10.1.0.0/16")
		w.reads(changes(c), "Add Topic AWS::SNS::Topic\nModify VPC AWS::EC2::VPC replacement True CidrBlock")
		_, err = w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: aws.String("third"), StackName: aws.String("net"), TemplateBody: aws.String(network)})
		w.refused(err, "AlreadyExistsException", "third")
		list, err := w.client.ListChangeSets(w.Context(), &cfn.ListChangeSetsInput{StackName: aws.String("net")})
		if err != nil || len(list.Summaries) != 3 {
			t.Errorf("%v %v", list, err)
		}
		if _, err := w.client.ExecuteChangeSet(w.Context(), &cfn.ExecuteChangeSetInput{ChangeSetName: aws.String("third"), StackName: aws.String("net")}); err != nil {
			t.Fatal(err)
		}
		if st := w.wait("net", types.StackStatusUpdateComplete); *st.ChangeSetId != *c.ChangeSetId {
			t.Errorf("change set %s", *st.ChangeSetId)
		}
		_, err = w.client.DescribeChangeSet(w.Context(), &cfn.DescribeChangeSetInput{ChangeSetName: aws.String("second"), StackName: aws.String("net")})
		w.refused(err, "ChangeSetNotFound", "ChangeSet [second] does not exist")
		c = w.propose("fourth", "net", types.ChangeSetTypeUpdate, network, "Cidr", "10.1.0.0/16")
		w.reads(changes(c), "Remove Topic AWS::SNS::Topic")
		for range 2 {
			if _, err := w.client.DeleteChangeSet(w.Context(), &cfn.DeleteChangeSetInput{ChangeSetName: c.ChangeSetId}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A stack in REVIEW_IN_PROGRESS can be deleted. A change set for a stack that does not exist is refused.
func TestReviewedOnly(t *testing.T) {
	scenario(t, func(w *account) {
		_, err := w.client.CreateChangeSet(w.Context(), &cfn.CreateChangeSetInput{ChangeSetName: aws.String("c"), StackName: aws.String("net"), TemplateBody: aws.String(network)})
		w.refused(err, "ValidationError", "Stack [net] does not exist")
		c := w.propose("c", "net", types.ChangeSetTypeCreate, network)
		w.remove("net")
		w.wait(*c.StackId, types.StackStatusDeleteComplete)
	})
}
