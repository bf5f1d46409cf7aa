package report

import (
	"fmt"
	"slices"

	"github.com/stackwright/stackwright/pkg/project"
)

// A Target is a registered account and region.
type Target struct {
	Target     string   `json:"target"`
	Account    string   `json:"account"`
	Region     string   `json:"region"`
	Role       string   `json:"role"`           // that is assumed there; empty for the installation's own
	Execution  string   `json:"execution_role"` // that CloudFormation uses
	ExternalID string   `json:"external_id"`
	Projects   []string `json:"projects"`         // that may use it
	Unit       string   `json:"unit,omitempty"`   // the ID of the organizational unit of a target of all its accounts; empty if it is one account. Then account is empty, and the roles have * in place of it
	Except     []string `json:"except,omitempty"` // the accounts of the unit that are left out
}

// TargetOf reports a target.
func TargetOf(a project.Access) Target {
	return Target{a.Name, a.Account, a.Region, a.Role, a.Execution, a.ExternalID, append([]string{}, a.Projects...), a.Unit, a.Except}
}

// AccessOf returns the target that a report shows.
func AccessOf(t Target) project.Access {
	return project.Access{
		Target: project.Target{Name: t.Target, Account: t.Account, Region: t.Region}, Role: t.Role, Execution: t.Execution, ExternalID: t.ExternalID, Projects: t.Projects, Unit: t.Unit, Except: t.Except,
	}
}

// An UnitAccount is an account of an organizational unit.
type UnitAccount struct {
	Account  string               `json:"account"`
	Name     string               `json:"name"`
	State    project.AccountState `json:"state"`
	Unit     string               `json:"unit"`          // the ID of the unit that it is in
	Target   string               `json:"target"`        // the name of its target
	Deployed bool                 `json:"deployed"`      // stacks are deployed there: it is active, and not left out
	Why      string               `json:"why,omitempty"` // why not
}

// A UnitAccountPage lists the accounts of a target of an organizational unit, sorted.
type UnitAccountPage struct {
	Target   string        `json:"target"`
	Unit     string        `json:"unit"`
	Accounts []UnitAccount `json:"accounts"`
}

// UnitAccountsOf reports the accounts of a target of an organizational unit.
func UnitAccountsOf(a project.Access, all []project.Account) UnitAccountPage {
	page := UnitAccountPage{Target: a.Name, Unit: a.Unit, Accounts: []UnitAccount{}}
	for _, one := range all {
		why := one.State.Closed()
		if slices.Contains(a.Except, one.ID) {
			why = "the target leaves it out"
		}
		page.Accounts = append(page.Accounts, UnitAccount{one.ID, one.Name, one.State, one.Unit, project.MemberName(a.Name, one.ID), why == "", why})
	}
	return page
}

// All are the accounts as they were listed.
func (p UnitAccountPage) All() []project.Account {
	var all []project.Account
	for _, one := range p.Accounts {
		all = append(all, project.Account{ID: one.Account, Name: one.Name, State: one.State, Unit: one.Unit})
	}
	return all
}

// An Installation describes an installation of Stackwright.
type Installation struct {
	Name   string `json:"name"`
	Bucket string `json:"bucket"`
	Home   Target `json:"default"` // the target default: its own account and region
	Place  string `json:"place"`   // where it is, for people, as commands say it
	Caller string `json:"caller"`  // as whom it knows the caller
}

// Place says for people where an installation is. The emulators of a laptop have a folder or a URL; an installation on
// AWS has none.
func Place(emulators string, at project.Target, installation string) string {
	if emulators != "" {
		return fmt.Sprintf("on this laptop (emulators, %s)", emulators)
	}
	return fmt.Sprintf("in %s %s (installation %s)", at.Account, at.Region, installation)
}
