package project

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/pattern"
)

// An Account is an account of an organization of AWS Organizations.
type Account struct {
	ID    string
	Name  string // not unique
	State AccountState
	Unit  string // the ID of the unit, or of the root, that it is in
}

// An AccountState is what AWS says of an account of an organization.
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_accounts_account_state.html
type AccountState string

// The states of accounts. AWS can reinstate a closed account for 90 days; after that it is in no organization any more.
const (
	AccountPending   AccountState = "PENDING_ACTIVATION"
	AccountActive    AccountState = "ACTIVE"
	AccountSuspended AccountState = "SUSPENDED"
	AccountClosing   AccountState = "PENDING_CLOSURE"
	AccountClosed    AccountState = "CLOSED"
)

// accountStates are the states, each with what it means for stacks there; "" if they can be deployed.
var accountStates = map[AccountState]string{
	AccountPending:   "it is not activated yet: its owner has to finish the sign-up",
	AccountActive:    "",
	AccountSuspended: "AWS has suspended or closed it, and can reinstate it for 90 days after a closure",
	AccountClosing:   "it is being closed, and AWS can reinstate it for 90 days",
	AccountClosed:    "it is closed, and AWS can reinstate it for 90 days",
}

// Known reports whether the state is one of those above. An unknown one is not active.
func (s AccountState) Known() bool { _, known := accountStates[s]; return known }

// Closed says why nobody can use an account in that state; "" if it is active.
func (s AccountState) Closed() string {
	why, known := accountStates[s]
	if !known {
		return "its state is not known to this version of Stackwright: update the installation"
	}
	return why
}

// Unreached is what is known of targets of accounts of units in which stacks are recorded.
type Unreached struct {
	Closed  map[Target]string // nobody can use them at present, with why
	Unknown map[Target]error  // it is not known whether they can be used, with why
}

// Members are the accounts of organizational units that the files of a project name, as they were listed to read these files.
type Members struct {
	Units  map[string][]Target // the targets of the accounts that stacks are deployed to, sorted, by the name of the target of the unit
	Closed map[string]string   // the targets of the other accounts of these units that are not active, by name, with why
	Empty  map[string]string   // why some of the units have no target, by the name of the target of the unit
	Lost   map[string]error    // why the accounts of some of the units are not known, by the same: these have none
}

// Add adds the accounts of the unit of a target.
func (m *Members) Add(a Access, all []Account) {
	if m.Units == nil {
		m.Units, m.Closed, m.Empty = make(map[string][]Target), make(map[string]string), make(map[string]string)
	}
	m.Units[a.Name] = append([]Target{}, a.Members(all)...)
	for _, one := range all {
		if why := one.State.Closed(); why != "" {
			m.Closed[MemberName(a.Name, one.ID)] = fmt.Sprintf("account %s (%s) is %s: %s", one.ID, one.Name, one.State, why)
		}
	}
	if len(m.Units[a.Name]) == 0 {
		m.Empty[a.Name] = a.nobody(all)
	}
}

// Lose adds the unit of a target, whose accounts are not known.
func (m *Members) Lose(name string, why error) {
	if m.Units == nil {
		m.Units = make(map[string][]Target)
	}
	if m.Lost == nil {
		m.Lost = make(map[string]error)
	}
	m.Units[name], m.Lost[name] = []Target{}, why
}

// nobody says why stacks are deployed to none of the accounts of the unit.
func (a Access) nobody(all []Account) string {
	if len(all) == 0 {
		return fmt.Sprintf("unit %s (target %s) has no accounts: move one to it, or take the target out of the project", a.Unit, a.Name)
	}
	closed, out := 0, 0
	for _, one := range all {
		if one.State != AccountActive {
			closed++
		} else {
			out++
		}
	}
	return fmt.Sprintf("unit %s (target %s) has no active account that is not left out: %d closed, suspended or not activated, %d left out (--except): stackwright targets lists them", a.Unit, a.Name, closed, out)
}

// UnitAccounts are the accounts under an organizational unit, and in the units within it.
type UnitAccounts struct {
	Accounts []Account // sorted by ID
	Units    []string  // the IDs of the units that were listed, the unit itself among them
}

// Account returns the account of an ID.
func (u UnitAccounts) Account(id string) (Account, bool) {
	i, found := slices.BinarySearchFunc(u.Accounts, id, func(a Account, id string) int { return cmp.Compare(a.ID, id) })
	if !found {
		return Account{}, false
	}
	return u.Accounts[i], true
}

var (
	unitID       = pattern.New(`^ou-[0-9a-z]{4,32}-[a-z0-9]{8,32}$`)
	rootID       = pattern.New(`^r-[0-9a-z]{4,32}$`)
	roleInEach   = pattern.New(`^arn:aws[a-z-]*:iam::\*:role/[\w+=,.@/-]{1,512}$`)
	memberSuffix = regexp.MustCompile(`^(.+)-(\d{12})$`)
)

// longestUnit is how many letters the name of a target of an organizational unit may have, so that those of its accounts are names of targets.
const longestUnit = 64 - len("-000000000000")

