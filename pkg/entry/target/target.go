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
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
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
	Home          project.Access // the target default
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
	if was, registered := all[a.Name]; registered && was.Target != a.Target {
		if err := r.unused(ctx, a.Name); err != nil {
			return a, err
		}
	}
	if a.Role != "" {
		a.ExternalID = cmp.Or(externalID(all, a.Role), r.NewExternalID())
	}
	return a, r.Store.AddTarget(ctx, a, by.entry("put target %s: account %s, region %s, role %s, projects %s", a.Name, a.Account, a.Region, cmp.Or(a.Role, "none"), cmp.Or(a.Projects.String(), "none")))
}

// externalID returns the external ID with which the registered targets assume a role, or "": its trust policy names one.
func externalID(all map[string]project.Access, role string) string {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a := all[name]; a.Role == role && a.ExternalID != "" {
			return a.ExternalID
		}
	}
	return ""
}

// Remove removes a target that has no stacks.
func (r Registry) Remove(ctx context.Context, name string, by Requester) error {
	all, err := r.Store.Targets(ctx)
	if err != nil {
		return err
	}
	if _, registered := all[name]; !registered {
		return fault.New(fault.Missing, "target %.70s is not registered: the list of targets has those that are", name)
	}
	if err := r.unused(ctx, name); err != nil {
		return err
	}
	return r.Store.RemoveTarget(ctx, name, by.entry("remove target %s", name))
}

// unused returns an error of kind Refused if a target has stacks.
func (r Registry) unused(ctx context.Context, name string) error {
	projects, err := r.Store.Projects(ctx)
	if err != nil {
		return fmt.Errorf("list the projects: %w", err)
	}
	var there []string
	for _, p := range projects {
		records, err := r.Store.Records(ctx, p)
		if err != nil {
			return fmt.Errorf("read the records of %s: %w", p, err)
		}
		for _, node := range slices.Sorted(maps.Keys(records)) {
			if records[node].Target.Name == name {
				there = append(there, node+" of "+p)
			}
		}
	}
	if n := len(there); n > 0 {
		return fault.New(fault.Refused, "target %s has %d recorded stacks, such as %s: destroy them first, or leave them out of it and deploy", name, n, there[0])
	}
	return nil
}
