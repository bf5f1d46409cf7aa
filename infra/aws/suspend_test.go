package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
)

// In another account, the role of a target stops what has the tag of a project that the owner of that account lists, as the functions do in
// the installation's own account, and nothing else.
func TestSuspendInATarget(t *testing.T) {
	const in, grants = ":eu-west-1:" + there + ":", "kms:CreateGrant"
	tag := func(project string) map[string]string { return with("aws:ResourceTag/stackwright:project", project) }
	reads := []string{"autoscaling:DescribeAutoScalingGroups", "ec2:DescribeInstances", "ecs:DescribeServices", "ecs:DescribeTaskDefinition", "rds:DescribeDBClusters", "rds:DescribeDBInstances", "redshift:DescribeClusters", "sagemaker:DescribeNotebookInstance", "sagemaker:ListNotebookInstances"}
	changes := map[string]string{
		"autoscaling:UpdateAutoScalingGroup": "arn:aws:autoscaling" + in + "autoScalingGroup:1:autoScalingGroupName/web",
		"ec2:StartInstances":                 "arn:aws:ec2" + in + "instance/i-1", "ec2:StopInstances": "arn:aws:ec2" + in + "instance/i-1",
		"ecs:UpdateService":  "arn:aws:ecs" + in + "service/cluster/shop",
		"rds:StartDBCluster": "arn:aws:rds" + in + "cluster:shop", "rds:StopDBCluster": "arn:aws:rds" + in + "cluster:shop",
		"rds:StartDBInstance": "arn:aws:rds" + in + "db:shop", "rds:StopDBInstance": "arn:aws:rds" + in + "db:shop",
		"redshift:PauseCluster": "arn:aws:redshift" + in + "cluster:shop", "redshift:ResumeCluster": "arn:aws:redshift" + in + "cluster:shop",
		"sagemaker:StartNotebookInstance": "arn:aws:sagemaker" + in + "notebook-instance/shop", "sagemaker:StopNotebookInstance": "arn:aws:sagemaker" + in + "notebook-instance/shop",
	}
	for listed, want := range map[string]iam.Answer{"*@dev,shop@test": iam.Allowed, "": iam.Implicit} {
		var orchestrator targetRole
		target(t, "account.yaml", "Orchestrator", &orchestrator, map[string]string{"Suspend": listed})
		who := iam.Identity{ARN: "orchestrator"}
		for _, p := range orchestrator.Policies {
			who.Policies = append(who.Policies, p.PolicyDocument)
		}
		var tried []attempt
		for _, action := range reads {
			tried = append(tried, attempt{name: action, Request: iam.Request{Action: action, Resource: "*"}, want: want})
		}
		for action, on := range changes {
			for project, answer := range map[string]iam.Answer{"shop@dev": want, "shop@test": want, "shop@prod": iam.Implicit, "bank@test": iam.Implicit} {
				tried = append(tried, attempt{name: action + " of " + project, Request: iam.Request{Action: action, Resource: on, Context: tag(project)}, want: answer})
			}
			tried = append(tried, attempt{name: action + " without a tag", Request: iam.Request{Action: action, Resource: on}, want: iam.Implicit})
		}
		tried = append(tried, attempt{name: "delete a group", Request: iam.Request{Action: "autoscaling:DeleteAutoScalingGroup", Resource: changes["autoscaling:UpdateAutoScalingGroup"], Context: tag("shop@dev")}, want: iam.Implicit})
		key := func(more map[string]string) iam.Request {
			of := with("kms:ViaService", "ec2.eu-west-1.amazonaws.com")
			of["kms:GrantIsForAWSResource"] = "true"
			maps.Copy(of, more)
			return iam.Request{Action: grants, Resource: "arn:aws:kms" + in + "key/1", Context: of}
		}
		tried = append(tried, attempt{name: "EC2 uses a key", Request: key(nil), want: want},
			attempt{name: "a grant for others", Request: key(map[string]string{"kms:GrantIsForAWSResource": "false"}), want: iam.Implicit},
			attempt{name: "a grant by another service", Request: key(map[string]string{"kms:ViaService": "s3.eu-west-1.amazonaws.com"}), want: iam.Implicit})
		try(t, who, tried)
	}
	s, err := read(everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range suspends(s) {
		for _, action := range p.Do {
			if _, changed := changes[action]; !changed && action != grants && !slices.Contains(reads, action) {
				t.Errorf("the functions may %s for a suspend, and nothing is said of a target: add it to account.yaml", action)
			}
		}
	}
}
