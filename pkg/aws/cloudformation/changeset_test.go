package cloudformation_test

import (
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
