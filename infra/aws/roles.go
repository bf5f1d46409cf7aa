package main

import (
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
				filled[operator] = make(map[string]string)
				for key, value := range keys {
					filled[operator][key] = i.fill(value)
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

// addExecutionRole makes the role with which CloudFormation creates the resources of projects in the own account. Their
// permissions are not known in advance, so by default the role may do what an administrator may; the setting
// executionPolicies restricts it. Whatever the policies allow, the role cannot change the installation. That prevents
// mistakes of projects; a project that may create roles may create one with more permissions.
func (i *installation) addExecutionRole() {
	role := i.addRole("execution", "cloudformation.amazonaws.com", oursIfSaid(), i.untouchable())
	for _, policy := range i.settings.policies {
		arn := i.fill(policy)
		role.AddManagedPolicy(awsiam.ManagedPolicy_FromManagedPolicyArn(i.Stack, jsii.String("Allowed "+policy), jsii.String(arn)))
	}
	i.output("ExecutionRoleArn", *role.RoleArn(), "The role that CloudFormation uses in this account")
	if len(i.settings.projects) > 0 {
		i.output("Projects", i.settings.projects.String(), "The projects that may use the target default")
	}
}

// untouchable is what no project may do to the installation. Reading templates and using the key are allowed: they do
// no harm.
func (i *installation) untouchable() []permission {
	const why = "no project touches the installation"
	all := []permission{
		{Do: []string{"*"}, On: i.own(), Deny: true, Why: why},
		{Do: []string{"s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutObject"}, On: []string{"${Bucket}/templates/*"}, Deny: true, Why: why},
		{But: []string{"iam:PassRole"}, On: []string{"${Execution}"}, Deny: true, Why: why},
		{
			Do: []string{"iam:PassRole"}, On: []string{"${Execution}"},
			If:  conditions{"StringEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}},
			Why: "CloudFormation makes a nested stack with the role of the stack around it, and asks in that role's name",
		},
	}
	if i.settings.key {
		all = append(all, permission{
			Do: []string{"kms:CreateGrant", "kms:DisableKey", "kms:PutKeyPolicy", "kms:ScheduleKeyDeletion"}, On: []string{"${Key}"},
			Deny: true, Why: why,
		})
	}
	return all
}

// own lists the parts of the installation that a project could damage.
func (i *installation) own() []string {
	all := []string{
		"${Self}", "${Table}", "${Table}/*", "${Machine}", "${Executions}:*", "${ScheduleRole}", i.role("machine"),
		"${Bucket}", "${Bucket}/plans/*", "${Bucket}/projects/*", "${Bucket}/requests/*", "${Bucket}/revisions/*", "${Bucket}/specs/*",
		"${Schedules}/*", i.named("scheduler", "schedule-group/"+i.settings.stack), i.named("sns", i.settings.stack),
	}
	for _, f := range i.names {
		all = append(all, "${Function "+f+"}", "${Function "+f+"}:*", "${Logs "+f+"}:*", i.role(f))
	}
	for _, f := range withEvents {
		all = append(all, "${Dead "+f+"}")
	}
	for _, r := range rules {
		all = append(all, i.named("events", "rule/"+i.settings.stack+"-"+r))
	}
	return all
}
