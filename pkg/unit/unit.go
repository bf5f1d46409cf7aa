// Package unit follows the accounts of the targets of organizational units.
package unit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// An Organization is an organization of AWS Organizations.
type Organization interface {
	// Accounts lists the accounts under a unit, and in the units within it. It returns all of them or an error, which is of kind Missing if there
	// is no such unit.
	Accounts(ctx context.Context, unit string) (project.UnitAccounts, error)

	// Account returns an account, or an error of kind Missing if it is not in the organization.
	Account(ctx context.Context, id string) (project.Account, error)

	// Above returns the IDs of the units that a unit is within, up to the root, which is the last; none for the root itself.
	Above(ctx context.Context, unit string) ([]string, error)
}

// A Follower follows the accounts of units for one plan: it lists those of a unit once.
type Follower struct {
	Organization Organization

	// Registered returns the registered targets by name.
	Registered func(ctx context.Context) (map[string]project.Access, error)

	found  map[string]project.UnitAccounts // by the ID of the unit
	failed map[string]error                // the same, of units that could not be listed for Unreachable
}

// list lists the accounts of the unit of a target, once.
func (f *Follower) list(ctx context.Context, a project.Access) (project.UnitAccounts, error) {
	if found, ok := f.found[a.Unit]; ok {
		return found, nil
	}
	found, err := f.Organization.Accounts(ctx, a.Unit)
	if fault.Is(err, fault.Missing) {
		return found, fmt.Errorf("target %s: %w: register the target with another unit (stackwright targets add %s --ou UNIT, with its other options as before), or take the target out of the project", a.Name, err, a.Name)
	}
	if err != nil {
		return found, fmt.Errorf("target %s: %w", a.Name, err)
	}
	if f.found == nil {
		f.found = make(map[string]project.UnitAccounts)
	}
	f.found[a.Unit] = found
	return found, nil
}

// once is list, and requests the list of a unit that cannot be listed once for all its accounts.
func (f *Follower) once(ctx context.Context, a project.Access) (project.UnitAccounts, error) {
	if err := f.failed[a.Unit]; err != nil {
		return project.UnitAccounts{}, err
	}
	found, err := f.list(ctx, a)
	if f.failed == nil {
		f.failed = make(map[string]error)
	}
	f.failed[a.Unit] = err
	return found, err
}

// Members returns, for each of some names that is a target of an organizational unit, the targets of the accounts of the unit. A name of the target
// of one account is one of the first kind, too: it is found among the targets of its unit. A partial request does not need all units: the accounts
// of one that cannot be listed are lost. An error that may pass is returned all the same.
func (f *Follower) Members(ctx context.Context, partial bool, names []string) (project.Members, error) {
	var all project.Members
	registered, err := f.Registered(ctx)
	if err != nil {
		return all, fmt.Errorf("targets: %w", err)
	}
	for _, name := range names {
		a, ok := registered[name]
		if of, _, member := project.UnitOf(name); !ok && member {
			a, ok = registered[of]
		}
		if !ok || a.Unit == "" || all.Units[a.Name] != nil {
			continue
		}
		found, err := f.list(ctx, a)
		switch {
		case partial && fault.Is(err, fault.Missing, fault.Denied):
			all.Lose(a.Name, err)
		case err != nil:
			return project.Members{}, err
		default:
			all.Add(a, found.Accounts)
		}
	}
	return all, nil
}

// Unreachable returns, of some targets in which stacks are recorded, those of accounts of units that nobody can use at present, with why: the
// account is not active, or it is in the organization no more. If that is not known of an account, it is among the Unknown. It asks Organizations
// only if one of the targets is of a unit. An account that its unit does not have is requested for by itself, so that an incomplete list is not taken
// for accounts that have left.
func (f *Follower) Unreachable(ctx context.Context, targets []project.Target) (project.Unreached, error) {
	all := project.Unreached{Closed: make(map[project.Target]string), Unknown: make(map[project.Target]error)}
	if !slices.ContainsFunc(targets, func(t project.Target) bool { _, _, ok := project.UnitOf(t.Name); return ok }) {
		return all, nil
	}
	registered, err := f.Registered(ctx)
	if err != nil {
		return all, fmt.Errorf("targets: %w", err)
	}
	type known struct {
		why string // the account cannot be used
		err error
	}
	requested := make(map[string]known) // by account and unit
	for _, t := range slices.SortedFunc(maps.Keys(setOf(targets)), func(a, b project.Target) int { return a.Compare(b) }) {
		name, account, ok := project.UnitOf(t.Name)
		a := registered[name]
		if _, itself := registered[t.Name]; !ok || itself || a.Unit == "" || account != t.Account {
			continue
		}
		k, before := requested[account+a.Unit]
		if !before {
			k.why, k.err = f.whyNot(ctx, a, account)
			requested[account+a.Unit] = k
		}
		switch {
		case k.err != nil:
			all.Unknown[t] = k.err
		case k.why != "":
			all.Closed[t] = k.why
		}
	}
	return all, nil
}

func setOf(targets []project.Target) map[project.Target]bool {
	set := make(map[project.Target]bool)
	for _, t := range targets {
		set[t] = true
	}
	return set
}

// whyNot says why nobody can use an account in which the target of a unit has stacks; "" if it can be used. If there is no such unit, the account
// decides alone.
func (f *Follower) whyNot(ctx context.Context, a project.Access, id string) (string, error) {
	found, err := f.once(ctx, a)
	if err != nil && !fault.Is(err, fault.Missing) {
		return "", err
	}
	listed := err == nil
	account, there := found.Account(id)
	if !there {
		account, err = f.Organization.Account(ctx, id)
		switch {
		case fault.Is(err, fault.Missing):
			return fmt.Sprintf("account %s is not in the organization any more: if it is closed for good, delete the records of its stacks with stackwright forget", id), nil
		case err != nil:
			return "", fmt.Errorf("target %s: account %s, in which stacks are recorded: %w", project.MemberName(a.Name, id), id, err)
		}
		within, err := f.within(ctx, account, a.Unit, listed)
		switch {
		case err != nil:
			return "", fmt.Errorf("target %s: account %s, in which stacks are recorded: %w", a.Name, id, err)
		case within:
			return "", fault.New(fault.Unavailable, "target %s: account %s is in unit %s, and the list of the accounts of the unit does not have it: it has come at this moment, or the list is incomplete; nothing was changed: try again", a.Name, id, account.Unit)
		}
	}
	if why := account.State.Closed(); why != "" {
		return fmt.Sprintf("account %s (%s) is %s: %s", id, account.Name, account.State, why), nil
	}
	return "", nil
}

// within reports whether an account is in a unit that exists, or in a unit within it. It goes up from the account, because a list of the units
// within the unit may be as incomplete as that of its accounts.
func (f *Follower) within(ctx context.Context, account project.Account, unit string, exists bool) (bool, error) {
	if !exists || account.Unit == unit {
		return exists, nil
	}
	above, err := f.Organization.Above(ctx, account.Unit)
	if fault.Is(err, fault.Missing) {
		return false, fault.New(fault.Unavailable, "%w: its unit was deleted at this moment; nothing was changed: try again", err)
	}
	return slices.Contains(above, unit), err
}
