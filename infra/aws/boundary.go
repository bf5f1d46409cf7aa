package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// addBoundary makes the permissions boundary of the execution role, and of every role and user that a project creates: without
// it, they cannot be created or changed. It allows nothing by itself, and denies what no policy of a project may allow.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html
func (i *installation) addBoundary() awsiam.CfnManagedPolicy {
	return awsiam.NewCfnManagedPolicy(i.Stack, jsii.String("Boundary"), &awsiam.CfnManagedPolicyProps{
		ManagedPolicyName: jsii.String(i.roleName("boundary")),
		Path:              jsii.String(path),
		Description:       jsii.String("What no project of Stackwright may do, whatever its policies allow"),
		PolicyDocument:    i.document(append(i.untouchable(), limits...)),
	})
}

// limits are the same in every account; target/account.yaml has them too. The boundary would be worth nothing if a role could
// create another without it, use a role that has none, or change the boundary.
var limits = []permission{
	{Do: []string{"*"}, On: []string{"*"}, Why: "a boundary allows nothing by itself: what is not denied here is for the policies of the role"},
	{
		Do: bounded, On: []string{"*"}, Deny: true, If: conditions{"StringNotEquals": {"iam:PermissionsBoundary": "${Boundary}"}},
		Why: "roles and users of projects have the boundary",
	},
	{
		Do: []string{
			"iam:*SAMLProvider", "iam:*ServiceSpecificCredential", "iam:AddUserToGroup", "iam:CreateAccessKey", "iam:CreateLoginProfile", "iam:CreatePolicyVersion",
			"iam:DeleteRolePermissionsBoundary", "iam:DeleteUserPermissionsBoundary", "iam:PutGroupPolicy", "iam:SetDefaultPolicyVersion", "iam:UpdateLoginProfile",
			"iam:UpdateOpenIDConnectProviderThumbprint", "iam:UploadSigningCertificate", "iam:UploadSSHPublicKey", "rolesanywhere:*TrustAnchor",
		},
		On: []string{"*"}, Deny: true, Why: "IAM cannot tell whether they concern a principal with the boundary; a provider that is deleted and created again has the same ARN",
	},
	{But: []string{"iam:PassRole"}, On: reserved, Deny: true, Why: "roles and policies of Stackwright, in every account"},
	{
		Do: []string{"iam:PassRole"}, On: reserved[:1], Deny: true, If: conditions{"StringNotEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}},
		Why: "a function with the role of one of Stackwright's functions would be one",
	},
	{
		Do: []string{"iam:PassRole"}, On: reserved[:1], Deny: true, If: conditions{"ArnNotLike": {"aws:PrincipalArn": "arn:${Partition}:iam::${Account}:role/stackwright/*"}},
		Why: "only an execution role passes an execution role: itself, to nested stacks",
	},
	{
		But: []string{
			"ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "s3:GetBucketLocation", "s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket", "ssm:GetParameter", "ssm:GetParameters",
		},
		On: []string{
			"arn:${Partition}:cloudformation:*:*:stack/CDKToolkit/*", "arn:${Partition}:ecr:*:*:repository/cdk-*", "arn:${Partition}:iam::*:role/cdk-*",
			"arn:${Partition}:s3:::cdk-*", "arn:${Partition}:ssm:*:*:parameter/cdk-bootstrap/*",
		},
		Deny: true, Why: "the CDK's roles may deploy anything, and its bucket has what they deploy",
	},
}

// bounded are the actions that are denied unless the role or user has the boundary, or gets it. A group has
// none, so its policies are always denied.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
var bounded = []string{
	"iam:Attach*Policy", "iam:CreateRole", "iam:CreateUser", "iam:DeleteRolePolicy", "iam:DeleteUserPolicy", "iam:Detach*Policy",
	"iam:Put*PermissionsBoundary", "iam:PutRolePolicy", "iam:PutUserPolicy", "iam:UpdateAssumeRolePolicy",
}

// reserved are the roles and policies of installations and targets.
var reserved = []string{"arn:${Partition}:iam::*:role/stackwright/*", "arn:${Partition}:iam::*:policy/stackwright/*"}

// untouchable is what no project may do to the installation. It does not deny to read templates and the files that they name, and to
// use the key for that.
func (i *installation) untouchable() []permission {
	const why = "no project touches the installation"
	all := []permission{
		{Do: []string{"*"}, On: i.own(), Deny: true, Why: why},
		{But: []string{"s3:GetObject*"}, On: []string{"${Bucket}/artifacts/*", "${Bucket}/templates/*"}, Deny: true, Why: why + ": replication also writes objects"},
		{
			Do: []string{"events:PutEvents"}, On: []string{"*"}, Deny: true, If: conditions{"StringEquals": {"events:source": "stackwright"}},
			Why: "notifications of runs that do not exist",
		},
	}
	if i.settings.key {
		all = append(all, permission{
			But: []string{"kms:Decrypt", "kms:DescribeKey"}, On: []string{"${Key}"}, Deny: true, Why: why + ": without its grants, the table cannot be read",
		})
	}
	return all
}

// own lists the parts of the installation that a project could damage. Its roles are in reserved. A policy has little room:
// so one pattern stands for a function and its versions, and one for all alarms and rules.
func (i *installation) own() []string {
	api := "arn:" + *awscdk.Aws_PARTITION() + ":apigateway:" + *awscdk.Aws_REGION() + "::/apis/" + *i.api.ApiId()
	all := []string{
		"${Self}", "${Table}*", "${Machine}", "${Executions}:*",
		"${Bucket}", "${Bucket}/access/*", "${Bucket}/p*", "${Bucket}/re*", "${Bucket}/specs/*", // plans, policies, projects; requests, revisions
		"${Schedules}/*", i.named("scheduler", "schedule-group/"+i.settings.stack), i.named("sns", i.settings.stack),
		i.named("cloudwatch", "alarm:"+i.settings.stack+"-*"), i.named("events", "rule/"+i.settings.stack+"-*"), api, api + "/*", i.named("execute-api", *i.api.ApiId()+"/*"),
	}
	for _, f := range i.names {
		all = append(all, "${Function "+f+"}*", "${Logs "+f+"}:*")
	}
	for _, service := range []string{"apis", "states"} {
		all = append(all, i.named("logs", "log-group:/aws/vendedlogs/"+service+"/"+i.settings.stack+":*"))
	}
	for _, f := range slices.Sorted(maps.Keys(i.dead)) {
		all = append(all, "${Dead "+f+"}")
	}
	return all
}
