package plan_test

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/lib/difference"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/plan"
)

// What CloudFormation proposes replaces the estimate, and the stack says where the two
// disagreed. A stack without a proposal, and one whose change set has failed, keep their estimate.
func TestProposalsReplaceTheEstimate(t *testing.T) {
	estimate := func(stack string) plan.StackChange {
		return plan.StackChange{Stack: stack, Action: plan.ActionUpdate, Certainty: plan.Certain, Replaces: true, DataLoss: true, Caveats: []string{"the template has macros"},
			Resources: []plan.ResourceChange{
				{ID: "Table", Type: "AWS::DynamoDB::Table", Action: difference.Replace, Replacement: resource.Always, Loses: "a table", DataLoss: true},
				{ID: "Topic", Type: "AWS::SNS::Topic", Action: difference.Dynamic, Replacement: resource.Never},
				{ID: "Role", Type: "AWS::IAM::Role", Action: difference.Modify, Replacement: resource.Never},
			}}
	}
	c := plan.Changes{Stacks: []plan.StackChange{estimate("data"), estimate("failed"), estimate("unknown")}, Summary: plan.Summary{Unchanged: 4}}
	got := c.Exact(map[string]plan.Proposal{
		"data": {Resources: []plan.ResourceChange{
			{ID: "Bucket", Type: "AWS::S3::Bucket", Action: difference.Remove, Replacement: resource.Never},
			{ID: "Kept", Type: "AWS::S3::Bucket", Action: difference.Remove, Replacement: resource.Never, Policy: "Retain"},
			{ID: "Net/VPC", Type: "AWS::EC2::VPC", Action: difference.Modify, Replacement: resource.Never},
			{ID: "Role", Type: "AWS::IAM::Role", Action: difference.Modify, Replacement: resource.Never},
			{ID: "Table", Type: "AWS::DynamoDB::Table", Action: difference.Modify, Replacement: resource.Never},
		}},
		"failed": {Failure: "no export named x"},
	})
	exact := got.Stacks[0]
	want := []string{
		"Bucket: the estimate was unchanged, CloudFormation says remove", "Kept: the estimate was unchanged, CloudFormation says remove",
		"Table: the estimate was replace, CloudFormation says modify", "Topic: the estimate was may change, CloudFormation says unchanged",
	}
	if !exact.Exact || exact.Replaces || !exact.DataLoss || len(exact.Caveats) > 0 || !slices.Equal(exact.Disagreements, want) {
		t.Errorf("the exact stack is %+v", exact)
	}
	if b := exact.Resources[0]; !b.DataLoss || b.Loses != "objects" || exact.Resources[1].DataLoss {
		t.Errorf("the removed buckets lose %+v", exact.Resources[:2])
	}
	if f := got.Stacks[1]; f.Exact || !f.DataLoss || !slices.Contains(f.Caveats, "CloudFormation could not make a change set, so this is an estimate: no export named x") {
		t.Errorf("the failed stack is %+v", f)
	}
	if u := got.Stacks[2]; u.Exact || len(u.Caveats) != 1 || len(c.Stacks[0].Disagreements) > 0 {
		t.Errorf("the stack without a proposal is %+v", u)
	}
	if s := got.Summary; s.Unchanged != 4 || s.Update != 3 || s.ResourcesReplaced != 2 || s.DataLoss != 3 {
		t.Errorf("the summary is %+v", s)
	}
}

// A stack that the deploy adopts first has no change set: an update of it is an estimate. One that is as the project says
// needs none.
func TestProposalsLeaveOutAdoptions(t *testing.T) {
	c := plan.Changes{Stacks: []plan.StackChange{
		{Stack: "differs", Action: plan.ActionAdopt, Steps: []string{"differs/adopt", "differs/update"}},
		{Stack: "same", Action: plan.ActionAdopt, Steps: []string{"same/adopt"}},
	}}
	steps, got := plan.View{}.Proposals(plan.Plan{}, c)
	want := []string{"this is an estimate, without a change set: the stack is not adopted yet"}
	if len(steps) > 0 || !slices.Equal(got.Stacks[0].Caveats, want) || len(got.Stacks[1].Caveats) > 0 {
		t.Errorf("steps %v, stacks %+v", steps, got.Stacks)
	}
}
