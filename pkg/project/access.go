package project

import (
	"errors"
	"regexp"

	"github.com/stackwright/stackwright/pkg/fault"
)

// An Access is a target as it is registered at the installation: where it is,
// and which roles do the work there. Projects only name targets, so that
// whoever may upload one cannot choose another team's role.
type Access struct {
	Target
	Role      string `json:"role,omitempty"`           // ARN of the role that is assumed there; empty for the installation's own
	Execution string `json:"execution_role,omitempty"` // ARN of the role that CloudFormation is given; empty for that of whoever asks it
}

// TargetName is what a target may be called.
var TargetName = regexp.MustCompile(`^[A-Za-z][-A-Za-z0-9]{0,63}$`)

var (
	accountID  = regexp.MustCompile(`^\d{12}$`)
	regionName = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d+$`)
	roleARN    = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(\d{12}):role/[\w+=,.@/-]{1,512}$`)
)

// Check tells all that is wrong with an access that is to be registered at an
// installation whose own target is home, each as a Fault of kind Invalid.
func (a Access) Check(home Target) error {
	var wrong []error
	say := func(format string, args ...any) { wrong = append(wrong, fault.New(fault.Invalid, format, args...)) }
	switch {
	case a.Name == DefaultTarget:
		say("target %s is the installation's own account and region, which need not be registered: give this one another name", a.Name)
	case !TargetName.MatchString(a.Name):
		say("%q cannot be the name of a target: a letter, then letters, digits and hyphens, 64 at most", a.Name)
	}
	if !accountID.MatchString(a.Account) {
		say("account %q: twelve digits are wanted", a.Account)
	}
	if !regionName.MatchString(a.Region) {
		say("region %q: one such as eu-west-1 is wanted", a.Region)
	}
	for _, arn := range []string{a.Role, a.Execution} {
		m := roleARN.FindStringSubmatch(arn)
		switch {
		case arn == "":
		case m == nil:
			say("role %q: the ARN of a role is wanted, such as arn:aws:iam::%s:role/stackwright/stackwright-orchestrator", arn, a.Account)
		case m[1] != a.Account:
			say("role %s is of another account than %s", arn, a.Account)
		}
	}
	if a.Role == "" && a.Account != home.Account {
		say("account %s is not the installation's own: give the ARN of the role that is to be assumed there", a.Account)
	}
	return errors.Join(wrong...)
}
