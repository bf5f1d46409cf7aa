package wire

import (
	"context"
	"fmt"
	"strings"

	reports "github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/run"
)

// A configurations reads configurations to compare them.
type configurations struct{ *loader }

// Configuration implements api.Configurations.
func (c configurations) Configuration(ctx context.Context, r run.Run) (reports.Configuration, error) {
	body, err := c.bucket.Object(ctx, r.Source.Key, r.Source.Version)
	if err != nil {
		return reports.Configuration{}, err
	}
	targets, units, err := c.targets(ctx)
	if err != nil {
		return reports.Configuration{}, fmt.Errorf("targets: %w", err)
	}
	name, environment, _ := strings.Cut(r.Project, "@")
	o := format.Options{Project: name, Environment: environment, Targets: targets, Units: units, Store: c.store}
	var stored format.Stored
	err = format.WithUnits(o, func(o format.Options) (unregistered []string, err error) {
		stored, err = format.ReadStored(r.Source.Key, body, o, func(a remote.Address) (remote.File, error) { return c.bucket.RemoteFile(ctx, r.Source, a) })
		return stored.Unregistered, err
	}, func(names []string) (project.Members, error) { return c.units.Members(ctx, false, names) })
	return reports.ConfigurationOf(r.ID, stored.Files, stored.Nodes, stored.Templates, stored.Unread), err
}
