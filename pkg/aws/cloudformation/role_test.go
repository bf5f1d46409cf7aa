package cloudformation_test

import (
	"context"
	"testing"

	"github.com/stackwright/stackwright/pkg/aws/cloudformation"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Every request that starts an operation has the target's role, if it has one.
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
			}, smallTemplates{})
			if _, err := cloud.Begin(t.Context(), task(verb)); err != nil {
				t.Fatal(err)
			}
			if got := w.last(); got.Get("RoleARN") != role || got.Has("RoleARN") != (role != "") {
				t.Errorf("%s with role %q: %v", verb, role, got)
			}
		}
	}
}

// Without a client for the target nothing was started: it can be tried again,
// unless access is denied.
func TestNoClientForTarget(t *testing.T) {
	for is, becomes := range map[fault.Kind]fault.Kind{fault.Unavailable: fault.Throttled, fault.Throttled: fault.Throttled, fault.Denied: fault.Denied} {
		cloud := cloudformation.New(func(context.Context, project.Target) (cloudformation.TargetClient, error) {
			return cloudformation.TargetClient{}, fault.New(is, "no")
		}, smallTemplates{})
		if _, err := cloud.Begin(t.Context(), task(plan.Create)); !fault.Is(err, becomes) {
			t.Errorf("%s became %s", is, fault.KindOf(err))
		}
	}
}
