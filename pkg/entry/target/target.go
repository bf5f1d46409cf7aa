// Package target registers the accounts and regions that stacks may be deployed to.
package target

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/suggest"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/unit"
)

// Store stores targets, and has the records of the stacks in them.
type Store interface {
	// Targets returns the registered targets by name.
	Targets(ctx context.Context) (map[string]project.Access, error)

	// AddTarget registers a target, in place of one that has its name, and records that in the audit log.
	AddTarget(ctx context.Context, a project.Access, by run.AuditEntry) error

	// RemoveTarget removes a target, if there is one of that name, and records that in the audit log.
	RemoveTarget(ctx context.Context, name string, by run.AuditEntry) error

	// Projects lists the projects that have had a run, sorted.
	Projects(ctx context.Context) ([]string, error)

	// Records returns the records of a project by node.
	Records(ctx context.Context, project string) (map[string]plan.Record, error)
}

// A Registry registers the targets of an installation. All its fields are needed.
type Registry struct {
	Store         Store
	Organization  unit.Organization
	Shown         unit.Organization // the same, for lists that are only shown
	Home          project.Access    // the target default
	Reach         project.Reach
	NewExternalID func() string
}

// A Requester is who asks for a change of a target, for the audit log.
type Requester struct {
	Who  string
	From string // the IP address; "" if it is not known
}

// entry is the one of the audit log about a change that the requester makes now.
func (by Requester) entry(format string, values ...any) run.AuditEntry {
	return run.AuditEntry{Time: time.Now().UTC(), What: fmt.Sprintf(format, values...), Who: by.Who, From: by.From}
}

// Add registers a target, or changes one, and returns it with its external ID. If the target has stacks, only its
// roles and its projects can be changed.
func (r Registry) Add(ctx context.Context, a project.Access, by Requester) (project.Access, error) {
	a.ExternalID = ""
	slices.Sort(a.Except)
	if a.Account == r.Home.Account && a.Role == "" {
		a.Execution = cmp.Or(a.Execution, r.Home.Execution) // a role is the same in all regions
	}
	if err := a.Check(r.Reach); err != nil {
		return a, err
	}
	all, err := r.Store.Targets(ctx)
	if err != nil {
		return a, err
	}
	if err := ambiguous(all, a); err != nil {
		return a, err
	}
	if was, registered := all[a.Name]; registered && (was.Target != a.Target || was.Unit != a.Unit) {
		if err := r.replaceable(ctx, was, a); err != nil {
			return a, err
		}
	}
	if a.Role != "" {
		known, err := externalID(all, a)
		if err != nil {
			return a, err
		}
		a.ExternalID = cmp.Or(known, r.NewExternalID())
	}
	if a.Unit != "" {
		if _, err := r.Organization.Accounts(ctx, a.Unit); err != nil { // the unit exists, and may be listed
			return a, fmt.Errorf("target %s: %w", a.Name, err)
		}
	}
	return a, r.Store.AddTarget(ctx, a, by.entry("put target %s: %s, role %s, projects %s", a.Name, a.Place(), cmp.Or(a.Role, "none"), cmp.Or(a.Projects.String(), "none")))
}

// ambiguous refuses a target if a name would mean two: that of one account of a unit, and that of a target that is registered by itself.
func ambiguous(all map[string]project.Access, a project.Access) error {
	if of, _, member := project.UnitOf(a.Name); member && all[of].Unit != "" {
		return fault.New(fault.Refused, "target %s: this is the name of a target of one account of the unit of target %s: use another name", a.Name, of)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if of, _, member := project.UnitOf(name); a.Unit != "" && member && of == a.Name {
			return fault.New(fault.Refused, "target %s: target %s is registered, and the target of one account of the unit could have the same name: use another name", a.Name, name)
		}
	}
	return nil
}

// externalID returns the external ID with which the registered targets assume the roles of a, or "": the trust policy of a role names one. The error
// is of kind Refused if it is not the same for all accounts of a unit.
func externalID(all map[string]project.Access, a project.Access) (string, error) {
	known, of := "", ""
	for _, name := range slices.Sorted(maps.Keys(all)) {
		other := all[name]
		switch {
		case other.ExternalID == "" || name == a.Name && other.Role != a.Role || !shareRoles(a, other):
		case name == a.Name: // the roles of its accounts have it already
			return other.ExternalID, nil
		case known == "":
			known, of = other.ExternalID, name
		case known != other.ExternalID:
			return "", fault.New(fault.Refused, "target %s: the targets %s and %s have roles of the same name in accounts of their own, with different external IDs, and all accounts of a unit have one: leave these accounts out with --except %s,%s, or remove the targets", a.Name, of, name, all[of].Account, other.Account)
		}
	}
	return known, nil
}

// shareRoles reports whether two targets may assume one role.
func shareRoles(a, b project.Access) bool {
	switch {
	case a.Unit != "" && b.Unit != "":
		return a.Role == b.Role
	case a.Unit != "":
		return a.Assumes(b.Role) && !slices.Contains(a.Except, b.Account)
	}
	return b.Assumes(a.Role) && !slices.Contains(b.Except, a.Account)
}

