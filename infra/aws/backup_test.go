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
	reads := []string{"rds:DescribeDBClusterSnapshots", "rds:DescribeDBClusters", "rds:DescribeDBInstances", "rds:DescribeDBSnapshots", "dynamodb:ListBackups", "redshift:DescribeClusters", "redshift:DescribeClusterSnapshots", "ec2:DescribeVolumes", "ec2:DescribeSnapshots"}
	onBackups := []string{"dynamodb:DeleteBackup", "dynamodb:DescribeBackup", "dynamodb:DescribeTable"} // which have no tags, and tables that may not exist
	jobs := []string{"backup:DescribeBackupJob", "backup:ListBackupJobs"}
	onPoints := []string{"backup:DescribeBackupVault", "backup:DescribeRecoveryPoint", "backup:ListTags", "backup:StartBackupJob"}
	type change struct{ action, on, key string }
	changes := []change{
		{"rds:CreateDBSnapshot", "db:shop", "aws:ResourceTag"}, {"rds:CreateDBClusterSnapshot", "cluster:shop", "aws:ResourceTag"},
		{"rds:CreateDBSnapshot", "snapshot:sw-shop", "aws:RequestTag"}, {"rds:CreateDBClusterSnapshot", "cluster-snapshot:sw-shop", "aws:RequestTag"}, {"rds:AddTagsToResource", "snapshot:sw-shop", "aws:RequestTag"},
		{"rds:DeleteDBSnapshot", "snapshot:sw-shop", "aws:ResourceTag"}, {"rds:DeleteDBClusterSnapshot", "cluster-snapshot:sw-shop", "aws:ResourceTag"},
		{"dynamodb:CreateBackup", "table/shop", "aws:ResourceTag"},
		{"redshift:CreateClusterSnapshot", "snapshot:shop/sw-shop", "aws:RequestTag"}, {"redshift:CreateTags", "snapshot:shop/sw-shop", "aws:RequestTag"}, {"redshift:DeleteClusterSnapshot", "snapshot:shop/sw-shop", "aws:ResourceTag"},
		{"ec2:CreateSnapshot", "volume/vol-1", "aws:ResourceTag"}, {"ec2:CreateSnapshot", "snapshot/snap-1", "aws:RequestTag"}, {"ec2:DeleteSnapshot", "snapshot/snap-1", "aws:ResourceTag"},
		{"backup:TagResource", "recovery-point:1", "aws:RequestTag"}, {"backup:DeleteRecoveryPoint", "recovery-point:1", "aws:ResourceTag"},
	}
	for listed, want := range map[string]iam.Answer{"*@prod,shop@test": iam.Allowed, "": iam.Implicit} {
		var orchestrator targetRole
		target(t, "account.yaml", "Orchestrator", &orchestrator, map[string]string{"Backups": listed, "BackupVault": "ours", "BackupRole": "service-role/backs-up"})
		who := iam.Identity{ARN: "orchestrator"}
		for _, p := range orchestrator.Policies {
			who.Policies = append(who.Policies, p.PolicyDocument)
		}
		var tried []attempt
		for _, action := range slices.Concat(reads, jobs) {
			tried = append(tried, attempt{name: action, Request: iam.Request{Action: action, Resource: "*"}, want: want})
		}
		for _, action := range onBackups {
			on := map[bool]string{true: "table/shop/backup/01489602797149-73d8d5bc", false: "table/shop"}[action != "dynamodb:DescribeTable"]
			tried = append(tried, attempt{name: action, Request: iam.Request{Action: action, Resource: "arn:aws:dynamodb" + in + on}, want: want},
				attempt{name: action + " in another account", Request: iam.Request{Action: action, Resource: "arn:aws:dynamodb:eu-west-1:999999999999:" + on}, want: iam.Implicit})
		}
		for _, action := range onPoints {
			on := map[bool]string{true: "backup-vault:ours", false: "recovery-point:1"}[action == "backup:DescribeBackupVault" || action == "backup:StartBackupJob"]
			tried = append(tried, attempt{name: action, Request: iam.Request{Action: action, Resource: "arn:aws:backup" + in + on}, want: want})
		}
		pass := iam.Request{Action: "iam:PassRole", Resource: "arn:aws:iam::" + there + ":role/service-role/backs-up", Context: with("iam:PassedToService", "backup.amazonaws.com")}
		other := pass
		other.Context = with("iam:PassedToService", "ec2.amazonaws.com")
		tried = append(tried, attempt{name: "give AWS Backup the role", Request: pass, want: want}, attempt{name: "give EC2 the role", Request: other, want: iam.Implicit},
			attempt{name: "back up files into another vault", Request: iam.Request{Action: "backup:StartBackupJob", Resource: "arn:aws:backup" + in + "backup-vault:other", Context: with("aws:RequestTag/stackwright:project", "shop@prod")}, want: iam.Implicit},
			attempt{name: "delete a recovery point of a backup plan", Request: iam.Request{Action: "backup:DeleteRecoveryPoint", Resource: "arn:aws:backup" + in + "recovery-point:1", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: iam.Implicit})
		for _, c := range changes {
			service, _, _ := strings.Cut(c.action, ":")
			on := "arn:aws:" + service + in + c.on
			context := func(project string) map[string]string {
				return with(c.key+"/stackwright:project", project, "aws:ResourceTag/stackwright:backup", "sw-shop")
			}
			if strings.HasPrefix(c.on, "snapshot/") { // a snapshot of EC2 has no account in its ARN
				on = "arn:aws:ec2:eu-west-1::" + c.on
			}
			for project, answer := range map[string]iam.Answer{"shop@prod": want, "shop@test": want, "shop@dev": iam.Implicit, "bank@test": iam.Implicit} {
				tried = append(tried, attempt{name: c.action + " on " + c.on + " of " + project, Request: iam.Request{Action: c.action, Resource: on, Context: context(project)}, want: answer})
			}
			tried = append(tried, attempt{name: c.action + " without a tag", Request: iam.Request{Action: c.action, Resource: on, Context: with("aws:ResourceTag/stackwright:backup", "sw-shop")}, want: iam.Implicit})
		}
		tried = append(tried,
			attempt{name: "delete a snapshot of somebody else", Request: iam.Request{Action: "rds:DeleteDBSnapshot", Resource: "arn:aws:rds" + in + "snapshot:shop", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: iam.Implicit},
			attempt{name: "delete a snapshot of a cluster of somebody else", Request: iam.Request{Action: "redshift:DeleteClusterSnapshot", Resource: "arn:aws:redshift" + in + "snapshot:shop/nightly", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: iam.Implicit},
			attempt{name: "give a backup of other projects another tag", Request: iam.Request{Action: "redshift:CreateTags", Resource: "arn:aws:redshift" + in + "snapshot:shop/sw-shop", Context: with("aws:RequestTag/stackwright:project", "shop@prod", "aws:ResourceTag/stackwright:project", "bank@dev")}, want: iam.Implicit},
			attempt{name: "give a snapshot its tags when it is made", Request: iam.Request{Action: "ec2:CreateTags", Resource: "arn:aws:ec2:eu-west-1::snapshot/snap-1", Context: with("ec2:CreateAction", "CreateSnapshot")}, want: want},
			attempt{name: "give a snapshot other tags", Request: iam.Request{Action: "ec2:CreateTags", Resource: "arn:aws:ec2:eu-west-1::snapshot/snap-1", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: iam.Implicit},
			attempt{name: "delete a snapshot of a volume that another program has made", Request: iam.Request{Action: "ec2:DeleteSnapshot", Resource: "arn:aws:ec2:eu-west-1::snapshot/snap-1", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: map[iam.Answer]iam.Answer{iam.Allowed: iam.Denied, iam.Implicit: iam.Implicit}[want]},
			attempt{name: "delete a table", Request: iam.Request{Action: "dynamodb:DeleteTable", Resource: "arn:aws:dynamodb" + in + "table/shop", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: iam.Implicit},
			attempt{name: "delete a database", Request: iam.Request{Action: "rds:DeleteDBInstance", Resource: "arn:aws:rds" + in + "db:shop", Context: with("aws:ResourceTag/stackwright:project", "shop@prod")}, want: iam.Implicit})
		try(t, who, tried)
	}
	s, err := read(everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Concat(backsUp(s), backsUpFiles(s)) {
		if p.Deny {
			continue
		}
		for _, action := range p.Do {
			if !slices.Contains(reads, action) && !slices.Contains(onBackups, action) && !slices.Contains(slices.Concat(jobs, onPoints, []string{"ec2:CreateTags", "iam:PassRole"}), action) && !slices.ContainsFunc(changes, func(c change) bool { return c.action == action }) {
				t.Errorf("the functions may %s for a backup, and nothing is said of a target: add it to account.yaml", action)
			}
		}
	}
}
