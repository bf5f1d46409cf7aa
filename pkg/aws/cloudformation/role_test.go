package cloudformation_test

import (
	"context"
	"testing"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// CloudFormation is given the role of the target with all that it begins, and
// none where there is none.
func TestExecutionRole(t *testing.T) {
	for _, role := range []string{"", "arn:aws:iam::111111111111:role/stackwright-execution"} {
		for verb, status := range map[plan.Verb]string{
			plan.Create: "", plan.Update: "CREATE_COMPLETE", plan.Delete: "CREATE_COMPLETE", plan.Continue: "UPDATE_ROLLBACK_FAILED",
		} {
			w := newWire(t)
			for _, action := range []string{"CreateStack", "UpdateStack", "DeleteStack", "ContinueUpdateRollback"} {
				w.answers[action] = say("")
			}
			w.answers["DescribeStacks"] = stacks(stack(vpcID, "shop-vpc", status))
			cloud := cloudformation.New(func(context.Context, project.Target) (cloudformation.TargetClient, error) {
				return cloudformation.TargetClient{Client: w.client(), Role: role}, nil
			}, shelf{})
			if _, err := cloud.Begin(t.Context(), task(verb)); err != nil {
				t.Fatal(err)
			}
			if got := w.last(); got.Get("RoleARN") != role || got.Has("RoleARN") != (role != "") {
				t.Errorf("%s with role %q: %v", verb, role, got)
			}
		}
	}
}

// Where nobody opens, nothing was begun: it may be tried again later, unless
// nobody may go there at all.
func TestShutDoors(t *testing.T) {
	for is, becomes := range map[fault.Kind]fault.Kind{fault.Unavailable: fault.Throttled, fault.Throttled: fault.Throttled, fault.Denied: fault.Denied} {
		cloud := cloudformation.New(func(context.Context, project.Target) (cloudformation.TargetClient, error) {
			return cloudformation.TargetClient{}, fault.New(is, "no")
		}, shelf{})
		if _, err := cloud.Begin(t.Context(), task(plan.Create)); !fault.Is(err, becomes) {
			t.Errorf("%s has become %s", is, fault.KindOf(err))
		}
	}
}
