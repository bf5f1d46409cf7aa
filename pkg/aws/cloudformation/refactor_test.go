package cloudformation_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

const appID = "arn:aws:cloudformation:eu-west-1:111122223333:stack/shop-app/1"

func moving() action.Task {
	t := task(plan.MoveIn)
	t.Movement = plan.Movement{
		Source:    plan.MovedStack{Node: "app", Stack: "shop-app", StackID: appID, Template: "d2", Bytes: 9},
		Target:    plan.MovedStack{Node: "vpc", Stack: "shop-vpc", StackID: vpcID, Template: "d1", Bytes: 9},
		Resources: []plan.MovedResource{{From: "Orders", To: "Table", Type: "AWS::DynamoDB::Table"}},
	}
	return t
}

// A stack refactor names both stacks by their IDs, has both templates and all mappings, creates no stack, and is described
// by the task's token.
func TestCreateStackRefactor(t *testing.T) {
	w := newWire(t)
	w.answers["CreateStackRefactor"] = say("<StackRefactorId>r1</StackRefactorId>")
	receipt, err := w.cloud().Begin(t.Context(), moving())
	if err != nil || receipt != (plan.Receipt{StackID: vpcID, Operation: "r1"}) {
		t.Fatalf("%+v, %v", receipt, err)
	}
	want := map[string]string{
		"Action": "CreateStackRefactor", "Description": token, "EnableStackCreation": "false",
		"StackDefinitions.member.1.StackName": appID, "StackDefinitions.member.1.TemplateBody": "template d2",
		"StackDefinitions.member.2.StackName": vpcID, "StackDefinitions.member.2.TemplateBody": "template d1",
		"ResourceMappings.member.1.Source.StackName": appID, "ResourceMappings.member.1.Source.LogicalResourceId": "Orders",
		"ResourceMappings.member.1.Destination.StackName": vpcID, "ResourceMappings.member.1.Destination.LogicalResourceId": "Table",
	}
	if diff := cmp.Diff(want, form(w.last())); diff != "" {
		t.Error(diff)
	}
}

// A refactor that is ready says what it does, with the names of stacks. Without a receipt, it is found by its description.
func TestRefactor(t *testing.T) {
	w := newWire(t)
	w.answers["ListStackRefactors"] = say("<StackRefactorSummaries><member><StackRefactorId>other</StackRefactorId><Description>x</Description></member><member><StackRefactorId>r1</StackRefactorId><Description>" + token + "</Description></member></StackRefactorSummaries>")
	w.answers["DescribeStackRefactor"] = say("<StackRefactorId>r1</StackRefactorId><Status>CREATE_COMPLETE</Status><ExecutionStatus>AVAILABLE</ExecutionStatus>")
	location := func(id, stack string) string {
		return "<StackName>" + stack + "</StackName><LogicalResourceId>" + id + "</LogicalResourceId>"
	}
	w.answers["ListStackRefactorActions"] = say("<StackRefactorActions><member><Action>MOVE</Action><Entity>RESOURCE</Entity><ResourceMapping><Source>" + location("Orders", appID) + "</Source><Destination>" + location("Table", "shop-vpc") +
		"</Destination></ResourceMapping></member><member><Action>CREATE</Action><Entity>STACK</Entity></member></StackRefactorActions>")
	want := action.Refactor{ID: "r1", State: action.RefactorReady, Does: []string{"create stack", "shop-app.Orders becomes shop-vpc.Table"}}
	in := moving()
	for _, id := range []string{"", "r1"} {
		in.Receipt.Operation = id
		got, err := w.cloud().Refactor(t.Context(), in)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s %v", diff, err)
		}
	}
	w.answers["ListStackRefactors"] = say("<StackRefactorSummaries/>")
	in.Receipt.Operation = ""
	if _, err := w.cloud().Refactor(t.Context(), in); !fault.Is(err, fault.Missing) {
		t.Error(err)
	}
	w.answers["DescribeStackRefactor"] = refuse(404, "StackRefactorNotFoundException", "no such refactor")
	in.Receipt.Operation = "gone"
	if _, err := w.cloud().Refactor(t.Context(), in); !fault.Is(err, fault.Missing) {
		t.Error(err)
	}
}

// Only the refactor in the receipt is executed.
func TestExecuteStackRefactor(t *testing.T) {
	w := newWire(t)
	w.answers["ExecuteStackRefactor"] = say("")
	in := moving()
	in.Receipt.Operation = "r1"
	if err := w.cloud().Execute(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"Action": "ExecuteStackRefactor", "StackRefactorId": "r1"}, form(w.last())); diff != "" {
		t.Error(diff)
	}
}

// Each status of a stack refactor that the SDK knows has a state, and none counts as moved but the one.
func TestRefactorStatuses(t *testing.T) {
	states := map[types.StackRefactorExecutionStatus]action.RefactorState{
		"UNAVAILABLE": action.RefactorMaking, "AVAILABLE": action.RefactorReady, "OBSOLETE": action.RefactorOutdated, "EXECUTE_IN_PROGRESS": action.RefactorMoving, "EXECUTE_COMPLETE": action.RefactorMoved,
		"EXECUTE_FAILED": action.RefactorFailed, "ROLLBACK_IN_PROGRESS": action.RefactorMoving, "ROLLBACK_COMPLETE": action.RefactorRestored, "ROLLBACK_FAILED": action.RefactorFailed,
	}
	failed := []types.StackRefactorStatus{"CREATE_FAILED", "DELETE_IN_PROGRESS", "DELETE_COMPLETE", "DELETE_FAILED"}
	for _, executed := range types.StackRefactorExecutionStatus("").Values() {
		for _, made := range types.StackRefactorStatus("").Values() {
			w := newWire(t)
			w.answers["DescribeStackRefactor"] = say("<StackRefactorId>r1</StackRefactorId><Status>" + string(made) + "</Status><ExecutionStatus>" + string(executed) + "</ExecutionStatus><StatusReason>why</StatusReason>")
			w.answers["ListStackRefactorActions"] = say("<StackRefactorActions/>")
			in := moving()
			in.Receipt.Operation = "r1"
			got, err := w.cloud().Refactor(t.Context(), in)
			want := states[executed]
			if executed == "UNAVAILABLE" || executed == "AVAILABLE" {
				if slices.Contains(failed, made) {
					want = action.RefactorRefused
				} else if made == "CREATE_IN_PROGRESS" {
					want = action.RefactorMaking
				}
			}
			if err != nil || got.State != want || got.Why != "why" {
				t.Errorf("%s %s: %+v, %v; want %s", made, executed, got, err, want)
			}
		}
	}
}
