package httpapi

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// Deploy uploads an archive and starts a run that supersedes older uploads. It returns the ID of the run.
func (a *API) Deploy(ctx context.Context, project string, archive []byte) (string, error) {
	source, err := a.Store(ctx, project, archive)
	if err != nil {
		return "", err
	}
	return a.Request(ctx, run.Request{Project: project, Operation: "deploy", Source: source, Upload: true})
}

// Store uploads an archive that a request then names.
func (a *API) Store(ctx context.Context, project string, archive []byte) (run.Source, error) {
	name, environment := parts(project)
	key, version, err := a.client.Upload(ctx, name, environment, archive)
	return run.Source{Key: key, Version: version}, err
}

// Request starts a run, and returns its ID.
func (a *API) Request(ctx context.Context, q run.Request) (string, error) {
	name, environment := parts(q.Project)
	started, err := a.client.StartRun(ctx, name, environment, report.RunRequest{
		Operation: q.Operation, Key: q.Source.Key, Version: q.Source.Version, Options: report.RunOptions{
			Only: q.Only, Exclude: q.Exclude, WithDependencies: q.WithDependencies, WithDependents: q.WithDependents, ChangedSince: q.ChangedSince, Adopt: q.Adopt, Retain: q.Retain, Skip: q.Skip, MaxDeletions: q.MaxDeletions, Exact: q.Exact, Plan: q.Plan, Rollback: q.Rollback,
			Refuse: q.Refuse, Reason: q.Reason, Upload: q.Upload, Run: q.Of, Force: q.Force, To: q.To, FromEnvironment: q.FromEnvironment, FromRevision: q.FromRevision, Snapshot: q.Snapshot, WhileSuspended: q.WhileSuspended, NoBackups: q.NoBackups, KeepBackups: q.KeepBackups, For: text(q.For), Until: q.Until,
		},
	})
	if err == nil && started.Run == "" {
		err = fault.New(fault.Broken, "the API has started a run and does not name it: stackwright runs lists it")
	}
	if err != nil {
		return "", fmt.Errorf("%s of %s: %w", q.Operation, q.Project, err)
	}
	a.learn(map[string]string{started.Run: q.Project})
	return started.Run, nil
}

// text is how long an environment lives, as an option; none is empty.
func text(t project.TTL) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

// Command gives the command of q to a run. A refusal is an error of kind Refused.
func (a *API) Command(ctx context.Context, q run.Request) (string, error) {
	name, environment := parts(q.Project)
	_, err := a.client.Command(ctx, name, environment, q.Of, q.Operation, report.CommandRequest{Reason: q.Reason, Rollback: q.Rollback, Force: q.Force, Digest: q.PlanDigest, Step: q.Step})
	return "", err
}

// AddTarget registers a target, or changes one, and returns it with its external ID.
func (a *API) AddTarget(ctx context.Context, t project.Access) (project.Access, error) {
	added, err := a.client.PutTarget(ctx, t.Name, report.TargetRequest{
		Target: t.Name, Account: t.Account, Region: t.Region, Role: t.Role, Execution: t.Execution, ExternalID: t.ExternalID, Projects: t.Projects, Unit: t.Unit, Except: t.Except,
	})
	return report.AccessOf(added), err
}

// RemoveTarget removes a target that has no stacks.
func (a *API) RemoveTarget(ctx context.Context, name string) error {
	_, err := a.client.RemoveTarget(ctx, name)
	return err
}

// Purge deletes some of what is old, or says what it would delete.
func (a *API) Purge(ctx context.Context, q report.PurgeRequest) (report.Purged, error) {
	return a.client.Purge(ctx, q)
}
