package main

import (
	"slices"
	"testing"
)

// statements lists the statements of a role in the template.
func statements(all template, role string) []map[string]any {
	var list []map[string]any
	for _, p := range all.Resources[role].Properties["Policies"].([]any) {
		for _, s := range p.(map[string]any)["PolicyDocument"].(map[string]any)["Statement"].([]any) {
			list = append(list, s.(map[string]any))
		}
	}
	return list
}

// Roles are for services that act for this account only.
func TestTrust(t *testing.T) {
	all := the(t, plain)
	for role, want := range map[string]string{
		"PlanRole":      `{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"}}`,
		"ExecutionRole": `{"Action":"sts:AssumeRole","Condition":{"StringEqualsIfExists":{"aws:SourceAccount":"${AWS::AccountId}"}},"Effect":"Allow","Principal":{"Service":"cloudformation.amazonaws.com"}}`,
		"MachineRole":   `{"Action":"sts:AssumeRole","Condition":{"StringEquals":{"aws:SourceAccount":"${AWS::AccountId}"}},"Effect":"Allow","Principal":{"Service":"states.amazonaws.com"}}`,
		"ScheduleRole":  `{"Action":"sts:AssumeRole","Condition":{"ArnEquals":{"aws:SourceArn":"arn:${AWS::Partition}:scheduler:${AWS::Region}:${AWS::AccountId}:schedule-group/stackwright"},"StringEquals":{"aws:SourceAccount":"${AWS::AccountId}"}},"Effect":"Allow","Principal":{"Service":"scheduler.amazonaws.com"}}`,
	} {
		all.says(t, role, map[string]string{"AssumeRolePolicyDocument.Statement.0": want, "AssumeRolePolicyDocument.Statement.1": ""})
	}
}

// Projects have the permissions of the setting, and none on the installation.
func TestExecutionRole(t *testing.T) {
	all := the(t, plain)
	all.says(t, "ExecutionRole", map[string]string{"ManagedPolicyArns": `["arn:${AWS::Partition}:iam::aws:policy/AdministratorAccess"]`})
	the(t, full).says(t, "ExecutionRole", map[string]string{
		"ManagedPolicyArns": `["arn:${AWS::Partition}:iam::aws:policy/PowerUserAccess","arn:aws:iam::000000000000:policy/ours"]`,
	})
	own := statements(all, "ExecutionRole")
	if len(own) != 4 || own[1]["Effect"] != "Deny" || own[0]["Effect"] != "Deny" || text(own[0]["Action"]) != "*" {
		t.Fatal(own)
	}
	keyed := statements(the(t, full), "ExecutionRole")
	if got := text(keyed[len(keyed)-1]); got != `{"Action":["kms:CreateGrant","kms:DisableKey","kms:PutKeyPolicy","kms:ScheduleKeyDeletion"],"Effect":"Deny","Resource":"${Key.Arn}"}` {
		t.Error(got)
	}
	// A nested stack is made with the role that the stack around it has.
	const itself = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/stackwright/stackwright-${AWS::Region}-execution"
	if got := text(own[2]); got != `{"Effect":"Deny","NotAction":"iam:PassRole","Resource":"`+itself+`"}` {
		t.Error(got)
	}
	if got := text(own[3]); got != `{"Action":"iam:PassRole","Condition":{"StringEquals":{"iam:PassedToService":"cloudformation.amazonaws.com"}},"Effect":"Allow","Resource":"`+itself+`"}` {
		t.Error(got)
	}
	denied := append(texts(filled(own[0]["Resource"])), itself)
	for _, f := range all.of("AWS::Lambda::Function") {
		if arn := "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:" + all.at(f, "FunctionName"); !slices.Contains(denied, arn) {
			t.Errorf("a project may touch %s", arn)
		}
	}
	for _, r := range all.of("AWS::IAM::Role") {
		if arn := "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/stackwright/" + all.at(r, "RoleName"); !slices.Contains(denied, arn) {
			t.Errorf("a project may touch %s", arn)
		}
	}
	for _, r := range all.of("AWS::Events::Rule") {
		if arn := "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:rule/" + all.at(r, "Name"); !slices.Contains(denied, arn) {
			t.Errorf("a project may touch %s", arn)
		}
	}
	for _, arn := range []string{"${Table.Arn}", "${Bucket.Arn}", "${Bucket.Arn}/projects/*", "${Bucket.Arn}/revisions/*", "${StartDead.Arn}", "${StackEventDead.Arn}"} {
		if !slices.Contains(denied, arn) {
			t.Errorf("a project may touch %s", arn)
		}
	}
}
