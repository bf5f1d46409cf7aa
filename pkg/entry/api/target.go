package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/stackwright/stackwright/pkg/access"
	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Targets registers targets.
type Targets interface {
	// Add registers a target, or changes one, and returns it with its external ID.
	Add(ctx context.Context, a project.Access) (project.Access, error)

	// Remove removes a target that has no stacks.
	Remove(ctx context.Context, name string) error
}

// installation describes the installation, and says as whom it knows the caller.
func (a API) installation(_ context.Context, q question) (answer, error) {
	shown := a.Installation
	shown.Caller = q.who
	return answer{status: http.StatusOK, body: shown}, nil
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
	return answer{status: http.StatusOK, body: map[string][]report.Target{"targets": shown}}, err
}

// addTarget registers a target, or changes one.
func (a API) addTarget(ctx context.Context, q question) (answer, error) {
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	var said report.Target
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil {
		return answer{}, fault.New(fault.Invalid, "the body cannot be read: send a target as GET /targets shows it: %w", err)
	}
	name := q.PathParameters["target"]
	if said.Target != "" && said.Target != name {
		return answer{}, fault.New(fault.Invalid, "target: %.70q: the path names target %.70q: leave it out", said.Target, name)
	}
	said.Target = name
	added, err := a.Targets.Add(ctx, report.AccessOf(said))
	return answer{status: http.StatusOK, body: report.TargetOf(added)}, err
}

// removeTarget removes a target.
func (a API) removeTarget(ctx context.Context, q question) (answer, error) {
	name := q.PathParameters["target"]
	return answer{status: http.StatusOK, body: map[string]string{"target": name}}, a.Targets.Remove(ctx, name)
}
