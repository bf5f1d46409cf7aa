package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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

// Projects have the permissions of the setting, within the boundary.
func TestExecutionRole(t *testing.T) {
	all := the(t, plain)
	all.says(t, "ExecutionRole", map[string]string{"ManagedPolicyArns": `["arn:${AWS::Partition}:iam::aws:policy/AdministratorAccess"]`})
	the(t, full).says(t, "ExecutionRole", map[string]string{
		"ManagedPolicyArns": `["arn:${AWS::Partition}:iam::aws:policy/PowerUserAccess","arn:aws:iam::000000000000:policy/ours"]`,
	})
	const boundary = "arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/stackwright/stackwright-${AWS::Region}-boundary"
	all.says(t, "ExecutionRole", map[string]string{"PermissionsBoundary": boundary})
	if got := all.Resources["ExecutionRole"].DependsOn; got != "Boundary" && text(got) != `["Boundary"]` {
		t.Errorf("the execution role depends on %v: its boundary must exist before", got)
	}
	// A nested stack is made with the role that the stack around it has.
	const itself = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/stackwright/stackwright-${AWS::Region}-execution"
	var got []string
	for _, s := range statements(all, "ExecutionRole") {
		got = append(got, text(s))
	}
	// CloudFormation and Lambda read the files that templates name.
	if d := cmp.Diff([]string{
		`{"Action":"s3:GetObject","Effect":"Allow","Resource":"${Bucket.Arn}/artifacts/*"}`,
		`{"Action":"iam:PassRole","Condition":{"StringEquals":{"iam:PassedToService":"cloudformation.amazonaws.com"}},"Effect":"Allow","Resource":"` + itself + `"}`,
		`{"Action":"iam:PassRole","Effect":"Deny","Resource":"` + itself + `-*"}`,
	}, got); d != "" {
		t.Error(d)
	}
	if got := text(statements(the(t, full), "ExecutionRole")[1]); got != `{"Action":"kms:Decrypt","Condition":{"StringEquals":{"kms:ViaService":"s3.${AWS::Region}.amazonaws.com"}},"Effect":"Allow","Resource":"${Key.Arn}"}` {
		t.Error(got)
	}
}
