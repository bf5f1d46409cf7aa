package main

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/infra/aws/iam"
	cfn "github.com/stackwright/stackwright/pkg/lib/template"
	"github.com/stackwright/stackwright/pkg/project"
)

// In these tests a project is hostile: its stacks contain anything. The policies of the template, as CDK and the templates of
// targets write them, say whether AWS would allow it.

const (
	there    = "111111111111" // the account of a target
	roles    = "arn:aws:iam::" + account + ":role/"
	boundary = "arn:aws:iam::" + account + ":policy/stackwright/stackwright-" + region + "-boundary"
)

// placed writes the values of an account and region into the ${words} of a text.
func placed(text string) string {
	lengths := map[string]string{"AWS::Partition": "aws", "AWS::Region": region, "AWS::AccountId": account, "AWS::URLSuffix": "amazonaws.com"}
	return os.Expand(text, func(word string) string {
		if value, is := lengths[word]; is {
			return value
		}
		switch resource, attribute, _ := strings.Cut(word, "."); {
		case resource == "Bucket":
			return "arn:aws:s3:::stackwright-bucket"
		case resource == "Table":
			return "arn:aws:dynamodb:" + region + ":" + account + ":table/stackwright-table"
		case resource == "HttpApi":
			return "api1234567"
		case strings.HasSuffix(resource, "Dead") && attribute == "Arn":
			return "arn:aws:sqs:" + region + ":" + account + ":stackwright-" + strings.ToLower(resource)
		}
		return "${" + word + "}"
	})
}

// policies are those of a role in the template.
func policies(t *testing.T, all template, role string) []iam.Policy {
	t.Helper()
	var inline []struct{ PolicyDocument iam.Policy }
	if err := json.Unmarshal([]byte(placed(text(all.Resources[role].Properties["Policies"]))), &inline); err != nil {
		t.Fatal(err)
	}
	var list []iam.Policy
	for _, p := range inline {
		list = append(list, p.PolicyDocument)
	}
	return list
}

// parsed reads a policy.
func parsed(t *testing.T, body string) iam.Policy {
	t.Helper()
	p, err := iam.Read([]byte(body))
	if err != nil {
		t.Fatal(body, err)
	}
	return p
}

// administrator is AWS's policy AdministratorAccess: the worst that executionPolicies can say.
const administrator = `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`

// execution is the execution role of the installation, with a policy as executionPolicies.
func execution(t *testing.T, policy string) iam.Identity {
	t.Helper()
	all := the(t, plain)
	limit := parsed(t, placed(all.at("Boundary", "PolicyDocument")))
	return iam.Identity{ARN: roles + "stackwright/stackwright-" + region + "-execution", Policies: append(policies(t, all, "ExecutionRole"), parsed(t, policy)), Boundary: &limit}
}

// made is a role that a project has created, with all that a project can give it.
func made(t *testing.T) iam.Identity {
	t.Helper()
	limit := parsed(t, placed(the(t, plain).at("Boundary", "PolicyDocument")))
	return iam.Identity{ARN: roles + "evil", Policies: []iam.Policy{parsed(t, administrator)}, Boundary: &limit}
}

// An attempt is a request that a project makes, and what AWS must answer.
type attempt struct {
	name string
	iam.Request
	want iam.Answer
}