// Accounts lists the accounts of the unit of a target. The error is of kind Refused if it is no target of an organizational unit.
func (r Registry) Accounts(ctx context.Context, name string) (project.Access, []project.Account, error) {
	all, err := r.Store.Targets(ctx)
	if err != nil {
		return project.Access{}, nil, err
	}
	a, registered := all[name]
	switch {
	case !registered:
		return a, nil, unregistered(all, name)
	case a.Unit == "":
		return a, nil, fault.New(fault.Refused, "target %s is %s, and not a unit: only the accounts of a unit are listed", name, a.Place())
	}
	found, err := r.Shown.Accounts(ctx, a.Unit)
	if err != nil {
		return a, nil, fmt.Errorf("target %s: %w", name, err)
	}
	return a, found.Accounts, nil
}

// Remove removes a target that has no stacks, also not in the accounts of its unit.
func (r Registry) Remove(ctx context.Context, name string, by Requester) error {
	all, err := r.Store.Targets(ctx)
	if err != nil {
		return err
	}
	if _, registered := all[name]; !registered {
		return unregistered(all, name)
	}
	if err := r.unused(ctx, all[name]); err != nil {
		return err
	}
	return r.Store.RemoveTarget(ctx, name, by.entry("remove target %s", name))
}

// unregistered is the error about a target that is not among those that are registered.
func unregistered(all map[string]project.Access, name string) error {
	if name == project.DefaultTarget {
		return fault.New(fault.Refused, "target %s is the account and region of the installation itself: it is not registered, and is always there; the setting projects of the installation says which projects may use it", name)
	}
	if of, account, member := project.UnitOf(name); member && all[of].Unit != "" {
		return fault.New(fault.Refused, "target %s is account %s under the unit of target %s, and is not registered by itself: to leave the account out, register %s again with all its options and --except %s; to remove it with all other accounts, remove %s", name, account, of, of, account, of)
	}
	hint := ""
	if closest := suggest.Closest(name, slices.Sorted(maps.Keys(all))); closest != "" {
		hint = ": did you mean " + closest + "?"
	}
	return fault.New(fault.Missing, "target %.70s is not registered%s: the list of targets has those that are", name, hint)
}

// replaceable returns an error of kind Refused if a target has stacks that it would not have as it is to be registered. It has them still if it stands
// for another unit that all their accounts are under. If the unit does not exist any more, the accounts follow the other one.
func (r Registry) replaceable(ctx context.Context, was, to project.Access) error {
	there, err := r.stacks(ctx, was)
	if err != nil || len(there) == 0 {
		return err
	}
	refused := has(was, there)
	if was.Region != to.Region {
		return fmt.Errorf("%w; in region %s, the target would not have those in %s any more, and nobody would update or delete them: register %s under another name, name that in the project, and deploy, or give the target its region %s again", refused, to.Region, was.Region, to.Region, was.Region)
	}
	if was.Unit == "" || to.Unit == "" {
		return refused
	}
	switch _, err := r.Organization.Accounts(ctx, was.Unit); {
	case fault.Is(err, fault.Missing):
		return nil
	case err != nil:
		return fmt.Errorf("target %s: see whether its unit exists: %w", was.Name, err)
	}
	found, err := r.Organization.Accounts(ctx, to.Unit)
	if err != nil {
		return fmt.Errorf("target %s: %w", to.Name, err)
	}
	for _, s := range there {
		if _, in := found.Account(s.account); !in {
			return fmt.Errorf("%w; account %s is not under unit %s: move it there first", refused, s.account, to.Unit)
		}
	}
	return nil
}

// unused returns an error of kind Refused if a target has stacks.
func (r Registry) unused(ctx context.Context, a project.Access) error {
	there, err := r.stacks(ctx, a)
	if err != nil || len(there) == 0 {
		return err
	}
	return has(a, there)
}

// has is the error about a target that has stacks.
func has(a project.Access, there []stack) error {
	advice := "destroy them first, or leave them out of it and deploy"
	if a.Unit != "" {
		advice += "; the records of those in accounts that nobody can use any more are deleted with stackwright forget"
	}
	stacks := "1 recorded stack,"
	if len(there) > 1 {
		stacks = fmt.Sprintf("%d recorded stacks, such as", len(there))
	}
	return fault.New(fault.Refused, "target %s has %s %s of %s: %s", a.Name, stacks, there[0].node, there[0].project, advice)
}

// A stack is a recorded one.
type stack struct{ node, project, account string }

// stacks returns the recorded stacks in a target, or in the targets of the accounts of its unit.
func (r Registry) stacks(ctx context.Context, a project.Access) ([]stack, error) {
	projects, err := r.Store.Projects(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the projects: %w", err)
	}
	var there []stack
	for _, p := range projects {
		records, err := r.Store.Records(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("read the records of %s: %w", p, err)
		}
		for _, node := range slices.Sorted(maps.Keys(records)) {
			in := records[node].Target
			if of, account, member := project.UnitOf(in.Name); in.Name == a.Name || a.Unit != "" && member && of == a.Name && account == in.Account {
				there = append(there, stack{node, p, in.Account})
			}
		}
	}
	return there, nil
}
