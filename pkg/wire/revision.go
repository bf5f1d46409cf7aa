package wire

import (
	"context"
	"fmt"
	"strings"

	reports "github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/format"
	"github.com/stackwright/stackwright/pkg/format/archive"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/remote"
	"github.com/stackwright/stackwright/pkg/run"
)

// A configurations reads configurations to compare them: it fetches nothing from elsewhere, and checks no conditions.
type configurations struct{ *loader }

// Configuration implements api.Configurations. A project that cannot be read now, because a target is not registered any more, or
// because a file from elsewhere was not kept, still has its files.
func (c configurations) Configuration(ctx context.Context, r run.Run) (reports.Configuration, error) {
	body, err := c.bucket.Object(ctx, r.Source.Key, r.Source.Version)
	if err != nil {
		return reports.Configuration{}, err
	}
	files, err := archive.Unpack(r.Source.Key, body)
	if err != nil { // the run that read it was refused
		return reports.Configuration{}, fault.New(fault.Missing, "its archive cannot be read: %w", err)
	}
	targets, err := c.targets(ctx)
	if err != nil {
		return reports.Configuration{}, fmt.Errorf("targets: %w", err)
	}
	name, environment, _ := strings.Cut(r.Project, "@")
	o := format.Options{
		Project: name, Environment: environment, Targets: targets, Store: c.store,
		Holds: func(string, project.Situation) (bool, error) { return true, nil },
	}
	l, err := format.Fetch(files, o, func(lacked []remote.Address) (map[string]remote.File, error) {
		found := map[string]remote.File{}
		for _, a := range lacked {
			f, err := c.bucket.RemoteFile(ctx, r.Source, a)
			if fault.Is(err, fault.Missing) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found[a.String()] = f
		}
		return found, nil
	})
	all := reports.Configuration{Files: files, Nodes: l.Project.Nodes, Templates: l.Templates}
	switch {
	case fault.Is(err, fault.Invalid):
		all.Unread = fmt.Sprintf("the stacks of run %s cannot be compared: %s", r.ID, strings.Join(fault.Messages(err), "; "))
	case err != nil:
		return all, err
	case len(l.Lacked) > 0:
		all.Unread = fmt.Sprintf("the stacks of run %s cannot be compared: %s is elsewhere and was not kept", r.ID, l.Lacked[0])
	}
	return all, nil
}
