package sim

import (
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
)

// refuseRetained refuses a deletion that retains resources although no deletion has failed, or that names others than those that the stack has.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DeleteStack.html (RetainResources)
func (st *stack) refuseRetained(t action.Task) error {
	switch names := t.Retained(); {
	case t.Request != action.DeleteStack || len(names) == 0 || st == nil || st.status == "DELETE_COMPLETE":
		return nil
	case st.status != "DELETE_FAILED":
		return fault.New(fault.Refused, "RetainResources can be specified only when the stack is in the DELETE_FAILED state")
	case slices.ContainsFunc(names, func(name string) bool { return name != "Topic" && (name != "Table" || TableOf(st.now.template) == "") }):
		return fault.New(fault.Refused, "the specified resources to retain must be in a valid state")
	}
	return nil
}

// leftBy returns the resources that a deletion which is over has not deleted. Here, only the topic can fail.
func (st *stack) leftBy(op action.Operation) []action.Left {
	if op.Status == "DELETE_FAILED" && strings.HasPrefix(op.Why, "Topic ") {
		return []action.Left{{ID: "Topic", Type: "AWS::SNS::Topic", PhysicalID: st.name}}
	}
	var all []action.Left
	for _, name := range st.left {
		if op.Status.Gone() {
			all = append(all, action.Left{ID: name, Type: types[name], PhysicalID: st.name, Retained: true})
		}
	}
	return all
}

// types are the types of the resources that stacks have here, by their logical IDs.
var types = map[string]string{"Topic": "AWS::SNS::Topic", "Table": "AWS::DynamoDB::Table"}
