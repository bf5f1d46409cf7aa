package engine

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// readSources puts the outputs of stacks outside the project in the place of the references to
// them. The loader of the files has refused those that the project may not read, and the targets are permitted.
func (e *Engine) readSources(ctx context.Context, r run.Run, p project.Project) (project.Project, error) {
	var locations []plan.Location
	seen := make(map[string]bool)
	place := func(s project.Source) string { return s.Stack + "@" + s.Target.Name }
	for _, s := range p.Sources() {
		if !seen[place(s)] {
			seen[place(s)] = true
			locations = append(locations, plan.Location{Node: place(s), Stack: s.Stack, Target: s.Target})
		}
	}
	if len(locations) == 0 {
		return p, nil
	}
	live, err := e.observe(ctx, r.ID, locations)
	if err != nil {
		return p, fmt.Errorf("read the outputs of stacks outside the project: %w", err)
	}
	return p.ReadSources(func(s project.Source) (string, error) {
		l := live[place(s)]
		value, ok := l.Outputs[s.Output]
		switch {
		case l.AccessError != "":
			return "", fault.New(fault.Denied, "%s", l.AccessError)
		case l.Status.Gone():
			return "", fault.New(fault.Missing, "there is no stack %s in target %s", s.Stack, s.Target.Name)
		case !ok:
			return "", fault.New(fault.Missing, "stack %s in target %s has no output %s", s.Stack, s.Target.Name, s.Output)
		}
		return value, nil
	})
}
