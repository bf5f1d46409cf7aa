package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// permitDesired refuses a project with stacks in targets that it may not use.
func (e *Engine) permitDesired(ctx context.Context, id string, p project.Project) error {
	var targets []project.Target
	for _, n := range p.Nodes {
		targets = append(targets, n.Target)
	}
	if len(p.Hooks) > 0 {
		targets = append(targets, p.Home)
	}
	for _, s := range p.Sources() {
		targets = append(targets, s.Target)
	}
	return e.permitTargets(ctx, id, targets)
}

// permitTargets refuses targets that the project may not use.
func (e *Engine) permitTargets(ctx context.Context, id string, targets []project.Target) error {
	denied, err := e.denied(ctx, id, targets)
	return errors.Join(err, joined(denied))
}

// observePermitted reads the live stacks in the targets that the project may use. A
// recorded stack in another target has an AccessError: its step fails, and no other. If
// all stacks are in such targets, the error is of kind Denied.
func (e *Engine) observePermitted(ctx context.Context, r run.Run, locations []plan.Location) (map[string]plan.Live, error) {
	var targets []project.Target
	for _, p := range locations {
		targets = append(targets, p.Target)
	}
	denied, err := e.denied(ctx, r.Project, targets)
	if err != nil {
		return nil, err
	}
	var permitted []plan.Location
	closed := make(map[string]plan.Live)
	for _, p := range locations {
		if why := denied[p.Target]; why != nil {
			closed[p.Node] = plan.Live{AccessError: why.Error()}
		} else {
			permitted = append(permitted, p)
		}
	}
	if len(closed) > 0 && len(permitted) == 0 {
		return nil, joined(denied)
	}
	live, err := e.observe(ctx, r.ID, permitted)
	if err != nil {
		return nil, fmt.Errorf("observe stacks: %w", err)
	}
	if len(closed) == 0 {
		return live, nil
	}
	maps.Copy(closed, live)
	return closed, nil
}

// denied returns, for each of the targets that the project may not use, why not.
func (e *Engine) denied(ctx context.Context, id string, targets []project.Target) (map[project.Target]error, error) {
	all := make(map[project.Target]error)
	checked := make(map[project.Target]bool)
	for _, t := range targets {
		if checked[t] {
			continue
		}
		checked[t] = true
		switch err := e.Permits.Permit(ctx, id, t); {
		case fault.Is(err, fault.Denied):
			all[t] = err
		case err != nil:
			return nil, err
		}
	}
	return all, nil
}

// joined returns the errors of targets in the order of their names.
func joined(denied map[project.Target]error) error {
	var all []error
	for _, t := range slices.SortedFunc(maps.Keys(denied), func(a, b project.Target) int { return cmp.Compare(a.Name, b.Name) }) {
		all = append(all, denied[t])
	}
	return errors.Join(all...)
}

// permit returns an error of kind Denied if the task would send requests to a target that
// its project may not use any more. The engine calls it before a step starts: the permission that
// the plan had may have been taken away since. An operation that has started is followed
// to its end all the same.
func (e *Engine) permit(ctx context.Context, t action.Task) error {
	if t.Hook.Target.Name != "" {
		return e.Permits.Permit(ctx, t.Project, t.Hook.Target)
	}
	if v := e.Verbs.Of(t.Step.Verb); t.Step.Node == "" || !v.Mutates() && v.PollReads == 0 {
		return nil
	}
	at := t.Location().Target
	err := e.Permits.Permit(ctx, t.Project, at)
	if err == nil && e.deploys(t.Step.Verb) {
		err = e.Permits.Deploys(ctx, at)
	}
	return err
}

// deploys reports whether a step with the verb creates or updates a stack.
func (e *Engine) deploys(v plan.Verb) bool {
	of := e.Verbs.Of(v)
	return of.Mutates() && of.Request != action.DeleteStack
}
