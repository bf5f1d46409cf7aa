package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
)

// In another account, the role of a target backs up what has the tag of a project that the owner of that account lists, and deletes only backups with such a tag,
// as the functions do in the installation's own account.
func TestBackUpInATarget(t *testing.T) {
	const in = ":eu-west-1:" + there + ":"
	reads := []string{"rds:DescribeDBClusterSnapshots", "rds:DescribeDBClusters", "rds:DescribeDBInstances", "rds:DescribeDBSnapshots", "dynamodb:ListBackups"}
	onBackups := []string{"dynamodb:DeleteBackup", "dynamodb:DescribeBackup", "dynamodb:DescribeTable"} // which have no tags, and tables that may not exist
	type change struct{ action, on, key string }
	changes := []change{
		{"rds:CreateDBSnapshot", "db:shop", "aws:ResourceTag"}, {"rds:CreateDBClusterSnapshot", "cluster:shop", "aws:ResourceTag"},
		{"rds:CreateDBSnapshot", "snapshot:sw-shop", "aws:RequestTag"}, {"rds:CreateDBClusterSnapshot", "cluster-snapshot:sw-shop", "aws:RequestTag"}, {"rds:AddTagsToResource", "snapshot:sw-shop", "aws:RequestTag"},
		{"rds:DeleteDBSnapshot", "snapshot:sw-shop", "aws:ResourceTag"}, {"rds:DeleteDBClusterSnapshot", "cluster-snapshot:sw-shop", "aws:ResourceTag"},
		{"dynamodb:CreateBackup", "table/shop", "aws:ResourceTag"},
	}
	for listed, want := range map[string]iam.Answer{"*@prod,shop@test": iam.Allowed, "": iam.Implicit} {
		var orchestrator targetRole
		target(t, "account.yaml", "Orchestrator", &orchestrator, map[string]string{"Backups": listed})
		who := iam.Identity{ARN: "orchestrator"}
		for _, p := range orchestrator.Policies {
			who.Policies = append(who.Policies, p.PolicyDocument)
		}
		var tried []attempt
		for _, action := range reads {
			tried = append(tried, attempt{name: action, Request: iam.Request{Action: action, Resource: "*"}, want: want})
		}
		for _, action := range onBackups {
			on := map[bool]string{true: "table/shop/backup/01489602797149-73d8d5bc", false: "table/shop"}[action != "dynamodb:DescribeTable"]
			tried = append(tried, attempt{name: action, Request: iam.Request{Action: action, Resource: "arn:aws:dynamodb" + in + on}, want: want},
				attempt{name: action + " in another account", Request: iam.Request{Action: action, Resource: "arn:aws:dynamodb:eu-west-1:999999999999:" + on}, want: iam.Implicit})
		}
		for _, c := range changes {
			service, _, _ := strings.Cut(c.action, ":")
			on := "arn:aws:" + service + in + c.on
			for project, answer := range map[string]iam.Answer{"shop@prod": want, "shop@test": want, "shop@dev": iam.Implicit, "bank@test": iam.Implicit} {
				tried = append(tried, attempt{name: c.action + " on " + c.on + " of " + project, Request: iam.Request{Action: c.action, Resource: on, Context: with(c.key+"/stackwright:project", project)}, want: answer})
			}
			tried = append(tried, attempt{name: c.action + " without a tag", Request: iam.Request{Action: c.action, Resource: on}, want: iam.Implicit})
		}
		tried = append(tried,
			attempt{name: "delete a snapshot of somebody else", Request: iam.Request{Action: "rds:DeleteDBSnapshot", Resource: "arn:aws:rds" + in + "snapshot:shop", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: iam.Implicit},
			attempt{name: "delete a table", Request: iam.Request{Action: "dynamodb:DeleteTable", Resource: "arn:aws:dynamodb" + in + "table/shop", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: iam.Implicit},
			attempt{name: "delete a database", Request: iam.Request{Action: "rds:DeleteDBInstance", Resource: "arn:aws:rds" + in + "db:shop", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: iam.Implicit})
		try(t, who, tried)
	}
	s, err := read(everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range backsUp(s) {
		for _, action := range p.Do {
			if !slices.Contains(reads, action) && !slices.Contains(onBackups, action) && !slices.ContainsFunc(changes, func(c change) bool { return c.action == action }) {
				t.Errorf("the functions may %s for a backup, and nothing is said of a target: add it to account.yaml", action)
			}
		}
	}
}
