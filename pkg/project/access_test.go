package project_test

import (
	"slices"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// A target that is registered can be worked in, as far as anybody can tell.
func TestAccess(t *testing.T) {
	home := project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}
	const role = "arn:aws:iam::111111111111:role/path/stackwright"
	at := func(name, account, region string) project.Target {
		return project.Target{Name: name, Account: account, Region: region}
	}
	for _, c := range []struct {
		access project.Access
		wrong  []string
	}{
		{project.Access{Target: at("eu", "111111111111", "eu-west-1"), Role: role, Execution: role}, nil},
		{project.Access{Target: at("near", "000000000000", "us-gov-west-1")}, nil},
		{project.Access{Target: at("default", "000000000000", "us-west-2")}, []string{"target default is the installation's own account and region, which need not be registered: give this one another name"}},
		{project.Access{Target: at("e@u", "1", "Europe")}, []string{
			`"e@u" cannot be the name of a target: a letter, then letters, digits and hyphens, 64 at most`,
			`account "1": twelve digits are wanted`, `region "Europe": one such as eu-west-1 is wanted`,
			"account 1 is not the installation's own: give the ARN of the role that is to be assumed there",
		}},
		{project.Access{Target: at("us", "222222222222", "us-west-2"), Role: role, Execution: "admin"}, []string{
			"role " + role + " is of another account than 222222222222",
			`role "admin": the ARN of a role is wanted, such as arn:aws:iam::222222222222:role/stackwright/stackwright-orchestrator`,
		}},
	} {
		err := c.access.Check(home)
		if got := fault.Messages(err); !slices.Equal(got, c.wrong) || len(got) > 0 && !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %q", c.access, got)
		}
	}
}
