package project

import (
	"errors"

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
}

// TargetName is what a target may be called.
var TargetName = pattern.New(`^[A-Za-z][-A-Za-z0-9]{0,63}$`)

var (
	accountID = pattern.New(`^\d{12}$`)
	roleARN   = pattern.New(`^arn:aws[a-z-]*:iam::(\d{12}):role/[\w+=,.@/-]{1,512}$`)
)

// Check returns everything that is wrong with an access that is to be registered
// at an installation whose own target is home, each as a Fault of kind Invalid.
func (a Access) Check(home Target) error {
	var wrong []error
	say := func(format string, args ...any) { wrong = append(wrong, fault.New(fault.Invalid, format, args...)) }
	switch {
	case a.Name == DefaultTarget:
		say("target %s is the installation's own account and region and is registered already: use another name; the setting projects of the installation says which projects may use it", a.Name)
	case !TargetName.MatchString(a.Name):
		say("%q is not a valid name of a target: use letters, digits and hyphens, at most 64, beginning with a letter", a.Name)
	}
	if !accountID.MatchString(a.Account) {
		say("account %q: write the twelve digits of its ID", a.Account)
	}
	if err := CheckRegion(a.Region); err != nil {
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
	if a.Role == "" && a.Account != home.Account {
		say("account %s is not the installation's own: give the ARN of the role to assume there with --role", a.Account)
	}
	if len(a.Projects) == 0 {
		say("no project may use target %s: name those that may with --projects, such as 'shop@prod,team-*@*', or '*@*' for all", a.Name)
	}
	if err := a.Projects.check(); err != nil {
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}
