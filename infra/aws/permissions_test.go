package main

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/calls"
)

// listed are the permissions that functions need without a call in their code, and why.
var listed = []struct {
	action string
	of     []string // functions; nil is all
	why    string
}{
	{"logs:CreateLogStream", nil, "Lambda keeps what a function logs"},
	{"logs:PutLogEvents", nil, "Lambda keeps what a function logs"},
	{"xray:PutTelemetryRecords", nil, "Lambda sends traces"},
	{"xray:PutTraceSegments", nil, "Lambda sends traces"},
	{"sqs:SendMessage", withEvents, "Lambda sends events that a function could not process to its dead-letter queue"},
}

// encrypting is listed where data has a key of the customer's.
var encrypting = []string{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"}

// code is that of the functions.
var code = sync.OnceValues(func() (*calls.Code, error) { return calls.Read("../..") })

// Each function has exactly the permissions for its calls and those that are listed.
func TestFunctionsMayWhatTheyCall(t *testing.T) {
	c, err := code()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(sizes)), c.Functions(); !slices.Equal(got, want) {
		t.Fatalf("the functions are %v, and those of the template %v", want, got)
	}
	for _, f := range c.Functions() {
		use, err := c.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		needed, err := use.Actions()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range needed {
			t.Logf("%s: %s for %v", f, a.Name, a.For)
		}
		compare(t, f, the(t, full), needed, true)
		// Without other accounts and the setting cdkAssets there are no roles to assume, and without the setting hooks, hooks may call nothing. Without the setting external, no parameters are read, without the setting suspend, nothing is stopped, and without the setting organization, no accounts are listed.
		without := []string{"sts:AssumeRole", "organizations:DescribeAccount", "organizations:ListAccountsForParent", "organizations:ListOrganizationalUnitsForParent", "organizations:ListParents", "lambda:InvokeFunction", "secretsmanager:GetSecretValue", "sns:Publish", "ssm:PutParameter", "ssm:GetParameters", "states:StopExecution", "cloudwatch:DescribeAlarms", "autoscaling:ResumeProcesses", "autoscaling:SuspendProcesses", "autoscaling:DescribeAutoScalingGroups", "autoscaling:UpdateAutoScalingGroup", "ec2:DescribeInstances", "ec2:StartInstances", "ec2:StopInstances", "ecs:DescribeServices", "ecs:DescribeTaskDefinition", "ecs:UpdateService", "rds:DescribeDBClusters", "rds:DescribeDBInstances", "ec2:CreateSnapshot", "ec2:CreateTags", "ec2:DeleteSnapshot", "ec2:DescribeSnapshots", "ec2:DescribeVolumes", "backup:DeleteRecoveryPoint", "backup:DescribeBackupJob", "backup:DescribeBackupVault", "backup:DescribeRecoveryPoint", "backup:ListBackupJobs", "backup:ListTags", "backup:StartBackupJob", "backup:TagResource", "redshift:CreateClusterSnapshot", "redshift:CreateTags", "redshift:DeleteClusterSnapshot", "redshift:DescribeClusterSnapshots", "dynamodb:CreateBackup", "dynamodb:DeleteBackup", "dynamodb:DescribeBackup", "dynamodb:DescribeTable", "dynamodb:ListBackups", "rds:AddTagsToResource", "rds:CreateDBClusterSnapshot", "rds:CreateDBSnapshot", "rds:DeleteDBClusterSnapshot", "rds:DeleteDBSnapshot", "rds:DescribeDBClusterSnapshots", "rds:DescribeDBSnapshots", "rds:StartDBCluster", "rds:StartDBInstance", "rds:StopDBCluster", "rds:StopDBInstance", "redshift:DescribeClusters", "redshift:PauseCluster", "redshift:ResumeCluster", "sagemaker:DescribeNotebookInstance", "sagemaker:ListNotebookInstances", "sagemaker:StartNotebookInstance", "sagemaker:StopNotebookInstance", "s3:AbortMultipartUpload", "s3:DeleteObject", "s3:DeleteObjectVersion", "s3:ListBucketMultipartUploads", "s3:ListBucketVersions"}
		if len((settings{}).installed([]string{f})) == 0 {
			continue
		}
		if f == "execute-step" {
			without = append(without, "events:PutEvents", "states:StartExecution", "states:DescribeExecution")
		}
		if f == "plan" { // alarms stop promotions
			without = slices.DeleteFunc(without, func(a string) bool { return strings.HasPrefix(a, "cloudwatch:") })
		}
		if f == "wait-status" {
			without = append(without, "states:DescribeExecution")
		}
		if f == "api" { // it purges the bucket of the installation
			without = slices.DeleteFunc(without, func(a string) bool { return strings.HasPrefix(a, "s3:") })
		}
		compare(t, f, the(t, plain), slices.DeleteFunc(needed, func(a calls.Action) bool {
			return slices.Contains(without, a.Name)
		}), false)
	}
}

// compare compares the needed permissions with the role of a function.
func compare(t *testing.T, f string, all template, needed []calls.Action, key bool) {
	t.Helper()
	too := make(map[string]string)
	for _, l := range listed {
		if l.of == nil || slices.Contains(l.of, f) {
			too[l.action] = l.why
		}
	}
	for _, a := range encrypting {
		if key {
			too[a] = "S3 and DynamoDB use the key in the function's name"
		}
	}
	if key && slices.Contains(changing, f) {
		too["kms:CreateGrant"] = "EC2 uses the keys of volumes with the caller's permissions"
	}
	if got := all.at(title(f), "Role"); got != "${"+title(f)+"Role.Arn}" {
		t.Fatalf("function %s has the role %s", f, got)
	}
	r := all.roles(t)[title(f)+"Role"]
	for _, wrong := range calls.Compare(f, needed, too, r.allowed()) {
		t.Errorf("%s: see permissions.go", wrong)
	}
	var managed []string
	if slices.Contains(changing, f) {
		managed = append(managed, "${ChangeStacks}")
	}
	if slices.Contains(changing, f) && key {
		managed = append(managed, "${SuspendResources}", "${BackUp}", "${BackUpFiles}")
	}
	of := settings{}
	if key {
		of.vault.Name = "ours"
	}
	if len(managed)+mostDriftPolicies(of) > 10 {
		t.Errorf("function %s has %d managed policies beside those of driftPolicies, of which there may be %d: together they are more than the 10 that a role may have", f, len(managed), mostDriftPolicies(of))
	}
	if key && slices.Contains(detecting, f) { // every setting is set
		managed = append(managed, "arn:${AWS::Partition}:iam::aws:policy/service-role/AWS_ConfigRole")
	}
	if !slices.Equal(r.ManagedPolicyArns, managed) {
		t.Errorf("function %s may what is in %v, want %v", f, r.ManagedPolicyArns, managed)
	}
}
