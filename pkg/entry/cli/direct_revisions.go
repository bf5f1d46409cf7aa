package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/packages"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/revision"
	"github.com/stackwright/stackwright/pkg/run"
	"github.com/stackwright/stackwright/pkg/unit"
)

// Revisions implements installation.
func (d direct) Revisions(ctx context.Context, id string) ([]report.Revision, error) {
	runs, err := d.List(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	l, err := d.Lock(ctx, id)
	return report.RevisionsOf(l.Revisions(plan.AllOperations(), runs), l.LastSuccessful), err
}

// Revision implements installation.
func (d direct) Revision(ctx context.Context, id, word string) (report.Revision, error) {
	v, err := revision.Find(ctx, d.Table, id, word)
	if err != nil {
		return report.Revision{}, err
	}
	l, err := d.Lock(ctx, id)
	return report.RevisionOf(v, l.LastSuccessful), err
}

// Snapshots implements installation.
func (d direct) Snapshots(ctx context.Context, id string) ([]report.Snapshot, error) {
	l, err := d.Lock(ctx, id)
	return report.SnapshotsOf(l.History), err
}

// Difference implements installation.
func (d direct) Difference(ctx context.Context, id, from, to string) (report.Difference, error) {
	var sides [2]report.Configuration
	var compared [2]report.ComparedRevision
	for i, word := range []string{from, to} {
		r, err := revision.Files(ctx, d.Table, id, word)
		if err != nil {
			return report.Difference{}, err
		}
		if sides[i], err = d.configuration(ctx, r); err != nil {
			return report.Difference{}, fmt.Errorf("the files of run %s: %w", r.ID, err)
		}
		compared[i] = report.ComparedRevision{Source: r.Source, Run: r.ID}
	}
	found := report.DifferenceOf(sides[0], sides[1])
	found.From, found.To = compared[0], compared[1]
	return found, nil
}

// configuration reads the configuration of a run.
func (d direct) configuration(ctx context.Context, r run.Run) (report.Configuration, error) {
	body, err := d.objects.Object(ctx, r.Source.Key, r.Source.Version)
	if err != nil {
		return report.Configuration{}, err
	}
	registered, err := d.Targets(ctx)
	if err != nil {
		return report.Configuration{}, fmt.Errorf("targets: %w", err)
	}
	targets := map[string]project.Target{}
	var names []string // of units
	for name, a := range registered {
		if a.Unit == "" {
			targets[name] = a.Target
		} else {
			names = append(names, name)
		}
	}
	units := unit.Follower{Organization: d.organization(), Registered: d.Targets}
	targets[d.at.home.Name] = d.at.home.Target
	name, environment, _ := strings.Cut(r.Project, "@")
	o := format.Options{Project: name, Environment: environment, Targets: targets, Units: names, Store: packages.Store{Bucket: d.at.bucket, Region: d.at.home.Region}}
	var stored format.Stored
	err = format.WithUnits(o, func(o format.Options) (unregistered []string, err error) {
		stored, err = format.ReadStored(r.Source.Key, body, o, func(a remote.Address) (remote.File, error) { return d.objects.RemoteFile(ctx, r.Source, a) })
		return stored.Unregistered, err
	}, func(names []string) (project.Members, error) { return units.Members(ctx, false, names) })
	return report.ConfigurationOf(r.ID, stored.Files, stored.Nodes, stored.Templates, stored.Unread), err
}
