package cloudformation_test

import (
	"net/url"
	"testing"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/lib/resource"
	"github.com/stackwright/stackwright/pkg/plan"
)

// A resource of which CloudFormation does not know yet what the update does may be replaced.
func TestDynamicChange(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeChangeSet"] = say("<Status>CREATE_COMPLETE</Status><Changes><member><Type>Resource</Type><ResourceChange><Action>Dynamic</Action><LogicalResourceId>Table</LogicalResourceId><ResourceType>AWS::DynamoDB::Table</ResourceType></ResourceChange></member></Changes>")
	got, ready, err := w.cloud().Proposal(t.Context(), action.Task{Receipt: plan.Receipt{StackID: vpcID, Operation: "set"}})
	if err != nil || !ready || len(got.Resources) != 1 || got.Resources[0].Replacement != resource.Conditional {
		t.Errorf("%+v, %t, %v", got, ready, err)
	}
}

// A change set is ready when those of its nested stacks are, and what these leave out is left out of it.
func TestNestedChangeSets(t *testing.T) {
	for nested, want := range map[string]struct {
		ready   bool
		warning string
	}{
		"<Status>CREATE_COMPLETE</Status>":                                                                     {true, ""},
		"<Status>CREATE_IN_PROGRESS</Status>":                                                                  {false, ""},
		"<Status>CREATE_COMPLETE</Status><StatusReason>a resource is left out</StatusReason>":                  {true, "a resource is left out"},
		"<Status>FAILED</Status><StatusReason>no export named x</StatusReason>":                                {true, "no export named x"},
		"<Status>FAILED</Status><StatusReason>The submitted information didn't contain changes</StatusReason>": {true, ""},
	} {
		w := newWire(t)
		w.answers["DescribeChangeSet"] = func(form url.Values) (int, string) {
			if form.Get("ChangeSetName") == "inner" {
				return say(nested)(form)
			}
			return say("<Status>CREATE_COMPLETE</Status><Changes><member><Type>Resource</Type><ResourceChange><Action>Modify</Action><LogicalResourceId>Child</LogicalResourceId><ResourceType>AWS::CloudFormation::Stack</ResourceType><ChangeSetId>inner</ChangeSetId></ResourceChange></member></Changes>")(form)
		}
		got, ready, err := w.cloud().Proposal(t.Context(), action.Task{Receipt: plan.Receipt{StackID: vpcID, Operation: "set"}})
		if err != nil || ready != want.ready || got.Warning != want.warning {
			t.Errorf("%s: %+v, %t, %v", nested, got, ready, err)
		}
	}
}
