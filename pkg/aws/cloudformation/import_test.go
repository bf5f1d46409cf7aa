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

// The change set of an import has the stack's own parameters and tags, and the parameters that the import adds.
func TestImport(t *testing.T) {
	w := newWire(t)
	w.answers["CreateChangeSet"] = say("<Id>set</Id><StackId>" + vpcID + "</StackId>")
	task := importing(plan.Import)
	task.Seen = &plan.Live{StackID: vpcID, Status: "CREATE_COMPLETE", Parameters: map[string]string{"Old": "****"}}
	receipt, err := w.cloud().Begin(t.Context(), task)
	if err != nil || receipt != (plan.Receipt{StackID: vpcID, Operation: "set"}) {
		t.Fatalf("%+v, %v", receipt, err)
	}
	want := map[string]string{
		"Action": "CreateChangeSet", "ChangeSetName": token, "ClientToken": token, "ChangeSetType": "IMPORT", "TemplateBody": "template d1", "Capabilities.member.1": "CAPABILITY_IAM",
		"ResourcesToImport.member.1.LogicalResourceId": "Table", "ResourcesToImport.member.1.ResourceType": "AWS::DynamoDB::Table",
		"ResourcesToImport.member.1.ResourceIdentifier.entry.1.key": "TableName", "ResourcesToImport.member.1.ResourceIdentifier.entry.1.value": "orders",
		"StackName": vpcID, "Parameters.member.1.ParameterKey": "Old", "Parameters.member.1.UsePreviousValue": "true",
		"Parameters.member.2.ParameterKey": "B", "Parameters.member.2.ParameterValue": "2",
	}
	if diff := cmp.Diff(want, form(w.last())); diff != "" {
		t.Error(diff)
	}
}

// CloudFormation refuses an import that changes the role or the tags of a stack: the message says what to do.
func TestImportThatChangesTheRoleIsRefused(t *testing.T) {
	w := newWire(t)
	w.answers["CreateChangeSet"] = refuse(400, "ValidationError", "As part of the import operation, you cannot modify or add [RoleArn]")
	_, err := w.cloud().Begin(t.Context(), importing(plan.Import))
	const says = "create a change set of stack shop-vpc: As part of the import operation, you cannot modify or add [RoleArn]: deploy the stack without these resources and without import: first"
	if !fault.Is(err, fault.Refused) || err.Error() != says {
		t.Errorf("%v", err)
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
