package cloudformation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
)

func importing(v plan.Verb) action.Task {
	t := task(v)
	t.Import = plan.Importation{Parameters: []string{"B"}, Resources: []plan.ImportedResource{{ID: "Table", Type: "AWS::DynamoDB::Table", Identifier: map[string]string{"TableName": "orders"}}}}
	return t
}

// The change set of an import into a stack that exists has the stack's own parameters and tags, and the parameters that the
// import adds. That of a new stack has all of the node's.
func TestImport(t *testing.T) {
	both := map[string]string{
		"Action": "CreateChangeSet", "ChangeSetName": token, "ClientToken": token, "ChangeSetType": "IMPORT", "TemplateBody": "template d1", "Capabilities.member.1": "CAPABILITY_IAM",
		"ResourcesToImport.member.1.LogicalResourceId": "Table", "ResourcesToImport.member.1.ResourceType": "AWS::DynamoDB::Table",
		"ResourcesToImport.member.1.ResourceIdentifier.entry.1.key": "TableName", "ResourcesToImport.member.1.ResourceIdentifier.entry.1.value": "orders",
	}
	for verb, more := range map[plan.Verb]map[string]string{
		plan.Import: {
			"StackName": vpcID, "Parameters.member.1.ParameterKey": "Old", "Parameters.member.1.UsePreviousValue": "true",
			"Parameters.member.2.ParameterKey": "B", "Parameters.member.2.ParameterValue": "2",
		},
		plan.CreateByImport: {
			"StackName": "shop-vpc", "Parameters.member.1.ParameterKey": "A", "Parameters.member.1.ParameterValue": "1",
			"Parameters.member.2.ParameterKey": "B", "Parameters.member.2.ParameterValue": "2",
			"Tags.member.1.Key": "stackwright:project", "Tags.member.1.Value": "shop@prod", "Tags.member.2.Key": "stackwright:stack", "Tags.member.2.Value": "vpc",
			"Tags.member.3.Key": "team", "Tags.member.3.Value": "shop",
		},
	} {
		w := newWire(t)
		w.answers["CreateChangeSet"] = say("<Id>set</Id><StackId>" + vpcID + "</StackId>")
		task := importing(verb)
		task.Seen = &plan.Live{StackID: vpcID, Status: "CREATE_COMPLETE", Parameters: map[string]string{"Old": "****"}}
		receipt, err := w.cloud().Begin(t.Context(), task)
		if err != nil || receipt != (plan.Receipt{StackID: vpcID, Operation: "set"}) {
			t.Fatalf("%s: %+v, %v", verb, receipt, err)
		}
		for key, value := range both {
			more[key] = value
		}
		if diff := cmp.Diff(more, form(w.last())); diff != "" {
			t.Errorf("%s: %s", verb, diff)
		}
	}
}

// A new stack that is in review already is ours only if it has our change set.
func TestImportIntoAStackInReview(t *testing.T) {
	for name, c := range map[string]struct {
		ours bool
		want fault.Kind
	}{"ours": {true, ""}, "somebody else's": {false, fault.Taken}} {
		w := newWire(t)
		w.answers["CreateChangeSet"] = say("<Id>set</Id><StackId>" + vpcID + "</StackId>")
		if w.answers["DescribeChangeSet"] = say("<Status>CREATE_COMPLETE</Status>"); !c.ours {
			w.answers["DescribeChangeSet"] = refuse(404, "ChangeSetNotFound", "ChangeSet does not exist")
		}
		task := importing(plan.CreateByImport)
		task.Seen = &plan.Live{StackID: vpcID, Status: "REVIEW_IN_PROGRESS"}
		if _, err := w.cloud().Begin(t.Context(), task); fault.KindOf(err) != c.want || c.want == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if made := w.last().Get("Action") == "CreateChangeSet"; made != c.ours {
			t.Errorf("%s: requests %s", name, w.calls())
		}
	}
}

// Only our change set is executed, under the task's token.
func TestExecute(t *testing.T) {
	w := newWire(t)
	w.answers["ExecuteChangeSet"] = say("")
	task := importing(plan.Import)
	if err := w.cloud().Execute(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Action": "ExecuteChangeSet", "ChangeSetName": token, "StackName": vpcID, "ClientRequestToken": token}
	if diff := cmp.Diff(want, form(w.last())); diff != "" {
		t.Error(diff)
	}
}

// No stack has a resource if CloudFormation says so.
func TestHolder(t *testing.T) {
	w := newWire(t)
	w.answers["DescribeStackResources"] = say("<StackResources><member><StackName>legacy</StackName></member></StackResources>")
	if got, err := w.cloud().Holder(t.Context(), importing(plan.Import).Node.Target, "orders"); got != "legacy" || err != nil {
		t.Error(got, err)
	}
	w.answers["DescribeStackResources"] = refuse(400, "ValidationError", "Stack for orders does not exist")
	if got, err := w.cloud().Holder(t.Context(), importing(plan.Import).Node.Target, "orders"); got != "" || err != nil {
		t.Error(got, err)
	}
	w.answers["DescribeStackResources"] = refuse(403, "AccessDenied", "not allowed")
	if _, err := w.cloud().Holder(t.Context(), importing(plan.Import).Node.Target, "orders"); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
}
