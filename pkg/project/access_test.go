package project_test

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Check refuses targets that cannot be used.
func TestAccess(t *testing.T) {
	reach := project.Reach{Home: project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}, Stack: "sw", Accounts: []string{"111111111111"}}
	const role = "arn:aws:iam::111111111111:role/stackwright/sw-orchestrator"
	const own = "arn:aws:iam::000000000000:role/stackwright/sw-us-east-1-execution"
	at := func(name, account, region string) project.Target {
		return project.Target{Name: name, Account: account, Region: region}
	}
	all := project.Grants{"*@*"}
	for _, c := range []struct {
		access project.Access
		wrong  []string
	}{
		{project.Access{Target: at("eu", "111111111111", "eu-west-1"), Role: role, Execution: role, Projects: all}, nil},
		{project.Access{Target: at("near", "000000000000", "us-west-2"), Execution: own, Projects: all}, nil},
		{project.Access{Target: at("team", "000000000000", "us-east-1"), Execution: own + "-team", Projects: all}, nil},
		{project.Access{Target: at("team", "000000000000", "us-east-1"), Execution: own + "er", Projects: all}, []string{
			"execution role " + own + "er: the installation may pass only the role role/stackwright/sw-us-east-1-execution and roles whose names continue with a hyphen: create it with infra/aws/target/execution.yaml and Name=sw-us-east-1",
		}},
		{project.Access{Target: at("team", "000000000000", "us-east-1"), Execution: "arn:aws:iam::000000000000:role/team", Projects: all}, []string{
			"execution role arn:aws:iam::000000000000:role/team: the installation may pass only the role role/stackwright/sw-us-east-1-execution and roles whose names continue with a hyphen: create it with infra/aws/target/execution.yaml and Name=sw-us-east-1",
		}},
		{project.Access{Target: at("gov", "000000000000", "us-gov-west-1"), Projects: all}, []string{"region us-gov-west-1 is in another partition of AWS than the installation, which is in us-east-1: install Stackwright there too"}},
		{project.Access{Target: at("eu", "111111111111", "eu-west-1"), Role: "arn:aws:iam::111111111111:role/admin", Execution: role, Projects: all}, []string{
			"role arn:aws:iam::111111111111:role/admin: the installation may assume only roles whose ARN continues with role/stackwright/sw-: create it with infra/aws/target/account.yaml and Name=sw",
		}},
		{project.Access{Target: at("eu", "333333333333", "eu-west-1"), Role: "arn:aws:iam::333333333333:role/stackwright/sw-orchestrator", Execution: "arn:aws:iam::333333333333:role/x", Projects: all}, []string{
			"the installation may not assume roles of account 333333333333: add 333333333333 to its setting targetAccounts, deploy the installation, and register the target then",
		}},
		{project.Access{Target: at("eu", "111111111111", "eu-west-1"), Role: role, Projects: all}, []string{
			"role " + role + " may change stacks only with an execution role: give its ARN with --execution-role; the output ExecutionRole of infra/aws/target/account.yaml has it",
		}},
		{project.Access{Target: at("default", "000000000000", "us-west-2"), Projects: all}, []string{"target default is the installation's own account and region and is registered already: use another name; the setting projects of the installation says which projects may use it"}},
		{project.Access{Target: at("near", "000000000000", "us-west-2")}, []string{"no project may use target near: name those that may with --projects, such as 'shop@prod,team-*@*', or '*@*' for all"}},
		{project.Access{Target: at("near", "000000000000", "us-west-2"), Projects: project.Grants{"shop"}}, []string{"projects: shop has no environment: write shop@default for that environment, or shop@* for all"}},
		{project.Access{Target: at("e@u", "1", "Europe"), Projects: all}, []string{
			`"e@u" is not a valid name of a target: use letters, digits and hyphens, at most 64, beginning with a letter`,
			`account "1": write the twelve digits of its ID`, `there is no AWS region "Europe": write one such as eu-west-1`,
			"account 1 is not the installation's own: give the ARN of the role to assume there with --role",
		}},
		{project.Access{Target: at("us", "222222222222", "us-west-2"), Role: role, Execution: "admin", Projects: all}, []string{
			"role " + role + " is not in account 222222222222",
			`role "admin": write the ARN of a role, such as arn:aws:iam::222222222222:role/stackwright/stackwright-orchestrator`,
		}},
	} {
		err := c.access.Check(reach)
		if got := fault.Messages(err); !slices.Equal(got, c.wrong) || len(got) > 0 && !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %q", c.access, got)
		}
	}
}