// MemberName is the name of the target of an account of the unit of a target: it is the same as long as the account exists,
// whatever the account is called, and whichever others are in the unit.
func MemberName(unit, account string) string { return unit + "-" + account }

// UnitOf returns the name of the target that stands for a unit, and the account, of the name of a target of one of its accounts. It reports
// false if the name is not of this form; a target of that form may have been registered by itself.
func UnitOf(name string) (unit, account string, ok bool) {
	m := memberSuffix.FindStringSubmatch(name)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// Member returns the target of an account of the unit.
func (a Access) Member(account string) Access {
	in := func(role string) string { return strings.Replace(role, "::*:", "::"+account+":", 1) }
	a.Target = Target{Name: MemberName(a.Name, account), Account: account, Region: a.Region}
	a.Role, a.Execution = in(a.Role), in(a.Execution)
	return a
}

// Members returns the targets of the accounts of the unit that stacks are deployed to: those that are active and not left out, by account.
func (a Access) Members(all []Account) []Target {
	var targets []Target
	for _, one := range all {
		if one.State == AccountActive && !slices.Contains(a.Except, one.ID) {
			targets = append(targets, a.Member(one.ID).Target)
		}
	}
	return targets
}

// Assumes reports whether the target is used with a role: its own, or that of one of its accounts.
func (a Access) Assumes(role string) bool {
	if a.Unit == "" {
		return a.Role == role
	}
	m := roleARN.FindStringSubmatch(role)
	return m != nil && a.Member(m[1]).Role == role
}

// checkUnit is Check for a target of an organizational unit.
func (a Access) checkUnit(r Reach) error {
	var wrong []error
	say := func(format string, args ...any) { wrong = append(wrong, fault.New(fault.Invalid, format, args...)) }
	if a.checkName(say); len(wrong) == 0 && len(a.Name) > longestUnit {
		say("target %s: the name of a target of an organizational unit has at most %d letters, because the targets of its accounts are called %s", a.Name, longestUnit, MemberName("NAME", "ACCOUNT"))
	}
	switch {
	case a.Unit == "":
		say("--except leaves accounts of a unit out: name the unit with --ou")
	case rootID.MatchString(a.Unit):
		say("unit %s is the root of the organization, and has the management account and all others: name a unit, such as ou-abcd-12345678, with --ou", a.Unit)
	case !unitID.MatchString(a.Unit):
		say("unit %q: write the ID of an organizational unit, such as ou-abcd-12345678: aws organizations list-organizational-units-for-parent shows them", a.Unit)
	}
	if a.Account != "" {
		say("target %s: it is either an account or a unit: leave --account %s or --ou %s out", a.Name, a.Account, a.Unit)
	}
	if err := a.checkRegion(r.Home); err != nil {
		wrong = append(wrong, err)
	}
	a.checkRoles(r, say)
	for i, account := range a.Except {
		switch {
		case !accountID.MatchString(account):
			say("--except %q: write the twelve digits of the ID of an account", account)
		case slices.Contains(a.Except[:i], account):
			say("--except %s is given twice: remove one", account)
		}
	}
	if !r.Units {
		say("target %s: the installation may not list the accounts of organizational units: set its setting organization, deploy the installation, and register the target then", a.Name)
	}
	return errors.Join(append(wrong, a.checkProjects())...)
}

// checkRoles refuses roles that the installation cannot use in the accounts of a unit.
func (a Access) checkRoles(r Reach, say func(string, ...any)) {
	for _, one := range []struct{ what, arn, example string }{{"role", a.Role, "orchestrator"}, {"execution role", a.Execution, "execution"}} {
		_, role, _ := strings.Cut(one.arn, "::*:")
		switch {
		case one.arn == "" && one.what != "role" && r.Accounts == nil:
		case one.arn == "":
			say("target %s: the %s of its accounts is missing: give its ARN with * in place of the account, such as 'arn:aws:iam::*:role/stackwright/%s-%s', with --%s", a.Name, one.what, r.Stack, one.example, strings.ReplaceAll(one.what, " ", "-"))
		case !roleInEach.MatchString(one.arn):
			say("%s %q: the accounts of a unit have roles of the same name: write the ARN with * in place of the account, such as 'arn:aws:iam::*:role/stackwright/%s-%s'", one.what, one.arn, r.Stack, one.example)
		case one.what == "role" && !strings.HasPrefix(role, r.assumes()):
			say("role %s: the installation may assume only roles whose ARN continues with %s: create it with infra/aws/target/account.yaml and Name=%s", one.arn, r.assumes(), r.Stack)
		}
	}
}

// Place says in words where a target is.
func (a Access) Place() string {
	if a.Unit == "" {
		return fmt.Sprintf("account %s, region %s", a.Account, a.Region)
	}
	text := fmt.Sprintf("the accounts of unit %s, region %s", a.Unit, a.Region)
	if len(a.Except) > 0 {
		text += ", except " + strings.Join(a.Except, ", ")
	}
	return text
}
