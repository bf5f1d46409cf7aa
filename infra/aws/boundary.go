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
		Do: bounded, On: []string{"*"}, Deny: true, If: conditions{"StringNotLike": {"iam:PermissionsBoundary": []string{"${Boundary}", "arn:${Partition}:iam::${Account}:policy/stackwright/roles/*"}}},
		Why: "roles and users of projects have this boundary, or one that the owner of the account has put below that path; policies/roles.json is an example",
	},
	{
		Do: []string{
			"iam:*ateAccessKey", "iam:*ateLoginProfile", "iam:*ClientID*", "iam:*eMFADevice", "iam:*SAMLProvider", "iam:*ServiceSpecificCredential", "iam:*teOpenID*", "iam:*User*Group",
			"iam:AcceptDelegationRequest", "iam:CreatePolicyVersion", "iam:Delete*PermissionsBoundary", "iam:SetDefaultPolicyVersion", "iam:UpdateSigningCertificate", "iam:UpdateSSHPublicKey",
			"iam:UpdateUser", "iam:UploadSigningCertificate", "iam:UploadSSHPublicKey", "rolesanywhere:*",
		},
		On: []string{"*"}, Deny: true, Why: "IAM cannot tell whether they concern a principal with the boundary; a provider that is deleted and created again has the same ARN",
	},
	{
		Do: []string{
			"account:*", "cloudformation:*egister*", "cloudformation:*StackInstances", "cloudformation:*StackSet", "cloudformation:*tivate*",
			"cloudformation:PublishType", "cloudformation:SetType*", "iam:*teAccount*", "iam:SetSecurityTokenServicePreferences",
			"cloudtrail:*", "config:*ConfigurationRecorder", "config:*DeliveryChannel", "events:*Permission", "identitystore:*", "logs:*AccountPolicy", "oam:*Link", "organizations:*", "sso-directory:*", "sso:*", "sts:AssumeRoot",
		},
		On: []string{"*"}, Deny: true,
		Why: "they reach the stacks, logs, events, principals and audit trail of everybody in the account: hooks and types act in all stacks, stack sets and permission sets make roles without the boundary",
	},
	{
		But: []string{"cloudformation:Describe*", "cloudformation:Get*", "cloudformation:List*", "cloudformation:SignalResource"}, On: []string{"arn:${Partition}:cloudformation:*:*:stack/*"}, Deny: true,
		If: conditions{
			"ArnNotLike": {"aws:PrincipalArn": "arn:${Partition}:iam::${Account}:role/stackwright/*"},
			"Null":       {"aws:ResourceTag/stackwright:project": "false"},
		},
		Why: "a stack is changed with the role that it has already: only an execution role changes stacks of Stackwright, those that are nested in its own",
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
			"arn:${Partition}:cloudformation:*:*:stack/CDKToolkit*/*", "arn:${Partition}:ecr:*:*:repository/cdk-*", "arn:${Partition}:iam::*:role/cdk-*",
			"arn:${Partition}:s3:::cdk-*", "arn:${Partition}:ssm:*:*:parameter/cdk-bootstrap/*",
		},
		Deny: true, Why: "the CDK's roles may deploy anything, and its bucket has what they deploy",
	},
}

// bounded are the actions that are denied unless the role or user has such a boundary, or gets it. A group has
// none, so its policies are always denied.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
var bounded = []string{
	"iam:Attach*Policy", "iam:CreateRole", "iam:CreateUser", "iam:DeleteRolePolicy", "iam:DeleteUserPolicy", "iam:Detach*Policy", "iam:Put*", "iam:UpdateAssumeRolePolicy",
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
		{Do: []string{"events:StartReplay"}, On: []string{"${Bus}"}, Deny: true, Why: why + ": uploads of the past would be deployed again"},
		{
			Do: []string{"lambda:*EventSourceMapping"}, On: []string{"*"}, Deny: true, If: conditions{"ArnLike": {"lambda:FunctionArn": i.function("*")}},
			Why: why + ": a queue whose policy lets a function read it would call the function",
		},
	}
	if i.settings.key {
		all = append(all, permission{
			But: []string{"kms:Decrypt", "kms:DescribeKey"}, On: []string{"${Key}"}, Deny: true, Why: why + ": without its grants, the table cannot be read",
		})
	}
	return all
}

// own lists the parts of the installation that a project could damage. Its roles are in reserved. A policy has little room: so one
// pattern stands for all functions and their versions, one for their logs, and one for all alarms. The stacks of target/execution.yaml and
// target/region.yaml, and the rules that forward events, have names that begin with the installation's, in any region.
func (i *installation) own() []string {
	anywhere := func(service, resource string) string {
		return "arn:" + *awscdk.Aws_PARTITION() + ":" + service + ":*:" + *awscdk.Aws_ACCOUNT_ID() + ":" + resource
	}
	api := "arn:" + *awscdk.Aws_PARTITION() + ":apigateway:" + *awscdk.Aws_REGION() + "::/apis/" + *i.api.ApiId()
	all := []string{
		anywhere("cloudformation", "stack/"+i.settings.stack+"*"), "${Table}*", "${Machine}", "${Executions}:*",
		"${Bucket}", "${Bucket}/access/*", "${Bucket}/p*", "${Bucket}/re*", "${Bucket}/specs/*", // plans, policies, projects; requests, revisions
		"${Schedules}/*", i.named("scheduler", "schedule-group/"+i.settings.stack), i.named("sns", i.settings.stack),
		i.function("*"), i.named("logs", "log-group:"+i.logs("*")), i.named("cloudwatch", "alarm:"+i.settings.stack+"-*"), anywhere("events", "rule/"+i.settings.stack+"*"),
		i.named("logs", "log-group:/aws/vendedlogs/*/"+i.settings.stack+"*"),
		"arn:" + *awscdk.Aws_PARTITION() + ":cloudwatch::" + *awscdk.Aws_ACCOUNT_ID() + ":dashboard/" + i.settings.stack + "-*", api, api + "/*", i.named("execute-api", *i.api.ApiId()+"/*"),
	}
	for _, f := range slices.Sorted(maps.Keys(i.dead)) {
		all = append(all, "${Dead "+f+"}")
	}
	return all
}
