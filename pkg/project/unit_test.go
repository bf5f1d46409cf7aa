package project_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Check refuses targets of an organizational unit and cannot be used.
func TestAccessToUnit(t *testing.T) {
	home := project.Target{Name: "default", Account: "000000000000", Region: "us-east-1"}
	reach := project.Reach{Home: home, Stack: "sw", Accounts: []string{}, Units: true}
	const unit, role, execution = "ou-abcd-12345678", "arn:aws:iam::*:role/stackwright/sw-orchestrator", "arn:aws:iam::*:role/stackwright/sw-execution"
	at := func(name, account string) project.Target {
		return project.Target{Name: name, Account: account, Region: "eu-west-1"}
	}
	all := project.Grants{"*@*"}
	for _, c := range []struct {
		access project.Access
		reach  project.Reach
		wrong  []string
	}{
		{project.Access{Target: at("org", ""), Unit: unit, Role: role, Execution: execution, Projects: all, Except: []string{"111111111111"}}, reach, nil},
		{project.Access{Target: at("org", ""), Unit: unit, Role: role, Projects: all}, project.Reach{Home: home, Stack: "sw", Units: true}, nil}, // on a laptop
		{project.Access{Target: at("org", ""), Unit: "ou-ab-1", Role: role, Execution: execution, Projects: all}, reach, []string{
			`unit "ou-ab-1": write the ID of an organizational unit, such as ou-abcd-12345678: aws organizations list-organizational-units-for-parent shows them`,
		}},
		{project.Access{Target: at("org", ""), Unit: "r-abcd", Role: role, Execution: execution, Projects: all}, reach, []string{
			"unit r-abcd is the root of the organization, and has the management account and all others: name a unit, such as ou-abcd-12345678, with --ou",
		}},
		{project.Access{Target: at("org", "111111111111"), Unit: unit, Role: role, Execution: execution, Projects: all}, reach, []string{
			"target org: it is either an account or a unit: leave --account 111111111111 or --ou ou-abcd-12345678 out",
		}},
		{project.Access{Target: at("org", ""), Except: []string{"111111111111"}, Role: role, Execution: execution, Projects: all}, reach, []string{"--except leaves accounts of a unit out: name the unit with --ou"}},
		{project.Access{Target: at("default", ""), Unit: unit, Role: role, Execution: execution, Projects: all}, reach, []string{"target default is the installation's own account and region and is registered already: use another name; the setting projects of the installation says which projects may use it"}},
		{project.Access{Target: at(strings.Repeat("a", 52), ""), Unit: unit, Role: role, Execution: execution, Projects: all}, reach, []string{
			"target " + strings.Repeat("a", 52) + ": the name of a target of an organizational unit has at most 51 letters, because the targets of its accounts are called NAME-ACCOUNT",
		}},
		{project.Access{Target: project.Target{Name: "org", Region: "us-gov-west-1"}, Unit: unit, Except: []string{"1", "111111111111", "111111111111"}}, project.Reach{Home: home, Stack: "sw", Accounts: []string{}}, []string{
			"region us-gov-west-1 is in another partition of AWS than the installation, which is in us-east-1: install Stackwright there too",
			"target org: the role of its accounts is missing: give its ARN with * in place of the account, such as 'arn:aws:iam::*:role/stackwright/sw-orchestrator', with --role",
			"target org: the execution role of its accounts is missing: give its ARN with * in place of the account, such as 'arn:aws:iam::*:role/stackwright/sw-execution', with --execution-role",
			`--except "1": write the twelve digits of the ID of an account`, "--except 111111111111 is given twice: remove one",
			"target org: the installation may not list the accounts of organizational units: set its setting organization, deploy the installation, and register the target then",
			"no project may use target org: name those that may with --projects, such as 'shop@prod,team-*@*', or '*@*' for all",
		}},
		{project.Access{Target: at("org", ""), Unit: unit, Role: "arn:aws:iam::111111111111:role/stackwright/sw-orchestrator", Execution: "admin", Projects: all}, reach, []string{
			`role "arn:aws:iam::111111111111:role/stackwright/sw-orchestrator": the accounts of a unit have roles of the same name: write the ARN with * in place of the account, such as 'arn:aws:iam::*:role/stackwright/sw-orchestrator'`,
			`execution role "admin": the accounts of a unit have roles of the same name: write the ARN with * in place of the account, such as 'arn:aws:iam::*:role/stackwright/sw-execution'`,
		}},
		{project.Access{Target: at("org", ""), Unit: unit, Role: "arn:aws:iam::*:role/admin", Execution: execution, Projects: all}, reach, []string{
			"role arn:aws:iam::*:role/admin: the installation may assume only roles whose ARN continues with role/stackwright/sw-: create it with infra/aws/target/account.yaml and Name=sw",
		}},
	} {
		err := c.access.Check(c.reach)
		if got := fault.Messages(err); !slices.Equal(got, c.wrong) || len(got) > 0 && !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %q", c.access, got)
		}
	}
}

// A target of an organizational unit has a target for each active account that it does not leave out, whose name and roles follow from the account.
func TestMembers(t *testing.T) {
	a := project.Access{
		Target: project.Target{Name: "org", Region: "eu-west-1"}, Unit: "ou-abcd-12345678", Except: []string{"333333333333"}, ExternalID: "sw-1",
		Role: "arn:aws:iam::*:role/stackwright/sw-orchestrator", Execution: "arn:aws:iam::*:role/stackwright/sw-execution", Projects: project.Grants{"shop@*"},
	}
	var all []project.Account
	for id, state := range map[string]project.AccountState{"111111111111": project.AccountActive, "222222222222": project.AccountSuspended, "333333333333": project.AccountActive, "444444444444": project.AccountClosed, "555555555555": "NEW", "666666666666": project.AccountPending} {
		all = append(all, project.Account{ID: id, State: state})
		if (state.Closed() == "") != (state == project.AccountActive) || state.Known() == (state == "NEW") {
			t.Errorf("the state %s: %q, known %v", state, state.Closed(), state.Known())
		}
	}
	want := project.Target{Name: "org-111111111111", Account: "111111111111", Region: "eu-west-1"}
	if got := a.Members(all); !slices.Equal(got, []project.Target{want}) {
		t.Errorf("the targets are %+v, want %+v", got, want)
	}
	m := a.Member("111111111111")
	if m.Target != want || m.Role != "arn:aws:iam::111111111111:role/stackwright/sw-orchestrator" || m.Execution != "arn:aws:iam::111111111111:role/stackwright/sw-execution" || m.ExternalID != "sw-1" || m.Permit("shop@prod") != nil || m.Permit("bank@prod") == nil {
		t.Errorf("the target of the account is %+v", m)
	}
	if !a.Assumes(m.Role) || a.Assumes("arn:aws:iam::111111111111:role/admin") || a.Assumes("") || !m.Assumes("arn:aws:iam::111111111111:role/stackwright/sw-orchestrator") {
		t.Error("the roles that the targets assume are not those of their accounts")
	}
	for name, want := range map[string][2]string{"org-111111111111": {"org", "111111111111"}, "a-b-222222222222": {"a-b", "222222222222"}, "eu": {}, "org-1111111111111": {}, "-111111111111": {}, "111111111111": {}} {
		if unit, account, ok := project.UnitOf(name); unit != want[0] || account != want[1] || ok != (want[0] != "") {
			t.Errorf("%s is of the unit %q and the account %q (%v)", name, unit, account, ok)
		}
	}
}
