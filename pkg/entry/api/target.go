package api

import (
	"context"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/entry/target"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/lib/strict"
	"github.com/stackwright/stackwright/pkg/project"
)

// Targets registers targets.
type Targets interface {
	// Add registers a target, or changes one, and returns it with its external ID.
	Add(ctx context.Context, a project.Access, by target.Requester) (project.Access, error)

	// Accounts lists the accounts of a target of an organizational unit.
	Accounts(ctx context.Context, name string) (project.Access, []project.Account, error)

	// Remove removes a target that has no stacks.
	Remove(ctx context.Context, name string, by target.Requester) error
}

// installation describes the installation, and says as whom it knows the caller.
func (a API) installation(_ context.Context, q question) (answer, error) {
	shown := a.Installation
	shown.Caller = q.who
	return answer{body: shown}, nil
}

// targets lists the registered targets, sorted by name. Only an admin of all projects sees external IDs.
func (a API) targets(ctx context.Context, q question) (answer, error) {
	all, err := a.Records.Targets(ctx)
	if err != nil {
		return answer{}, err
	}
	admin, err := a.Among(ctx, q.by, access.Admin, []string{access.Everywhere})
	shown := []report.Target{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := report.TargetOf(all[name])
		if len(admin) == 0 {
			t.ExternalID = ""
		}
		shown = append(shown, t)
	}
	return answer{body: report.TargetPage{Targets: shown}}, err
}

// addTarget registers a target, or changes one.
func (a API) addTarget(ctx context.Context, q question) (answer, error) {
	var said report.TargetRequest
	if err := q.read(strict.Fields{
		"target": &said.Target, "account": &said.Account, "region": &said.Region, "role": &said.Role,
		"execution_role": &said.Execution, "external_id": &said.ExternalID, "projects": &said.Projects, "unit": &said.Unit, "except": &said.Except,
	}); err != nil {
		return answer{}, err
	}
	name := q.PathParameters["target"]
	if said.Target != "" && said.Target != name {
		return answer{}, fault.New(fault.Invalid, "target: %.70q: the path names target %.70q: leave it out", said.Target, name)
	}
	said.Target = name
	added, err := a.Targets.Add(ctx, report.AccessOf(report.Target(said)), q.requester())
	return answer{body: report.TargetOf(added)}, err
}

// unitAccounts lists the accounts of a target of an organizational unit.
func (a API) unitAccounts(ctx context.Context, q question) (answer, error) {
	of, all, err := a.Targets.Accounts(ctx, q.PathParameters["target"])
	return answer{body: report.UnitAccountsOf(of, all)}, err
}

// removeTarget removes a target.
func (a API) removeTarget(ctx context.Context, q question) (answer, error) {
	name := q.PathParameters["target"]
	return answer{body: report.RemovedTarget{Target: name}}, a.Targets.Remove(ctx, name, q.requester())
}
