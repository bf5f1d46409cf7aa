package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// addRole makes the role of a service. Its permissions are those in permissions, and no construct adds others.
func (i *installation) addRole(name, service string, only conditions, permissions []permission) awsiam.Role {
	trusted := &awsiam.ServicePrincipalOpts{}
	if only != nil {
		trusted.Conditions = operators(only)
	}
	role := awsiam.NewRole(i.Stack, jsii.String(title(name)+"Role"), &awsiam.RoleProps{
		RoleName:       jsii.String(i.roleName(name)),
		Path:           jsii.String(path),
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String(service), trusted),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"permissions": i.document(permissions)},
	})
	called(role, title(name)+"Role")
	return role
}

// addPolicy makes a managed policy below the path of the installation, which no project can change.
func (i *installation) addPolicy(name, why string, permissions []permission) awsiam.ManagedPolicy {
	policy := awsiam.NewManagedPolicy(i.Stack, jsii.String(title(name)), &awsiam.ManagedPolicyProps{
		ManagedPolicyName: jsii.String(i.roleName(name)),
		Path:              jsii.String(path),
		Description:       jsii.String(why),
		Document:          i.document(permissions),
	})
	called(policy, title(name))
	return policy
}

// ours requires that a service acts for this account, and not for another one (confused deputy).
// https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
func ours() conditions {
	return conditions{"StringEquals": {"aws:SourceAccount": *awscdk.Aws_ACCOUNT_ID()}}
}

// oursIfSaid requires the same of a service of which AWS does not document whether it names an account when it assumes a role,
// as CloudFormation with the service role of a stack. Another account is refused, and a missing one is not: only principals of
// this account can pass the role.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
func oursIfSaid() conditions {
	return conditions{"StringEqualsIfExists": ours()["StringEquals"]}
}

// document is a policy.
func (i *installation) document(permissions []permission) awsiam.PolicyDocument {
	var statements []awsiam.PolicyStatement
	for _, p := range permissions {
		p.On = i.filled(p.On)
		if p.If != nil {
			filled := make(conditions)
			for operator, keys := range p.If {
				filled[operator] = make(map[string]any)
				for key, value := range keys {
					filled[operator][key] = i.filledValue(value)
				}
			}
			p.If = filled
		}
		statements = append(statements, statement(p))
	}
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements})
}

// statement is a statement of a policy; in a policy of a resource it names the principal.
func statement(p permission, of ...awsiam.IPrincipal) awsiam.PolicyStatement {
	props := &awsiam.PolicyStatementProps{
		Effect: awsiam.Effect_ALLOW, Actions: jsii.Strings(p.Do...), Resources: jsii.Strings(p.On...),
	}
	if p.But != nil {
		props.Actions, props.NotActions = nil, jsii.Strings(p.But...)
	}
	if p.Deny {
		props.Effect = awsiam.Effect_DENY
	}
	if len(of) > 0 {
		props.Principals = &of
	}
	if p.If != nil {
		props.Conditions = operators(p.If)
	}
	return awsiam.NewPolicyStatement(props)
}

// operators is conditions as CDK takes them.
func operators(c conditions) *map[string]any {
	all := make(map[string]any)
	for operator, keys := range c {
		all[operator] = keys
	}
	return &all
}

// addExecutionRole makes the role with which CloudFormation creates the resources of projects in the own account. The setting
// executionPolicies says what the role may do, and the boundary what it may not do whatever they say.
func (i *installation) addExecutionRole() {
	boundary := i.addBoundary()
	role := i.addRole("execution", "cloudformation.amazonaws.com", oursIfSaid(), append(i.files(), nested...))
	role.Node().AddDependency(boundary)
	role.Node().DefaultChild().(awsiam.CfnRole).SetPermissionsBoundary(jsii.String(i.policy("boundary")))
	i.allow(role, "Allowed", i.settings.policies)
	i.output("ExecutionRoleArn", *role.RoleArn(), "The role that CloudFormation uses in this account")
	i.output("BoundaryArn", i.policy("boundary"), "The permissions boundary that every role of a project in this account must have")
	if len(i.settings.projects) > 0 {
		i.output("Projects", i.settings.projects.String(), "The projects that may use the target default")
	}
}

// allow adds managed policies to a role.
func (i *installation) allow(role awsiam.Role, what string, policies []string) {
	for _, policy := range policies {
		arn := i.fill(policy)
		role.AddManagedPolicy(awsiam.ManagedPolicy_FromManagedPolicyArn(i.Stack, jsii.String(what+" "+policy), jsii.String(arn)))
	}
}

// addPrincipals makes the outputs about targets: what target/account.yaml needs, and what targets add checks.
func (i *installation) addPrincipals() {
	var all []string
	for _, f := range assuming {
		all = append(all, i.role(f))
	}
	if len(i.settings.accounts) > 0 {
		i.output("TargetAccounts", strings.Join(i.settings.accounts, ","), "The other accounts whose roles the installation may assume")
	}
	if i.settings.organization != "" {
		i.output("Organization", i.settings.asks(), "The role with which the accounts of organizational units are listed; own if the functions' own roles may do so")
	}
	i.output("TargetPrincipals", strings.Join(all, ","), "The roles that the orchestrator roles of targets trust")
	i.output("TargetReader", i.role("api"), "The role that the reader roles of targets trust")
}

// files is for the files that templates name: CloudFormation reads nested templates, and has Lambda read code, with this role. All
// projects of the account share it; target/execution.yaml makes roles that read the files of some projects.
func (i *installation) files() []permission {
	const why = "CloudFormation reads nested templates, and has Lambda read code, with this role; files are named by their digests"
	all := []permission{{Do: []string{"s3:GetObject"}, On: []string{"${Bucket}/artifacts/*"}, Why: why}}
	if i.settings.key {
		all = append(all, permission{
			Do: []string{"kms:Decrypt"}, On: []string{"${Key}"},
			If: conditions{"StringEquals": {"kms:ViaService": "s3.${Region}.amazonaws.com"}}, Why: why,
		})
	}
	return all
}

// nested is for nested stacks. The role must not pass those of other projects, which the boundary cannot say, because it is the
// same for all of them.
var nested = []permission{
	{
		Do: []string{"iam:PassRole"}, On: []string{"${Execution}"},
		If:  conditions{"StringEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}},
		Why: "CloudFormation makes a nested stack with the role of the stack around it, and asks in that role's name",
	},
	{Do: []string{"iam:PassRole"}, On: []string{"${Execution}-*"}, Deny: true, Why: "execution roles of other projects"},
}
