package project

import (
	"errors"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// An Access is a target as it is registered at the installation, with the roles
// that are used there. Projects only name targets, so that a user who may upload
// a project cannot choose another team's role.
type Access struct {
	Target
	Role      string `json:"role,omitempty"`           // ARN of the role that is assumed there; empty for the installation's own
	Execution string `json:"execution_role,omitempty"` // ARN of the role that CloudFormation uses; empty for the role that calls it
	Projects  Grants `json:"projects"`                 // who may use it

	// The role's trust policy requires the external ID, so that knowing the role's ARN is not
	// enough to assume it. It is random, and all targets with the same role share it.
	ExternalID string `json:"external_id,omitempty"`

	// A target may stand for the accounts of an organizational unit of AWS Organizations. Then it has no account, and its roles have * in place of
	// one: each account has roles of these names. See Member.
	Unit   string   `json:"unit,omitempty"`   // the ID of the unit, such as ou-abcd-12345678
	Except []string `json:"except,omitempty"` // the accounts of the unit that are left out, sorted
}

// The names of the roles that infra/aws/target/account.yaml creates end so: of the role that changes stacks, and of the one that only reads them.
const (
	changes = "-orchestrator"
	reads   = "-reader"
)

// Reader returns the ARN of the role that reads the stacks of a target: it is beside the role of the target. The error is of kind
// Denied if the name of that role does not say what the other one is called.
func (a Access) Reader() (string, error) {
	if before, ok := strings.CutSuffix(a.Role, changes); ok {
		return before + reads, nil
	}
	return "", fault.New(fault.Denied, "role %s does not end with %s, so no role is known that only reads stacks there: create both roles with infra/aws/target/account.yaml, and register the target with the first one", a.Role, changes)
}

// TargetName is what a target may be called.
var TargetName = pattern.New(`^[A-Za-z][-A-Za-z0-9]{0,63}$`)

var (
	accountID = pattern.New(`^\d{12}$`)
	roleARN   = pattern.New(`^arn:aws[a-z-]*:iam::(\d{12}):role/[\w+=,.@/-]{1,512}$`)
)

// A Reach is what an installation may use in targets, by the policies of its roles in
// infra/aws. A target beyond it can never work.
type Reach struct {
	Home     Target   // the installation's own
	Stack    string   // its name, with which the names of roles begin
	Accounts []string // the other accounts whose roles it may assume; nil is all, on a laptop
	Units    bool     // it may list the accounts of organizational units, and assume roles in all accounts of its organization
}

// The paths of roles that an installation may assume, and pass in its own account.
func (r Reach) assumes() string { return "role/stackwright/" + r.Stack + "-" }
func (r Reach) passes() string {
	return "role/stackwright/" + r.Stack + "-" + r.Home.Region + "-execution"
}

// Check returns everything that is wrong with an access that is to be registered
// at an installation of a reach, each as a Fault of kind Invalid.
func (a Access) Check(r Reach) error {
	if a.Unit != "" || len(a.Except) > 0 {
		return a.checkUnit(r)
	}
	var wrong []error
	home := r.Home
	say := func(format string, args ...any) { wrong = append(wrong, fault.New(fault.Invalid, format, args...)) }
	a.checkName(say)
	if !accountID.MatchString(a.Account) {
		say("account %q: write the twelve digits of its ID", a.Account)
	}
	if err := a.checkRegion(home); err != nil {
		wrong = append(wrong, err)
	}
	for _, arn := range []string{a.Role, a.Execution} {
		m := roleARN.FindStringSubmatch(arn)
		switch {
		case arn == "":
		case m == nil:
			say("role %q: write the ARN of a role, such as arn:aws:iam::%s:role/stackwright/stackwright-orchestrator", arn, a.Account)
		case m[1] != a.Account:
			say("role %s is not in account %s", arn, a.Account)
		}
	}
	switch _, role, found := strings.Cut(a.Role, "::"+a.Account+":"); {
	case a.Role == "" && a.Account != home.Account:
		say("account %s is not the installation's own: give the ARN of the role to assume there with --role", a.Account)
	case a.Role == "":
		a.checkExecution(r, say)
	case !found || !roleARN.MatchString(a.Role): // said above
	case !strings.HasPrefix(role, r.assumes()):
		say("role %s: the installation may assume only roles whose ARN continues with %s: create it with infra/aws/target/account.yaml and Name=%s", a.Role, r.assumes(), r.Stack)
	case r.Accounts != nil && !slices.Contains(r.Accounts, a.Account):
		say("the installation may not assume roles of account %s: add %s to its setting targetAccounts, deploy the installation, and register the target then", a.Account, a.Account)
	case r.Accounts != nil && a.Execution == "":
		say("role %s may change stacks only with an execution role: give its ARN with --execution-role; the output ExecutionRole of infra/aws/target/account.yaml has it", a.Role)
	}
	return errors.Join(append(wrong, a.checkProjects())...)
}

// checkName refuses a name that no target may have.
func (a Access) checkName(say func(string, ...any)) {
	switch {
	case a.Name == DefaultTarget:
		say("target %s is the installation's own account and region and is registered already: use another name; the setting projects of the installation says which projects may use it", a.Name)
	case !TargetName.MatchString(a.Name):
		say("%q is not a valid name of a target: use letters, digits and hyphens, at most 64, beginning with a letter", a.Name)
	}
}

// checkRegion refuses a region that does not exist, or in which the roles of the installation cannot be used.
func (a Access) checkRegion(home Target) error {
	if err := CheckRegion(a.Region); err != nil {
		return err
	}
	if partition(a.Region) != partition(home.Region) {
		return fault.New(fault.Invalid, "region %s is in another partition of AWS than the installation, which is in %s: install Stackwright there too", a.Region, home.Region)
	}
	return nil
}

// checkProjects refuses a target that no project may use.
func (a Access) checkProjects() error {
	var none error
	if len(a.Projects) == 0 {
		none = fault.New(fault.Invalid, "no project may use target %s: name those that may with --projects, such as 'shop@prod,team-*@*', or '*@*' for all", a.Name)
	}
	return errors.Join(none, a.Projects.check())
}

// checkExecution refuses an execution role in the installation's own account that the
// installation may not pass to CloudFormation.
func (a Access) checkExecution(r Reach, say func(string, ...any)) {
	_, role, found := strings.Cut(a.Execution, "::"+a.Account+":")
	if rest, ok := strings.CutPrefix(role, r.passes()); found && (!ok || rest != "" && !strings.HasPrefix(rest, "-")) {
		say("execution role %s: the installation may pass only the role %s and roles whose names continue with a hyphen: create it with infra/aws/target/execution.yaml and Name=%s-%s",
			a.Execution, r.passes(), r.Stack, r.Home.Region)
	}
}

// partition is the partition of a region: its roles cannot be used in another one.
// https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
func partition(region string) string {
	for prefix, name := range map[string]string{"cn-": "aws-cn", "us-gov-": "aws-us-gov", "eusc-": "aws-eusc"} {
		if strings.HasPrefix(region, prefix) {
			return name
		}
	}
	return "aws"
}