// with is the context of a request, by keys and values.
func with(pairs ...string) map[string]string {
	all := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// try makes attempts in the name of a role.
func try(t *testing.T, who iam.Identity, all []attempt) {
	t.Helper()
	for _, a := range all {
		if got, err := who.May(a.Request); err != nil || got != a.want {
			t.Errorf("%s: %s of %s by %s is %s (%v), want %s", a.name, a.Action, a.Resource, who.ARN, got, err, a.want)
		}
	}
}

func arn(service, resource string) string {
	return "arn:aws:" + service + ":" + region + ":" + account + ":" + resource
}

// everyFunction are attempts on each function of the installation.
func everyFunction() (all []attempt) {
	for name := range sizes {
		all = append(all,
			attempt{"call a function", iam.Request{Action: "lambda:InvokeFunction", Resource: arn("lambda", "function:stackwright-"+name)}, iam.Denied},
			attempt{"call a version of a function", iam.Request{Action: "lambda:InvokeFunction", Resource: arn("lambda", "function:stackwright-"+name+":1")}, iam.Denied},
			attempt{"delete the log of a function", iam.Request{Action: "logs:DeleteLogStream", Resource: arn("logs", "log-group:/aws/lambda/stackwright-"+name+":log-stream:x")}, iam.Denied},
			attempt{"call a function by a queue", iam.Request{Action: "lambda:CreateEventSourceMapping", Resource: "*", Context: with("lambda:FunctionArn", arn("lambda", "function:stackwright-"+name))}, iam.Denied},
			attempt{"call a function by an event source of its own", iam.Request{
				Action: "lambda:UpdateEventSourceMapping", Resource: arn("lambda", "event-source-mapping:1"), Context: with("lambda:FunctionArn", arn("lambda", "function:stackwright-"+name)),
			}, iam.Denied},
		)
	}
	return all
}

// onTheInstallation are attempts to change a part of the installation, to call it, or to read what others have in it.
func onTheInstallation() []attempt {
	const b = "arn:aws:s3:::stackwright-bucket"
	return append(everyFunction(), []attempt{
		{"have uploads of the past deployed again", iam.Request{Action: "events:StartReplay", Resource: arn("events", "event-bus/default")}, iam.Denied},
		{"change the tags of a function's log", iam.Request{Action: "logs:UntagResource", Resource: arn("logs", "log-group:/aws/lambda/stackwright-plan")}, iam.Denied},
		{"replace the dashboard", iam.Request{Action: "cloudwatch:PutDashboard", Resource: "arn:aws:cloudwatch::" + account + ":dashboard/stackwright-" + region}, iam.Denied},
		{"start a function", iam.Request{Action: "lambda:InvokeFunction", Resource: arn("lambda", "function:stackwright-start")}, iam.Denied},
		{"replace a function's code", iam.Request{Action: "lambda:UpdateFunctionCode", Resource: arn("lambda", "function:stackwright-plan")}, iam.Denied},
		{"read the table", iam.Request{Action: "dynamodb:Query", Resource: arn("dynamodb", "table/stackwright-table")}, iam.Denied},
		{"upload as another project", iam.Request{Action: "s3:PutObject", Resource: b + "/projects/shop/prod.zip"}, iam.Denied},
		{"read another project's files", iam.Request{Action: "s3:GetObject", Resource: b + "/projects/shop/prod.zip"}, iam.Denied},
		{"request a run", iam.Request{Action: "s3:PutObject", Resource: b + "/requests/x.json"}, iam.Denied},
		{"replace the access file", iam.Request{Action: "s3:PutObject", Resource: b + "/access/access.yaml"}, iam.Denied},
		{"delete the access file", iam.Request{Action: "s3:DeleteObject", Resource: b + "/access/access.yaml"}, iam.Denied},
		{"read the access file", iam.Request{Action: "s3:GetObject", Resource: b + "/access/access.yaml"}, iam.Denied},
		{"add a policy", iam.Request{Action: "s3:PutObject", Resource: b + "/policies/own.yaml"}, iam.Denied},
		{"delete a policy", iam.Request{Action: "s3:DeleteObject", Resource: b + "/policies/company.yaml"}, iam.Denied},
		{"replace a template", iam.Request{Action: "s3:PutObject", Resource: b + "/templates/0123"}, iam.Denied},
		{"replace the code of a function", iam.Request{Action: "s3:PutObject", Resource: b + "/artifacts/other/0123"}, iam.Denied},
		{"replace the code of a function by replication", iam.Request{Action: "s3:ReplicateObject", Resource: b + "/artifacts/other/0123"}, iam.Denied},
		{"replace a template by replication", iam.Request{Action: "s3:ReplicateObject", Resource: b + "/templates/0123"}, iam.Denied},
		{"delete the code of a function by replication", iam.Request{Action: "s3:ReplicateDelete", Resource: b + "/artifacts/other/0123"}, iam.Denied},
		{"upload as another project by replication", iam.Request{Action: "s3:ReplicateObject", Resource: b + "/projects/shop/prod.zip"}, iam.Denied},
		{"replace a plan", iam.Request{Action: "s3:PutObject", Resource: b + "/plans/0123.json"}, iam.Denied},
		{"replace a configuration that a request names", iam.Request{Action: "s3:PutObject", Resource: b + "/revisions/shop/prod/1.zip"}, iam.Denied},
		{"replace the nodes of a plan", iam.Request{Action: "s3:PutObject", Resource: b + "/specs/0123.jsonl"}, iam.Denied},
		{"delete a template", iam.Request{Action: "s3:DeleteObject", Resource: b + "/templates/0123"}, iam.Denied},
		{"delete a version of a template", iam.Request{Action: "s3:DeleteObjectVersion", Resource: b + "/templates/0123"}, iam.Denied},
		{"delete the schedules of all projects", iam.Request{Action: "scheduler:DeleteScheduleGroup", Resource: arn("scheduler", "schedule-group/stackwright")}, iam.Denied},
		{"stop an execution", iam.Request{Action: "states:StopExecution", Resource: arn("states", "execution:stackwright:run-1")}, iam.Denied},
		{"delete the log of the state machine", iam.Request{Action: "logs:DeleteLogGroup", Resource: arn("logs", "log-group:/aws/vendedlogs/states/stackwright:*")}, iam.Denied},
		{"read failed events of stacks", iam.Request{Action: "sqs:ReceiveMessage", Resource: arn("sqs", "stackwright-stackeventdead")}, iam.Denied},
		{"change the bucket's policy", iam.Request{Action: "s3:PutBucketPolicy", Resource: b}, iam.Denied},
		{"call the API", iam.Request{Action: "execute-api:Invoke", Resource: arn("execute-api", "api1234567/$default/POST/projects/shop/prod/runs")}, iam.Denied},
		{"open the API", iam.Request{Action: "apigateway:PATCH", Resource: "arn:aws:apigateway:" + region + "::/apis/api1234567/routes/1"}, iam.Denied},
		{"delete the API", iam.Request{Action: "apigateway:DELETE", Resource: "arn:aws:apigateway:" + region + "::/apis/api1234567"}, iam.Denied},
		{"read failed events", iam.Request{Action: "sqs:ReceiveMessage", Resource: arn("sqs", "stackwright-startdead")}, iam.Denied},
		{"delete failed notifications", iam.Request{Action: "sqs:PurgeQueue", Resource: arn("sqs", "stackwright-runsdead")}, iam.Denied},
		{"silence an alarm", iam.Request{Action: "cloudwatch:DeleteAlarms", Resource: arn("cloudwatch", "alarm:stackwright-runs-failed")}, iam.Denied},
		{"delete a function's log", iam.Request{Action: "logs:DeleteLogStream", Resource: arn("logs", "log-group:/aws/lambda/stackwright-plan:log-stream:x")}, iam.Denied},
		{"delete the API's log", iam.Request{Action: "logs:DeleteLogGroup", Resource: arn("logs", "log-group:/aws/vendedlogs/apis/stackwright:*")}, iam.Denied},
		{"disable the rule of uploads", iam.Request{Action: "events:DisableRule", Resource: arn("events", "rule/stackwright-start")}, iam.Denied},
		{"notify of a run that is none", iam.Request{Action: "events:PutEvents", Resource: arn("events", "event-bus/default"), Context: with("events:source", "stackwright")}, iam.Denied},
		{"publish to the topic", iam.Request{Action: "sns:Publish", Resource: arn("sns", "stackwright")}, iam.Denied},
		{"schedule for another project", iam.Request{Action: "scheduler:CreateSchedule", Resource: arn("scheduler", "schedule/stackwright/shop")}, iam.Denied},
		{"start an execution", iam.Request{Action: "states:StartExecution", Resource: arn("states", "stateMachine:stackwright")}, iam.Denied},
		{"change the installation's stack", iam.Request{Action: "cloudformation:UpdateStack", Resource: arn("cloudformation", "stack/stackwright/1")}, iam.Denied},

		{"delete the log of the state machine, by its name", iam.Request{Action: "logs:DeleteLogGroup", Resource: arn("logs", "log-group:/aws/vendedlogs/states/stackwright")}, iam.Denied},
		{"delete the API's log, by its name", iam.Request{Action: "logs:DeleteLogGroup", Resource: arn("logs", "log-group:/aws/vendedlogs/apis/stackwright")}, iam.Denied},
		{"disable the rule of another region that forwards events", iam.Request{Action: "events:DisableRule", Resource: "arn:aws:events:eu-south-2:" + account + ":rule/stackwright"}, iam.Denied},
		{"delete the rule of another region", iam.Request{Action: "cloudformation:DeleteStack", Resource: "arn:aws:cloudformation:eu-south-2:" + account + ":stack/stackwright-target-region/1"}, iam.Denied},
		{"delete the execution role of a team", iam.Request{Action: "cloudformation:DeleteStack", Resource: arn("cloudformation", "stack/stackwright-for-shop/1")}, iam.Denied},

		{"use its own function", iam.Request{Action: "lambda:UpdateFunctionCode", Resource: arn("lambda", "function:shop-api")}, iam.Allowed},
		{"use its own queue as event source", iam.Request{Action: "lambda:CreateEventSourceMapping", Resource: "*", Context: with("lambda:FunctionArn", arn("lambda", "function:shop-api"))}, iam.Allowed},
		{"replay events of its own bus", iam.Request{Action: "events:StartReplay", Resource: arn("events", "event-bus/shop")}, iam.Allowed},
		{"use its own bucket", iam.Request{Action: "s3:PutObject", Resource: "arn:aws:s3:::shop/x"}, iam.Allowed},
		{"publish its own events", iam.Request{Action: "events:PutEvents", Resource: arn("events", "event-bus/default"), Context: with("events:source", "shop")}, iam.Allowed},
		{"read a large template", iam.Request{Action: "s3:GetObject", Resource: b + "/templates/0123"}, iam.Allowed},
		{"read its code", iam.Request{Action: "s3:GetObjectVersion", Resource: b + "/artifacts/shop/0123"}, iam.Allowed},
	}...)
}

// Neither a stack of a project nor a role that it creates may change a part of the installation or act as one, even if
// executionPolicies allow everything.
func TestProjectCannotTouchTheInstallation(t *testing.T) {
	try(t, execution(t, administrator), onTheInstallation())
	try(t, made(t), onTheInstallation())
}

// forMorePermissions are attempts to get more permissions than the boundary leaves.
func forMorePermissions() []attempt {
	const other, users = "arn:aws:iam::" + account + ":policy/other", "arn:aws:iam::" + account + ":user/"
	const issuer, own = "arn:aws:iam::" + account + ":oidc-provider/ci.example", "arn:aws:iam::" + account + ":policy/stackwright/roles/shop"
	bounded := with("iam:PermissionsBoundary", boundary)
	return []attempt{
		{"create a role without the boundary", iam.Request{Action: "iam:CreateRole", Resource: roles + "evil"}, iam.Denied},
		{"create a role with another boundary", iam.Request{Action: "iam:CreateRole", Resource: roles + "evil", Context: with("iam:PermissionsBoundary", other)}, iam.Denied},
		{"create a role with the boundary of another installation", iam.Request{Action: "iam:CreateRole", Resource: roles + "evil", Context: with("iam:PermissionsBoundary", strings.ReplaceAll(boundary, "stackwright-", "test-"))}, iam.Denied},
		{"write a boundary", iam.Request{Action: "iam:CreatePolicy", Resource: "arn:aws:iam::" + account + ":policy/stackwright/roles/evil"}, iam.Denied},
		{"give a role of somebody else a policy", iam.Request{Action: "iam:PutRolePolicy", Resource: roles + "admin"}, iam.Denied},
		{"attach a policy to a role of somebody else", iam.Request{Action: "iam:AttachRolePolicy", Resource: roles + "admin"}, iam.Denied},
		{"let a role of somebody else trust it", iam.Request{Action: "iam:UpdateAssumeRolePolicy", Resource: roles + "admin"}, iam.Denied},
		{"remove the boundary", iam.Request{Action: "iam:DeleteRolePermissionsBoundary", Resource: roles + "evil", Context: bounded}, iam.Denied},
		{"replace the boundary of a role", iam.Request{Action: "iam:PutRolePermissionsBoundary", Resource: roles + "evil", Context: with("iam:PermissionsBoundary", other)}, iam.Denied},
		{"change the boundary", iam.Request{Action: "iam:CreatePolicyVersion", Resource: boundary}, iam.Denied},
		{"change the policy of a role of somebody else", iam.Request{Action: "iam:CreatePolicyVersion", Resource: other}, iam.Denied},
		{"remove a policy that denies", iam.Request{Action: "iam:DetachRolePolicy", Resource: roles + "other"}, iam.Denied},
		{"delete a policy that denies", iam.Request{Action: "iam:DeleteRolePolicy", Resource: roles + "other"}, iam.Denied},
		{"remove a user's policy", iam.Request{Action: "iam:DetachUserPolicy", Resource: users + "admin"}, iam.Denied},
		{"delete a user's policy", iam.Request{Action: "iam:DeleteUserPolicy", Resource: users + "admin"}, iam.Denied},
		{"sign in as any federated role", iam.Request{Action: "iam:UpdateSAMLProvider", Resource: "arn:aws:iam::" + account + ":saml-provider/company"}, iam.Denied},
		{"sign in as any federated role, with a provider of the same name", iam.Request{Action: "iam:DeleteSAMLProvider", Resource: "arn:aws:iam::" + account + ":saml-provider/company"}, iam.Denied},
		{"create it again", iam.Request{Action: "iam:CreateSAMLProvider", Resource: "arn:aws:iam::" + account + ":saml-provider/company"}, iam.Denied},
		{"sign certificates for the roles of servers", iam.Request{Action: "rolesanywhere:UpdateTrustAnchor", Resource: arn("rolesanywhere", "trust-anchor/1")}, iam.Denied},
		{"get a new password of an administrator for a service", iam.Request{Action: "iam:ResetServiceSpecificCredential", Resource: users + "admin"}, iam.Denied},
		{"sign tokens of another issuer", iam.Request{Action: "iam:UpdateOpenIDConnectProviderThumbprint", Resource: "arn:aws:iam::" + account + ":oidc-provider/ci.example"}, iam.Denied},
		{"create a certificate of an administrator", iam.Request{Action: "iam:UploadSigningCertificate", Resource: users + "admin"}, iam.Denied},
		{"create a password of an administrator for a service", iam.Request{Action: "iam:CreateServiceSpecificCredential", Resource: users + "admin"}, iam.Denied},
		{"create an SSH key of an administrator", iam.Request{Action: "iam:UploadSSHPublicKey", Resource: users + "admin"}, iam.Denied},
		{"delete the boundary", iam.Request{Action: "iam:DeletePolicy", Resource: boundary}, iam.Denied},
		{"create a user without the boundary", iam.Request{Action: "iam:CreateUser", Resource: "arn:aws:iam::" + account + ":user/evil"}, iam.Denied},
		{"create a key of an administrator", iam.Request{Action: "iam:CreateAccessKey", Resource: "arn:aws:iam::" + account + ":user/admin"}, iam.Denied},
		{"join the administrators", iam.Request{Action: "iam:AddUserToGroup", Resource: "arn:aws:iam::" + account + ":group/admins"}, iam.Denied},
		{"give a user a policy", iam.Request{Action: "iam:PutUserPolicy", Resource: "arn:aws:iam::" + account + ":user/ann"}, iam.Denied},
		{"attach a policy to a user", iam.Request{Action: "iam:AttachUserPolicy", Resource: "arn:aws:iam::" + account + ":user/ann"}, iam.Denied},
		{"replace the boundary of a user", iam.Request{Action: "iam:PutUserPermissionsBoundary", Resource: "arn:aws:iam::" + account + ":user/evil", Context: with("iam:PermissionsBoundary", other)}, iam.Denied},
		{"remove the boundary of a user", iam.Request{Action: "iam:DeleteUserPermissionsBoundary", Resource: "arn:aws:iam::" + account + ":user/evil", Context: bounded}, iam.Denied},
		{"give a group a policy", iam.Request{Action: "iam:PutGroupPolicy", Resource: "arn:aws:iam::" + account + ":group/team"}, iam.Denied},
		{"attach a policy to a group", iam.Request{Action: "iam:AttachGroupPolicy", Resource: "arn:aws:iam::" + account + ":group/team"}, iam.Denied},
		{"create a password of an administrator", iam.Request{Action: "iam:CreateLoginProfile", Resource: "arn:aws:iam::" + account + ":user/admin"}, iam.Denied},
		{"change the password of an administrator", iam.Request{Action: "iam:UpdateLoginProfile", Resource: "arn:aws:iam::" + account + ":user/admin"}, iam.Denied},
		{"return to an older version of a policy", iam.Request{Action: "iam:SetDefaultPolicyVersion", Resource: other}, iam.Denied},
		{"change the CDK's stack", iam.Request{Action: "cloudformation:UpdateStack", Resource: arn("cloudformation", "stack/CDKToolkit/1")}, iam.Denied},
		{"change the stack that an installation is deployed from",
			iam.Request{Action: "cloudformation:UpdateStack", Resource: arn("cloudformation", "stack/CDKToolkit-stkwright/1")}, iam.Denied},
		{"replace the code of the next version of the installation",
			iam.Request{Action: "s3:PutObject", Resource: "arn:aws:s3:::cdk-stkwright-assets-" + account + "-" + region + "/x.zip"}, iam.Denied},
		{"change the CDK's version", iam.Request{Action: "ssm:PutParameter", Resource: arn("ssm", "parameter/cdk-bootstrap/hnb659fds/version")}, iam.Denied},
		{"assume the CDK's deploy role", iam.Request{Action: "sts:AssumeRole", Resource: roles + "cdk-hnb659fds-deploy-role-" + account + "-" + region}, iam.Denied},
		{"pass the CDK's execution role", iam.Request{Action: "iam:PassRole", Resource: roles + "cdk-hnb659fds-cfn-exec-role-" + account + "-" + region, Context: with("iam:PassedToService", "cloudformation.amazonaws.com")}, iam.Denied},
		{"replace an asset of the CDK", iam.Request{Action: "s3:PutObject", Resource: "arn:aws:s3:::cdk-hnb659fds-assets-" + account + "-" + region + "/x.zip"}, iam.Denied},
		{"replace an image of the CDK", iam.Request{Action: "ecr:PutImage", Resource: arn("ecr", "repository/cdk-hnb659fds-container-assets-"+account+"-"+region)}, iam.Denied},

		{"activate an old key of an administrator", iam.Request{Action: "iam:UpdateAccessKey", Resource: users + "admin"}, iam.Denied},
		{"let a token for another client in", iam.Request{Action: "iam:AddClientIDToOpenIDConnectProvider", Resource: issuer}, iam.Denied},
		{"delete a provider of tokens, to create one with another certificate", iam.Request{Action: "iam:DeleteOpenIDConnectProvider", Resource: issuer}, iam.Denied},
		{"create it again", iam.Request{Action: "iam:CreateOpenIDConnectProvider", Resource: issuer}, iam.Denied},
		{"take the second factor of an administrator away", iam.Request{Action: "iam:DeactivateMFADevice", Resource: users + "admin"}, iam.Denied},
		{"be the second factor of an administrator", iam.Request{Action: "iam:EnableMFADevice", Resource: users + "admin"}, iam.Denied},
		{"leave a group whose policy denies", iam.Request{Action: "iam:RemoveUserFromGroup", Resource: "arn:aws:iam::" + account + ":group/limited"}, iam.Denied},
		{"accept a request for permissions", iam.Request{Action: "iam:AcceptDelegationRequest", Resource: "*"}, iam.Denied},
		{"activate an old certificate of an administrator", iam.Request{Action: "iam:UpdateSigningCertificate", Resource: users + "admin"}, iam.Denied},
		{"activate an old SSH key of an administrator", iam.Request{Action: "iam:UpdateSSHPublicKey", Resource: users + "admin"}, iam.Denied},
		{"take the name of another user", iam.Request{Action: "iam:UpdateUser", Resource: users + "ann"}, iam.Denied},
		{"let certificates of servers have more roles", iam.Request{Action: "rolesanywhere:UpdateProfile", Resource: arn("rolesanywhere", "profile/1")}, iam.Denied},

		{"create a role with the boundary that the owner has made for a team", iam.Request{Action: "iam:CreateRole", Resource: roles + "shop", Context: with("iam:PermissionsBoundary", own)}, iam.Allowed},
		{"read a provider of tokens", iam.Request{Action: "iam:GetOpenIDConnectProvider", Resource: issuer}, iam.Allowed},
		{"let CloudFormation read a user", iam.Request{Action: "iam:GetLoginProfile", Resource: users + "shop"}, iam.Allowed},
		{"upload the certificate of a server", iam.Request{Action: "iam:UploadServerCertificate", Resource: "arn:aws:iam::" + account + ":server-certificate/shop"}, iam.Allowed},
		{"create a role with the boundary", iam.Request{Action: "iam:CreateRole", Resource: roles + "shop", Context: bounded}, iam.Allowed},
		{"give its own role a policy", iam.Request{Action: "iam:PutRolePolicy", Resource: roles + "shop", Context: bounded}, iam.Allowed},
		{"remove a policy of its own role", iam.Request{Action: "iam:DetachRolePolicy", Resource: roles + "shop", Context: bounded}, iam.Allowed},
		{"pass its own role", iam.Request{Action: "iam:PassRole", Resource: roles + "shop", Context: with("iam:PassedToService", "lambda.amazonaws.com")}, iam.Allowed},
		{"read a version of an asset of the CDK", iam.Request{Action: "s3:GetObjectVersion", Resource: "arn:aws:s3:::cdk-hnb659fds-assets-" + account + "-" + region + "/x.zip"}, iam.Allowed},
		{"find an asset of the CDK", iam.Request{Action: "s3:ListBucket", Resource: "arn:aws:s3:::cdk-hnb659fds-assets-" + account + "-" + region}, iam.Allowed},
		{"find the bucket of the CDK", iam.Request{Action: "s3:GetBucketLocation", Resource: "arn:aws:s3:::cdk-hnb659fds-assets-" + account + "-" + region}, iam.Allowed},
		{"read an image of the CDK", iam.Request{Action: "ecr:BatchGetImage", Resource: arn("ecr", "repository/cdk-hnb659fds-container-assets-"+account+"-"+region)}, iam.Allowed},
		{"read a layer of an image of the CDK", iam.Request{Action: "ecr:GetDownloadUrlForLayer", Resource: arn("ecr", "repository/cdk-hnb659fds-container-assets-"+account+"-"+region)}, iam.Allowed},
		{"read the CDK's version", iam.Request{Action: "ssm:GetParameter", Resource: arn("ssm", "parameter/cdk-bootstrap/hnb659fds/version")}, iam.Allowed},
		{"read the CDK's version among others", iam.Request{Action: "ssm:GetParameters", Resource: arn("ssm", "parameter/cdk-bootstrap/hnb659fds/version")}, iam.Allowed},
		{"read an asset of the CDK", iam.Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::cdk-hnb659fds-assets-" + account + "-" + region + "/x.zip"}, iam.Allowed},
	}
}

// A project cannot get more permissions than the boundary leaves it, however many roles it creates.
func TestProjectCannotEscalate(t *testing.T) {
	try(t, execution(t, administrator), forMorePermissions())
	try(t, made(t), forMorePermissions())
}

// publishing are attempts to publish files in an account. usual is whether files of applications may be published there.
func publishing(account string, usual iam.Answer) []attempt {
	as := func(qualifier string) iam.Request {
		role := "cdk-" + qualifier + "-file-publishing-role-" + account + "-" + region
		return iam.Request{Action: "sts:AssumeRole", Resource: "arn:aws:iam::" + account + ":role/" + role}
	}
	return []attempt{
		{"publish for an application", as("hnb659fds"), usual},
		{"replace the code of an installation", as(project.InstallationQualifier), iam.Denied},
	}
}

// A deployer names the bucket, the role and the key of a file. None of them reaches the bucket from which this or the next
// version of the installation is deployed, whatever the settings are.
func TestDeployerReplacesNoInstallation(t *testing.T) {
	for _, c := range []struct {
		settings func() (template, error)
		usual    iam.Answer
	}{{plain, iam.Implicit}, {full, iam.Allowed}} {
		all := the(t, c.settings)
		who := iam.Identity{ARN: roles + "wait-status", Policies: policies(t, all, "WaitStatusRole")}
		try(t, who, publishing(account, c.usual))
		for _, f := range all.of("AWS::Lambda::Function") {
			if code := all.at(f, "Code"); !strings.Contains(code, "cdk-"+project.InstallationQualifier+"-assets-") {
				t.Errorf("%s is deployed from %s", f, code)
			}
		}
	}
	for published, usual := range map[string]iam.Answer{"false": iam.Implicit, "true": iam.Allowed} {
		var r targetRole
		target(t, "account.yaml", "Orchestrator", &r, map[string]string{"CdkAssets": published})
		who := iam.Identity{ARN: "orchestrator"}
		for _, p := range r.Policies {
			who.Policies = append(who.Policies, p.PolicyDocument)
		}
		try(t, who, publishing(there, usual))
	}
}

// onEverybody are attempts to reach the stacks, logs, events and principals of everybody in the account at once.
func onEverybody() []attempt {
	denied := []struct{ name, action string }{
		{"see and refuse all stacks with a hook", "cloudformation:RegisterType"}, {"the same with a public hook", "cloudformation:ActivateType"},
		{"change the configuration of a hook", "cloudformation:SetTypeConfiguration"}, {"replace the version of a type that others use", "cloudformation:SetTypeDefaultVersion"},
		{"take a hook away", "cloudformation:DeactivateType"}, {"take a type away", "cloudformation:DeregisterType"}, {"publish a type in the name of the account", "cloudformation:PublishType"},
		{"be a publisher in the name of the account", "cloudformation:RegisterPublisher"}, {"open the accounts of the organization", "cloudformation:ActivateOrganizationsAccess"},
		{"close them", "cloudformation:DeactivateOrganizationsAccess"},
		{"change the contacts of the account", "account:PutAlternateContact"}, {"turn a region off", "account:DisableRegion"},
		{"take the account over by its address", "iam:UpdateAccountEmailAddress"}, {"rename the account", "iam:UpdateAccountName"},
		{"allow short passwords", "iam:UpdateAccountPasswordPolicy"}, {"allow all passwords", "iam:DeleteAccountPasswordPolicy"},
		{"take the address for signing in away", "iam:DeleteAccountAlias"}, {"make tokens that hold in all regions", "iam:SetSecurityTokenServicePreferences"},
		{"deploy into the accounts of the organization", "cloudformation:CreateStackSet"}, {"the same with the stack set of somebody else", "cloudformation:UpdateStackSet"},
		{"the same into one account more", "cloudformation:CreateStackInstances"},
		{"let another account send events to the account's bus", "events:PutPermission"}, {"keep targets from sending events", "events:RemovePermission"},
		{"get the logs of all teams", "logs:PutAccountPolicy"}, {"take the owner's policy of all logs away", "logs:DeleteAccountPolicy"},
		{"show all logs to another account", "oam:CreateLink"}, {"show more to it", "oam:UpdateLink"},
		{"let a person sign in as administrator", "sso:CreateAccountAssignment"}, {"make an administrator of those who sign in", "sso:AttachManagedPolicyToPermissionSet"},
		{"join the administrators who sign in", "identitystore:CreateGroupMembership"}, {"get the e-mail of an administrator", "identitystore:UpdateUser"},
		{"remove the policy of a bucket of another account", "sts:AssumeRoot"},
		{"make an administrator of those who sign in, by a policy of its own", "sso:PutPermissionsPolicy"}, {"let another directory say who signs in", "sso:AssociateDirectory"},
		{"trust another directory", "sso:UpdateTrust"}, {"change the configuration of Identity Center", "sso:UpdateSSOConfiguration"}, {"join the administrators of a directory", "sso-directory:AddMemberToGroup"},
		{"get the password of an administrator", "sso-directory:UpdatePassword"}, {"create a person", "sso-directory:CreateUser"}, {"delete a person", "identitystore:DeleteUser"},
		{"take the policy of the organization away", "organizations:DetachPolicy"}, {"leave the organization", "organizations:LeaveOrganization"},
		{"stop the audit trail", "cloudtrail:StopLogging"}, {"delete it", "cloudtrail:DeleteTrail"}, {"record less", "cloudtrail:PutEventSelectors"}, {"record elsewhere", "cloudtrail:UpdateTrail"},
		{"stop the record of configurations", "config:StopConfigurationRecorder"}, {"delete it", "config:DeleteConfigurationRecorder"}, {"record fewer of them", "config:PutConfigurationRecorder"}, {"deliver it elsewhere", "config:PutDeliveryChannel"}, {"deliver it nowhere", "config:DeleteDeliveryChannel"},
	}
	var all []attempt
	for _, d := range denied {
		all = append(all, attempt{d.name, iam.Request{Action: d.action, Resource: "*"}, iam.Denied})
	}
	for _, action := range []string{"DescribeType", "ListTypes", "DescribeTypeRegistration", "ListStackSets", "ValidateTemplate"} {
		all = append(all, attempt{"read types", iam.Request{Action: "cloudformation:" + action, Resource: "*"}, iam.Allowed})
	}
	// The role of a state machine or an API with logs needs it. Only AWS services write with it, and nobody reads.
	// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutResourcePolicy.html
	return append(all, attempt{"have its state machine write logs", iam.Request{Action: "logs:PutResourcePolicy", Resource: "*"}, iam.Allowed})
}

// A project reaches nothing of others by what belongs to the whole account.
func TestProjectCannotReachEverybody(t *testing.T) {
	try(t, execution(t, administrator), onEverybody())
	try(t, made(t), onEverybody())
}

// changingStacks are the actions that change a stack.
var changingStacks = []string{
	"CancelUpdateStack", "ContinueUpdateRollback", "CreateChangeSet", "CreateStackRefactor", "DeleteChangeSet", "DeleteStack", "ExecuteChangeSet", "ExecuteStackRefactor", "RollbackStack",
	"SetStackPolicy", "TagResource", "UntagResource", "UpdateStack", "UpdateTerminationProtection",
}

// onStacks are attempts on a stack of Stackwright, which has the role of another team: CloudFormation asks nobody whether he may use
// it. An execution role changes such stacks, because they may be nested in its own; a role that a project has created does not.
func onStacks(change iam.Answer) (all []attempt) {
	stack, tagged := arn("cloudformation", "stack/bank-db/1"), with("aws:ResourceTag/stackwright:project", "bank@prod")
	for _, action := range changingStacks {
		all = append(all,
			attempt{"change a stack with the role that it has", iam.Request{Action: "cloudformation:" + action, Resource: stack, Context: tagged}, change},
			attempt{"change a stack that is not of Stackwright", iam.Request{Action: "cloudformation:" + action, Resource: stack}, iam.Allowed},
		)
	}
	for _, action := range []string{"DescribeStackResource", "GetTemplate", "ListStackResources", "SignalResource"} {
		all = append(all, attempt{"say that a server is ready", iam.Request{Action: "cloudformation:" + action, Resource: stack, Context: tagged}, iam.Allowed})
	}
	return all
}

// A project cannot use the execution role of another team by changing a stack that has it.
func TestProjectCannotChangeStacks(t *testing.T) {
	try(t, execution(t, administrator), onStacks(iam.Allowed))
	try(t, made(t), onStacks(iam.Denied))
}

// asStackwright are attempts to act as a part of the installation.
func asStackwright() []attempt {
	bounded, toCloudFormation := with("iam:PermissionsBoundary", boundary), with("iam:PassedToService", "cloudformation.amazonaws.com")
	return []attempt{
		{"create a role of that path", iam.Request{Action: "iam:CreateRole", Resource: roles + "stackwright/stackwright-evil", Context: bounded}, iam.Denied},
		{"give such a role a policy", iam.Request{Action: "iam:PutRolePolicy", Resource: roles + "stackwright/stackwright-" + region + "-plan", Context: bounded}, iam.Denied},
		{"let the role of plan trust it", iam.Request{Action: "iam:UpdateAssumeRolePolicy", Resource: roles + "stackwright/stackwright-" + region + "-plan", Context: bounded}, iam.Denied},
		{"delete a role", iam.Request{Action: "iam:DeleteRole", Resource: roles + "stackwright/stackwright-" + region + "-plan"}, iam.Denied},
		{"assume the role of plan", iam.Request{Action: "sts:AssumeRole", Resource: roles + "stackwright/stackwright-" + region + "-plan"}, iam.Denied},
		{"assume the orchestrator of a target", iam.Request{Action: "sts:AssumeRole", Resource: "arn:aws:iam::" + there + ":role/stackwright/stackwright-orchestrator"}, iam.Denied},
		{"be a function with the role of plan", iam.Request{Action: "iam:PassRole", Resource: roles + "stackwright/stackwright-" + region + "-plan", Context: with("iam:PassedToService", "lambda.amazonaws.com")}, iam.Denied},
		{"pass the execution role of a team", iam.Request{Action: "iam:PassRole", Resource: roles + "stackwright/stackwright-" + region + "-execution-team", Context: toCloudFormation}, iam.Denied},
	}
}

// nestedStack is an attempt to make a stack with the execution role: the role itself makes nested ones, and nobody else may.
func nestedStack(want iam.Answer) attempt {
	return attempt{"make a stack with the execution role", iam.Request{
		Action: "iam:PassRole", Resource: roles + "stackwright/stackwright-" + region + "-execution", Context: with("iam:PassedToService", "cloudformation.amazonaws.com"),
	}, want}
}

// No role of a project becomes one of the installation's, nor one that a target trusts.
func TestProjectCannotActAsStackwright(t *testing.T) {
	try(t, execution(t, administrator), append(asStackwright(), nestedStack(iam.Allowed)))
	try(t, made(t), append(asStackwright(), nestedStack(iam.Denied)))
}

// example is an example of policies, for the team shop.
func example(t *testing.T, name string) string { return exampleOf(t, name, "shop") }

// exampleOf is an example of policies, for a team.
func exampleOf(t *testing.T, name, team string) string {
	t.Helper()
	body, err := os.ReadFile("policies/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(body), "TEAM", team)
}

// Two execution roles in one account are separate: with the examples of policies, each changes its own nested stacks only, also
// without the boundary. So no project uses the role of another stack by changing that stack.
func TestExamplesChangeOnlyTheirOwnStacks(t *testing.T) {
	for name, own := range map[string]string{"sandbox": "sandbox-web", "team": "shop-web", "platform": "platform-web"} {
		who := iam.Identity{ARN: roles + "stackwright/stackwright-" + region + "-execution-" + name, Policies: []iam.Policy{parsed(t, example(t, name))}}
		for _, stack := range []string{"bank-web", "legacy", "stackwright", "my-" + own} {
			for _, action := range append(changingStacks, "CreateStack") {
				for _, context := range []map[string]string{nil, with("aws:ResourceTag/stackwright:project", "bank@prod")} {
					r := iam.Request{Action: "cloudformation:" + action, Resource: arn("cloudformation", "stack/"+stack+"/1"), Context: context}
					try(t, who, []attempt{{name, r, iam.Implicit}})
				}
			}
		}
		for _, action := range []string{"CreateStack", "UpdateStack", "DeleteStack", "DescribeStacks", "TagResource"} {
			try(t, who, []attempt{{name, iam.Request{Action: "cloudformation:" + action, Resource: arn("cloudformation", "stack/"+own+"-Nested-1/1")}, iam.Allowed}})
		}
		try(t, who, []attempt{{name, iam.Request{Action: "cloudformation:CreateChangeSet", Resource: "arn:aws:cloudformation:" + region + ":aws:transform/Serverless-2016-10-31"}, iam.Allowed}})
		for _, a := range onEverybody() {
			if strings.HasPrefix(a.Action, "cloudformation:") && a.want == iam.Denied {
				try(t, who, []attempt{{name + ": " + a.name, a.Request, iam.Implicit}})
			}
		}
	}
}

// The examples of policies let a team use what is its own, and nothing of another team.
func TestExamplesOfPolicies(t *testing.T) {
	const below = "arn:aws:iam::" + account + ":policy/stackwright/roles/"
	lambda := with("iam:PassedToService", "lambda.amazonaws.com")
	for name, c := range map[string]struct{ allowed, denied []iam.Request }{
		"sandbox": {
			[]iam.Request{
				{Action: "rds:CreateDBInstance", Resource: arn("rds", "db:x")}, {Action: "iam:CreateRole", Resource: roles + "sandbox/x", Context: with("iam:PermissionsBoundary", below+"sandbox")},
				{Action: "iam:PassRole", Resource: roles + "sandbox/x", Context: lambda},
			},
			[]iam.Request{
				{Action: "iam:CreateRole", Resource: roles + "x", Context: with("iam:PermissionsBoundary", below+"sandbox")}, {Action: "iam:PassRole", Resource: roles + "admin", Context: lambda}, {Action: "sts:AssumeRole", Resource: roles + "admin"},
				{Action: "iam:CreateUser", Resource: "arn:aws:iam::" + account + ":user/x", Context: with("iam:PermissionsBoundary", below+"sandbox")}, {Action: "organizations:LeaveOrganization", Resource: "*"},
			},
		},
		"team": {
			[]iam.Request{
				{Action: "sqs:CreateQueue", Resource: arn("sqs", "shop-orders")}, {Action: "s3:PutObject", Resource: "arn:aws:s3:::shop-files/x"},
				{Action: "secretsmanager:GetSecretValue", Resource: arn("secretsmanager", "secret:shop/db-abcdef")}, {Action: "iam:CreateRole", Resource: roles + "shop/api", Context: with("iam:PermissionsBoundary", below+"shop")},
				{Action: "iam:PassRole", Resource: roles + "shop/api", Context: lambda}, {Action: "cloudformation:CreateStack", Resource: arn("cloudformation", "stack/shop-web-Nested-1/x")},
			},
			[]iam.Request{
				{Action: "sqs:DeleteQueue", Resource: arn("sqs", "bank-orders")}, {Action: "s3:GetObject", Resource: "arn:aws:s3:::bank-files/x"},
				{Action: "secretsmanager:GetSecretValue", Resource: arn("secretsmanager", "secret:bank/db-abcdef")}, {Action: "ssm:GetParameter", Resource: arn("ssm", "parameter/bank/key")},
				{Action: "iam:CreateRole", Resource: roles + "bank/api", Context: with("iam:PermissionsBoundary", below+"shop")}, {Action: "iam:PassRole", Resource: roles + "bank/api", Context: lambda},
				{Action: "iam:PassRole", Resource: roles + "stackwright/stackwright-" + region + "-execution-bank", Context: with("iam:PassedToService", "cloudformation.amazonaws.com")},
				{Action: "cloudformation:UpdateStack", Resource: arn("cloudformation", "stack/bank-web/x")}, {Action: "sts:AssumeRole", Resource: roles + "admin"},
			},
		},
		"platform": {
			[]iam.Request{{Action: "ec2:CreateVpc", Resource: arn("ec2", "vpc/x")}, {Action: "iam:CreateRole", Resource: roles + "any", Context: with("iam:PermissionsBoundary", boundary)}},
			[]iam.Request{{Action: "iam:CreateUser", Resource: "arn:aws:iam::" + account + ":user/x", Context: with("iam:PermissionsBoundary", boundary)}, {Action: "organizations:LeaveOrganization", Resource: "*"}, {Action: "iam:CreateRole", Resource: roles + "any"}},
		},
	} {
		who := execution(t, example(t, name))
		if name == "team" {
			who.ARN = roles + "stackwright/stackwright-" + region + "-execution-shop"
		}
		for _, r := range c.allowed {
			try(t, who, []attempt{{name, r, iam.Allowed}})
		}
		for _, r := range c.denied {
			if got, err := who.May(r); err != nil || got == iam.Allowed {
				t.Errorf("%s: %s of %s is %s (%v)", name, r.Action, r.Resource, got, err)
			}
		}
	}
}

// With the policy of the documentation, a program reads the records of one project, and neither those of others nor the whole table.
func TestReaderOfOneProject(t *testing.T) {
	page, err := os.ReadFile("../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	body := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(page)
	if body == nil {
		t.Fatal("the page has no policy")
	}
	who := iam.Identity{ARN: roles + "reader", Policies: []iam.Policy{parsed(t, string(body[1]))}}
	for action, of := range map[string]map[string]iam.Answer{
		"Query": {"PROJECT#shop@prod": iam.Allowed, "PROJECT#shop@test": iam.Implicit, "PROJECT#bank@prod": iam.Implicit, "RUN#abcdefghijklmnopqrs2": iam.Implicit}, "GetItem": {"PROJECT#shop@prod": iam.Allowed, "TARGETS": iam.Implicit},
		"PutItem": {"PROJECT#shop@prod": iam.Implicit},
	} {
		for key, want := range of {
			try(t, who, []attempt{{"read " + key, iam.Request{Action: "dynamodb:" + action, Resource: "arn:aws:dynamodb:eu-west-1:111122223333:table/TABLE", Context: with("dynamodb:LeadingKeys", key)}, want}})
		}
	}
	for _, action := range []string{"Scan", "Query", "ExportTableToPointInTime"} {
		try(t, who, []attempt{{"read everything", iam.Request{Action: "dynamodb:" + action, Resource: "arn:aws:dynamodb:eu-west-1:111122223333:table/TABLE"}, iam.Implicit}})
	}
}

// withBoundary are the actions on roles for which an execution role needs a certain boundary of them.
var withBoundary = []string{"AttachRolePolicy", "CreateRole", "DeleteRolePolicy", "DetachRolePolicy", "PutRolePermissionsBoundary", "PutRolePolicy", "UpdateAssumeRolePolicy"}

// With the examples sandbox and team, a role that a project creates has the boundary that roles.json is an example of, and no other.
func TestExamplesDemandABoundary(t *testing.T) {
	const below = "arn:aws:iam::" + account + ":policy/stackwright/roles/"
	for name, team := range map[string]string{"sandbox": "sandbox", "team": "shop"} {
		who := execution(t, example(t, name))
		for _, action := range withBoundary {
			for _, b := range []string{boundary, below + "bank", below + "my-" + team, below + team + "-2", "arn:aws:iam::" + account + ":policy/" + team} {
				if got, err := who.May(iam.Request{Action: "iam:" + action, Resource: roles + team + "/x", Context: with("iam:PermissionsBoundary", b)}); err != nil || got == iam.Allowed {
					t.Errorf("%s: %s of a role with the boundary %s is %s (%v)", name, action, b, got, err)
				}
			}
			if got, err := who.May(iam.Request{Action: "iam:" + action, Resource: roles + team + "/x"}); err != nil || got == iam.Allowed {
				t.Errorf("%s: %s of a role without a boundary is %s (%v)", name, action, got, err)
			}
			try(t, who, []attempt{{name, iam.Request{Action: "iam:" + action, Resource: roles + team + "/x", Context: with("iam:PermissionsBoundary", below+team)}, iam.Allowed}})
		}
	}
}

// A role that a project creates has nothing of another team, no role that was there before, and nothing of Stackwright, whatever
// policies it has: roles.json, the example of its boundary, allows what is the team's own.
func TestRolesOfExamples(t *testing.T) {
	all := slices.Concat(onTheInstallation(), forMorePermissions(), onEverybody(), onStacks(iam.Denied), asStackwright(), []attempt{nestedStack(iam.Denied)})
	for _, r := range []iam.Request{
		{Action: "secretsmanager:GetSecretValue", Resource: arn("secretsmanager", "secret:bank/db-abcdef")}, {Action: "ssm:GetParameter", Resource: arn("ssm", "parameter/bank/key")},
		{Action: "s3:GetObject", Resource: "arn:aws:s3:::bank-files/x"}, {Action: "s3:DeleteObject", Resource: "arn:aws:s3:::bank-files/x"}, {Action: "dynamodb:DeleteTable", Resource: arn("dynamodb", "table/bank-orders")},
		{Action: "sqs:DeleteQueue", Resource: arn("sqs", "bank-orders")}, {Action: "lambda:UpdateFunctionCode", Resource: arn("lambda", "function:bank-api")}, {Action: "states:UpdateStateMachine", Resource: arn("states", "stateMachine:bank-pay")},
		{Action: "events:PutRule", Resource: arn("events", "rule/all")}, {Action: "events:PutEvents", Resource: arn("events", "event-bus/default")}, {Action: "logs:GetLogEvents", Resource: arn("logs", "log-group:/aws/lambda/bank-api:log-stream:x")},
		{Action: "sts:AssumeRole", Resource: roles + "bank/api"}, {Action: "sts:AssumeRole", Resource: roles + "admin"}, {Action: "iam:PassRole", Resource: roles + "bank/api", Context: with("iam:PassedToService", "lambda.amazonaws.com")},
		{Action: "iam:PassRole", Resource: roles + "admin", Context: with("iam:PassedToService", "lambda.amazonaws.com")}, {Action: "cloudformation:CreateStack", Resource: arn("cloudformation", "stack/bank-prod-db/1")},
		{Action: "cloudformation:UpdateStack", Resource: arn("cloudformation", "stack/legacy/1")}, {Action: "kms:ScheduleKeyDeletion", Resource: arn("kms", "key/1")}, {Action: "kms:Decrypt", Resource: arn("kms", "key/1")},
		{Action: "ec2:TerminateInstances", Resource: arn("ec2", "instance/i-1")}, {Action: "ssm:SendCommand", Resource: arn("ec2", "instance/i-1")}, {Action: "codebuild:StartBuild", Resource: arn("codebuild", "project/release")},
		{Action: "glue:UpdateJob", Resource: arn("glue", "job/bank")}, {Action: "ecs:ExecuteCommand", Resource: arn("ecs", "task/bank/1")},
	} {
		all = append(all, attempt{"use what is not the team's", r, iam.Denied})
	}
	for _, team := range []string{"sandbox", "shop"} {
		who, limit := made(t), parsed(t, exampleOf(t, "roles", team))
		who.ARN, who.Boundary = roles+team+"/evil", &limit
		for _, a := range all {
			if got, err := who.May(a.Request); a.want == iam.Denied && (err != nil || got == iam.Allowed) {
				t.Errorf("%s: %s: %s of %s is %s (%v)", team, a.name, a.Action, a.Resource, got, err)
			}
		}
		for _, action := range withBoundary {
			r := iam.Request{Action: "iam:" + action, Resource: roles + team + "/x", Context: with("iam:PermissionsBoundary", "arn:aws:iam::"+account+":policy/stackwright/roles/"+team)}
			try(t, who, []attempt{{"create a role or change one", r, iam.Implicit}})
		}
		try(t, who, []attempt{
			{"read an object", iam.Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::" + team + "-files/x"}, iam.Allowed},
			{"write an item", iam.Request{Action: "dynamodb:PutItem", Resource: arn("dynamodb", "table/"+team+"-orders")}, iam.Allowed},
			{"put an event", iam.Request{Action: "events:PutEvents", Resource: arn("events", "event-bus/"+team+"-orders")}, iam.Allowed},
			{"read a secret", iam.Request{Action: "secretsmanager:GetSecretValue", Resource: arn("secretsmanager", "secret:"+team+"/db-abcdef")}, iam.Allowed},
			{"write a log", iam.Request{Action: "logs:PutLogEvents", Resource: arn("logs", "log-group:/aws/lambda/"+team+"-api:log-stream:x")}, iam.Allowed},
			{"send a trace", iam.Request{Action: "xray:PutTraceSegments", Resource: "*"}, iam.Allowed},
		})
	}
}

// A boundary is a managed policy, which has room for 6,144 letters, also with the longest names.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
func TestBoundaryFits(t *testing.T) {
	stack := strings.Repeat("a", 32)
	all, err := written(map[string]any{"stack": stack, "executionPolicies": "AdministratorAccess", "customerKey": true})
	if err != nil {
		t.Fatal(err)
	}
	document := os.Expand(all.at("Boundary", "PolicyDocument"), func(word string) string {
		switch word {
		case "AWS::Partition":
			return "aws"
		case "AWS::AccountId":
			return account
		case "AWS::Region":
			return "ap-southeast-1"
		case "HttpApi":
			return "api1234567"
		}
		return strings.Repeat("x", len("arn:aws:dynamodb:ap-southeast-1:000000000000:table/-Table-ABCDEFGHIJKL")+len(stack))
	})
	if n := len(regexp.MustCompile(`\s`).ReplaceAllString(document, "")); n > 6144 {
		t.Errorf("the boundary has %d letters", n)
	} else {
		t.Logf("the boundary has %d letters of 6144", n)
	}
}

// target is a resource of a template in the folder target, with the parameters that a target of this installation has, and more.
func target(t *testing.T, file, resource string, into any, more ...map[string]string) {
	t.Helper()
	body, err := os.ReadFile("target/" + file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := cfn.Parse(file, body)
	if err != nil {
		t.Fatal(err)
	}
	parameters := parsed.Defaults()
	for name, value := range map[string]string{
		"ExternalId": "sw-0", "Bucket": "stackwright-bucket", "ExecutionPolicies": "arn:aws:iam::aws:policy/AdministratorAccess", "For": "team", "Projects": "team-*",
		"Principals": placed(text(the(t, plain).Outputs["TargetPrincipals"].Value)),
	} {
		parameters[name] = value
	}
	for _, m := range more {
		maps.Copy(parameters, m)
	}
	e := parsed.In(cfn.Scope{
		Parameters: parameters, StackName: "stackwright-target", StackID: "arn:aws:cloudformation:" + region + ":" + there + ":stack/stackwright-target/1", AccountID: there, Region: region,
		GetAtt: func(resource, _ string) (any, bool) {
			return "arn:aws:iam::" + there + ":role/stackwright/stackwright-" + strings.ToLower(resource), true
		},
	})
	for _, r := range e.Resources() {
		if r.Name == resource {
			v, err := e.Value(r.Properties)
			if err == nil {
				body, err = json.Marshal(v)
			}
			if err == nil {
				err = json.Unmarshal(body, into)
			}
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%s has no resource %s", file, resource)
}

// A targetRole is a role of a target as IAM has it.
type targetRole struct {
	AssumeRolePolicyDocument iam.Policy
	Policies                 []struct{ PolicyDocument iam.Policy }
}

// A target trusts the roles of plan, execute-step and wait-status, and no other role of the installation's account: not one with a
// similar name, not the other functions, not people.
func TestTargetTrustsThreeRoles(t *testing.T) {
	var r targetRole
	target(t, "account.yaml", "Orchestrator", &r)
	for who, want := range map[string]iam.Answer{
		"stackwright/stackwright-" + region + "-plan": iam.Allowed, "stackwright/stackwright-" + region + "-execute-step": iam.Allowed,
		"stackwright/stackwright-" + region + "-wait-status": iam.Allowed, "stackwright/stackwright-" + region + "-start": iam.Implicit,
		"stackwright/stackwright-" + region + "-execution": iam.Implicit, "stackwright/stackwright-evil": iam.Implicit, "admin": iam.Implicit,
		"stackwright-" + region + "-plan": iam.Implicit,
	} {
		request := iam.Request{Principal: roles + who, Action: "sts:AssumeRole", Context: with("sts:ExternalId", "sw-0")}
		if got, err := r.AssumeRolePolicyDocument.Trusts(request); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", who, got, err, want)
		}
		request.Context = with("sts:ExternalId", "sw-1")
		if got, err := r.AssumeRolePolicyDocument.Trusts(request); err != nil || got != iam.Implicit {
			t.Errorf("%s with another external ID: %s, %v", who, got, err)
		}
	}
}

// The role that only reads trusts the function api, and no other role of the installation's account.
func TestTargetIsReadByOneRole(t *testing.T) {
	var r targetRole
	target(t, "account.yaml", "ReaderRole", &r, map[string]string{"Reader": placed(text(the(t, plain).Outputs["TargetReader"].Value))})
	for who, want := range map[string]iam.Answer{
		"stackwright/stackwright-" + region + "-api": iam.Allowed, "stackwright/stackwright-" + region + "-plan": iam.Implicit, "stackwright/stackwright-" + region + "-start": iam.Implicit,
		"stackwright/stackwright-evil-api": iam.Implicit, "admin": iam.Implicit, "stackwright-" + region + "-api": iam.Implicit,
	} {
		request := iam.Request{Principal: roles + who, Action: "sts:AssumeRole", Context: with("sts:ExternalId", "sw-0")}
		if got, err := r.AssumeRolePolicyDocument.Trusts(request); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", who, got, err, want)
		}
		request.Context = with("sts:ExternalId", "sw-1")
		if got, err := r.AssumeRolePolicyDocument.Trusts(request); err != nil || got != iam.Implicit {
			t.Errorf("%s with another external ID: %s, %v", who, got, err)
		}
	}
	for _, s := range r.Policies[0].PolicyDocument.Statement {
		if want := (iam.List[string]{"cloudformation:DescribeStackEvents", "cloudformation:ListStackResources"}); !slices.Equal(s.Action, want) {
			t.Errorf("it may %s", s.Action)
		}
	}
}

// In a target, the same is denied as in the installation's own account.
func TestBoundaryOfTargets(t *testing.T) {
	var limit struct{ PolicyDocument iam.Policy }
	target(t, "account.yaml", "Boundary", &limit)
	home := parsed(t, placed(the(t, plain).at("Boundary", "PolicyDocument")))
	inTarget := func(s iam.Statement) string {
		s.Sid = ""
		body, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer("::"+account+":role", "::"+there+":role", "::"+account+":policy/stackwright/roles/", "::"+there+":policy/stackwright/roles/", boundary, "arn:aws:iam::"+there+":policy/stackwright/stackwright-boundary").Replace(string(body))
	}
	has := make(map[string]bool)
	for _, s := range limit.PolicyDocument.Statement {
		has[inTarget(s)] = true
	}
	shared := home.Statement[len(home.Statement)-len(limits):]
	for _, s := range shared {
		if !has[inTarget(s)] {
			t.Errorf("the boundary in target/account.yaml has no statement\n%s", inTarget(s))
		}
	}
	if len(limit.PolicyDocument.Statement) != len(shared)+1 {
		t.Errorf("it has %d statements, want those %d and one about its own stack", len(limit.PolicyDocument.Statement), len(shared))
	}
	for _, file := range []string{"account.yaml", "execution.yaml"} {
		var r targetRole
		target(t, file, "Execution", &r)
		who := iam.Identity{ARN: "arn:aws:iam::" + there + ":role/stackwright/stackwright-execution", Policies: []iam.Policy{parsed(t, administrator)}, Boundary: &limit.PolicyDocument}
		if file == "execution.yaml" {
			who.ARN += "-team"
		}
		for _, p := range r.Policies {
			who.Policies = append(who.Policies, p.PolicyDocument)
		}
		other := map[string]string{"account.yaml": "stackwright-execution-team", "execution.yaml": "stackwright-execution"}[file]
		toCloudFormation, in := with("iam:PassedToService", "cloudformation.amazonaws.com"), "arn:aws:iam::"+there+":role/"
		try(t, who, []attempt{
			{"change the trust of the orchestrator", iam.Request{Action: "iam:UpdateAssumeRolePolicy", Resource: in + "stackwright/stackwright-orchestrator"}, iam.Denied},
			{"assume the orchestrator", iam.Request{Action: "sts:AssumeRole", Resource: in + "stackwright/stackwright-orchestrator"}, iam.Denied},
			{"create a role without the boundary", iam.Request{Action: "iam:CreateRole", Resource: in + "evil"}, iam.Denied},
			{"disable the rule that forwards events", iam.Request{Action: "events:DisableRule", Resource: "arn:aws:events:eu-south-2:" + there + ":rule/stackwright"}, iam.Denied},
			{"change the rule that forwards events", iam.Request{Action: "events:PutRule", Resource: "arn:aws:events:eu-south-2:" + there + ":rule/stackwright"}, iam.Denied},
			{"remove its target", iam.Request{Action: "events:RemoveTargets", Resource: "arn:aws:events:eu-south-2:" + there + ":rule/stackwright"}, iam.Denied},
			{"delete the stack of the rule", iam.Request{Action: "cloudformation:DeleteStack", Resource: "arn:aws:cloudformation:eu-south-2:" + there + ":stack/stackwright-target-region/1"}, iam.Denied},
			{"delete the stack of the rule, which a stack set has created", iam.Request{Action: "cloudformation:DeleteStack", Resource: "arn:aws:cloudformation:eu-south-2:" + there + ":stack/StackSet-stackwright-target-region-1/1"}, iam.Denied},
			{"delete the stack of an execution role", iam.Request{Action: "cloudformation:DeleteStack", Resource: "arn:aws:cloudformation:" + region + ":" + there + ":stack/stackwright-for-shop/1"}, iam.Denied},
			{"change the stack of the target", iam.Request{Action: "cloudformation:UpdateStack", Resource: "arn:aws:cloudformation:" + region + ":" + there + ":stack/stackwright-target/1"}, iam.Denied},
			{"pass another execution role", iam.Request{Action: "iam:PassRole", Resource: in + "stackwright/" + other, Context: toCloudFormation}, iam.Denied},
			{"make a nested stack", iam.Request{Action: "iam:PassRole", Resource: who.ARN, Context: toCloudFormation}, iam.Allowed},
			{"make a bucket", iam.Request{Action: "s3:CreateBucket", Resource: "arn:aws:s3:::x"}, iam.Allowed},
		})
	}
}

// Nobody takes over a stack that the owner of the account has not named: its template cannot be read, so nobody sees it or its outputs.
func TestOnlyNamedStacksAreRead(t *testing.T) {
	for adoptable, want := range map[string]iam.Answer{"": iam.Implicit, "legacy-*": iam.Allowed} {
		var orchestrator targetRole
		target(t, "account.yaml", "Orchestrator", &orchestrator, map[string]string{"Adoptable": adoptable})
		inTarget := iam.Identity{ARN: "orchestrator"}
		for _, p := range orchestrator.Policies {
			inTarget.Policies = append(inTarget.Policies, p.PolicyDocument)
		}
		all := map[string]func() (template, error){"": plain, "legacy-*": full}[adoptable]
		for in, who := range map[string]iam.Identity{there: inTarget, account: {ARN: "plan", Policies: policies(t, the(t, all), "PlanRole")}} {
			read := func(stack string, context ...string) iam.Request {
				return iam.Request{Action: "cloudformation:GetTemplate", Resource: "arn:aws:cloudformation:eu-west-1:" + in + ":stack/" + stack + "/1", Context: with(context...)}
			}
			try(t, who, []attempt{
				{"a stack that is named", read("legacy-db"), want},
				{"a stack of another team", read("bank-db"), iam.Implicit},
				{"the installation", read("stackwright"), iam.Implicit},
				{"a stack of Stackwright", read("shop-db", "aws:ResourceTag/stackwright:project", "shop@prod"), iam.Allowed},
			})
		}
	}
}

// The owner of an account says which stacks without the tag projects may take over. The first update gives them the tag, so a
// request without it is refused, and so is one for a stack that has the tag of a project already. Nothing else is allowed before.
func TestOnlyNamedStacksAreAdopted(t *testing.T) {
	var orchestrator targetRole
	target(t, "account.yaml", "Orchestrator", &orchestrator, map[string]string{"Adoptable": "legacy-*"})
	inTarget := iam.Identity{ARN: "orchestrator"}
	for _, p := range orchestrator.Policies {
		inTarget.Policies = append(inTarget.Policies, p.PolicyDocument)
	}
	for _, c := range []struct {
		who           iam.Identity
		account, role string
	}{
		{iam.Identity{ARN: "execute-step", Policies: policies(t, the(t, full), "ExecuteStepRole")}, account, roles + "stackwright/stackwright-test-" + region + "-execution"},
		{iam.Identity{ARN: "wait-status", Policies: policies(t, the(t, full), "WaitStatusRole")}, account, roles + "stackwright/stackwright-test-" + region + "-execution"},
		{inTarget, there, "arn:aws:iam::" + there + ":role/stackwright/stackwright-execution"},
	} {
		on := func(stack string) string {
			return "arn:aws:cloudformation:eu-west-1:" + c.account + ":stack/" + stack + "/1"
		}
		const tag, requested = "aws:ResourceTag/stackwright:project", "aws:RequestTag/stackwright:project"
		update := func(stack string, context ...string) iam.Request {
			return iam.Request{Action: "cloudformation:UpdateStack", Resource: on(stack), Context: with(context...)}
		}
		try(t, c.who, []attempt{
			{"the first update", update("legacy-db", "cloudformation:RoleArn", c.role, requested, "shop@prod"), iam.Allowed},
			{"its tags", iam.Request{Action: "cloudformation:TagResource", Resource: on("legacy-db"), Context: with(requested, "shop@prod")}, iam.Allowed},
			{"an update without the tag", update("legacy-db", "cloudformation:RoleArn", c.role), iam.Implicit},
			{"an update without an execution role", update("legacy-db", requested, "shop@prod"), iam.Implicit},
			{"an update with another role", update("legacy-db", "cloudformation:RoleArn", "arn:aws:iam::"+c.account+":role/admin", requested, "shop@prod"), iam.Implicit},
			{"a stack that is not named", update("CDKToolkit", "cloudformation:RoleArn", c.role, requested, "shop@prod"), iam.Implicit},
		})
		for _, action := range []string{"CancelUpdateStack", "ContinueUpdateRollback", "DeleteStack", "SetStackPolicy", "UntagResource", "UpdateTerminationProtection"} {
			try(t, c.who, []attempt{{"before the first update", iam.Request{Action: "cloudformation:" + action, Resource: on("legacy-db"), Context: with("cloudformation:RoleArn", c.role)}, iam.Implicit}})
		}
		// The statement does not say anything about a stack that has the tag; the one for such stacks does, for any name.
		for _, p := range c.who.Policies {
			for _, s := range p.Statement {
				alone := iam.Identity{ARN: c.who.ARN, Policies: []iam.Policy{{Statement: iam.List[iam.Statement]{s}}}}
				without, err := alone.May(update("legacy-db", "cloudformation:RoleArn", c.role, requested, "shop@prod"))
				if err != nil {
					t.Fatal(err)
				}
				with, err := alone.May(update("legacy-db", "cloudformation:RoleArn", c.role, requested, "shop@prod", tag, "other@prod"))
				if err != nil {
					t.Fatal(err)
				}
				if without == iam.Allowed && with == iam.Allowed {
					t.Errorf("%s: a statement for stacks without the tag is also for those that have it: %+v", c.who.ARN, s)
				}
			}
		}
	}
}

// No function changes a stack that Stackwright has not created: it has no tag. A tag with any value is enough here; which project a
// stack belongs to is decided by its record (TestForgedTag in infra/stackwright).
func TestOnlyTaggedStacks(t *testing.T) {
	role := roles + "stackwright/stackwright-" + region + "-execution"
	var orchestrator targetRole
	target(t, "account.yaml", "Orchestrator", &orchestrator)
	inTarget := iam.Identity{ARN: "orchestrator"}
	for _, p := range orchestrator.Policies {
		inTarget.Policies = append(inTarget.Policies, p.PolicyDocument)
	}
	atHome := iam.Identity{ARN: "wait-status", Policies: policies(t, the(t, plain), "WaitStatusRole")}
	for _, who := range []iam.Identity{atHome, inTarget} {
		stack := "arn:aws:cloudformation:eu-west-1:" + account + ":stack/any/1"
		if who.ARN == inTarget.ARN {
			stack, role = strings.ReplaceAll(stack, account, there), "arn:aws:iam::"+there+":role/stackwright/stackwright-execution"
		}
		for _, action := range []string{"CancelUpdateStack", "ContinueUpdateRollback", "CreateStackRefactor", "DeleteStack", "ExecuteStackRefactor", "SetStackPolicy", "TagResource", "UntagResource", "UpdateStack", "UpdateTerminationProtection"} {
			try(t, who, []attempt{
				{"without the tag", iam.Request{Action: "cloudformation:" + action, Resource: stack, Context: with("cloudformation:RoleArn", role)}, iam.Implicit},
				{"with the tag", iam.Request{Action: "cloudformation:" + action, Resource: stack, Context: with("cloudformation:RoleArn", role, "aws:ResourceTag/stackwright:project", "shop@prod")}, iam.Allowed},
			})
		}
		ours, theirs := with("cloudformation:RoleArn", role, "aws:ResourceTag/stackwright:project", "shop@prod", "cloudformation:ChangeSetName", "sw-run-0-1"),
			with("cloudformation:RoleArn", role, "aws:ResourceTag/stackwright:project", "shop@prod", "cloudformation:ChangeSetName", "release")
		try(t, who, []attempt{
			{"create our change set", iam.Request{Action: "cloudformation:CreateChangeSet", Resource: stack, Context: ours}, iam.Allowed},
			{"delete our change set", iam.Request{Action: "cloudformation:DeleteChangeSet", Resource: stack, Context: ours}, iam.Allowed},
			{"create a change set of another name", iam.Request{Action: "cloudformation:CreateChangeSet", Resource: stack, Context: theirs}, iam.Implicit},
			{"delete the change set of somebody else", iam.Request{Action: "cloudformation:DeleteChangeSet", Resource: stack, Context: theirs}, iam.Implicit},
			{"create a change set without the tag", iam.Request{Action: "cloudformation:CreateChangeSet", Resource: stack, Context: with("cloudformation:RoleArn", role, "cloudformation:ChangeSetName", "sw-run-0-1")}, iam.Implicit},
			{"execute our change set, of an import", iam.Request{Action: "cloudformation:ExecuteChangeSet", Resource: stack, Context: ours}, iam.Allowed},
			{"execute the change set of somebody else", iam.Request{Action: "cloudformation:ExecuteChangeSet", Resource: stack, Context: theirs}, iam.Implicit},
		})
		untagged := with("cloudformation:RoleArn", role, "cloudformation:ChangeSetName", "sw-run-0-1", "cloudformation:ImportResourceTypes", "AWS::S3::Bucket", "aws:RequestTag/stackwright:project", "shop@prod")
		try(t, who, []attempt{ // an import that would create a stack
			{"create a stack with a change set", iam.Request{Action: "cloudformation:CreateChangeSet", Resource: stack, Context: untagged}, iam.Implicit},
			{"execute a change set of a stack without the tag", iam.Request{Action: "cloudformation:ExecuteChangeSet", Resource: stack, Context: untagged}, iam.Implicit},
			{"delete a change set of a stack without the tag", iam.Request{Action: "cloudformation:DeleteChangeSet", Resource: stack, Context: untagged}, iam.Implicit},
		})
		try(t, who, []attempt{
			{"create a stack", iam.Request{Action: "cloudformation:CreateStack", Resource: stack, Context: with("cloudformation:RoleArn", role)}, iam.Allowed},
			{"create a stack without an execution role", iam.Request{Action: "cloudformation:CreateStack", Resource: stack}, iam.Implicit},
			{"tag a new stack", iam.Request{Action: "cloudformation:TagResource", Resource: stack, Context: with("aws:RequestTag/stackwright:project", "shop@prod")}, iam.Allowed},
		})
	}
}

// An execution role besides that of the installation can be used, and no role of another name.
func TestSeveralExecutionRoles(t *testing.T) {
	toCloudFormation := with("iam:PassedToService", "cloudformation.amazonaws.com")
	own := func(name string) string { return roles + "stackwright/stackwright-" + region + "-" + name }
	var orchestrator targetRole
	target(t, "account.yaml", "Orchestrator", &orchestrator)
	inTarget := iam.Identity{ARN: "arn:aws:iam::" + there + ":role/stackwright/stackwright-orchestrator"}
	for _, p := range orchestrator.Policies {
		inTarget.Policies = append(inTarget.Policies, p.PolicyDocument)
	}
	stack := "arn:aws:cloudformation:eu-west-1:" + account + ":stack/shop-db/*"
	for _, c := range []struct {
		who  iam.Identity
		role string
		want iam.Answer
	}{
		{iam.Identity{ARN: own("execute-step"), Policies: policies(t, the(t, plain), "ExecuteStepRole")}, own("execution"), iam.Allowed},
		{iam.Identity{ARN: own("execute-step"), Policies: policies(t, the(t, plain), "ExecuteStepRole")}, own("execution-team"), iam.Allowed},
		{iam.Identity{ARN: own("wait-status"), Policies: policies(t, the(t, plain), "WaitStatusRole")}, own("execution-team"), iam.Allowed},
		{iam.Identity{ARN: own("execute-step"), Policies: policies(t, the(t, plain), "ExecuteStepRole")}, own("machine"), iam.Implicit},
		{iam.Identity{ARN: own("execute-step"), Policies: policies(t, the(t, plain), "ExecuteStepRole")}, roles + "stackwright-" + region + "-execution-team", iam.Implicit},
		{inTarget, "arn:aws:iam::" + there + ":role/stackwright/stackwright-execution", iam.Allowed},
		{inTarget, "arn:aws:iam::" + there + ":role/stackwright/stackwright-execution-team", iam.Allowed},
		{inTarget, "arn:aws:iam::" + there + ":role/admin", iam.Implicit},
	} {
		on := stack
		if c.who.ARN == inTarget.ARN {
			on = strings.ReplaceAll(stack, account, there)
		}
		try(t, c.who, []attempt{
			{"pass it", iam.Request{Action: "iam:PassRole", Resource: c.role, Context: toCloudFormation}, c.want},
			{"create a stack with it", iam.Request{Action: "cloudformation:CreateStack", Resource: on, Context: with("cloudformation:RoleArn", c.role)}, c.want},
		})
	}
}
