package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// refuseFull refuses a plan of r that adds more stacks to an account and region than CloudFormation lets it have. It reads only where the plan
// adds some. Where it may not, it says so, and the plan is not refused.
func (e *Engine) refuseFull(ctx context.Context, r run.Run, v plan.View, p *plan.Plan) error {
	requests := func(all action.Request) func(plan.Step) bool {
		return func(s plan.Step) bool { return e.Verbs.Of(s.Verb).Request == all }
	}
	needs := v.Needs(*p, requests(action.CreateStack), requests(action.DeleteStack))
	where := slices.Sorted(maps.Keys(needs))
	rooms, errs := make([]plan.Room, len(where)), make([]error, len(where))
	err := e.Parallel(ctx, len(where), func(ctx context.Context, i int) error {
		if rooms[i], errs[i] = e.room(ctx, r.ID, needs[where[i]].Target); fault.Final(errs[i]) { // it may be that nobody may read it
			return nil
		}
		return errs[i]
	})
	if err != nil {
		return fmt.Errorf("read the quota of stacks: %w", err)
	}
	found := make(map[string]plan.Room, len(where))
	for i, err := range errs {
		if found[where[i]] = rooms[i]; err != nil {
			t := needs[where[i]].Target
			p.Messages = append(p.Messages, fmt.Sprintf("whether account %s has room for more stacks in region %s is not known: %s", t.Account, t.Region, err))
		}
	}
	return plan.RefuseFull(needs, found)
}

// room reads how many stacks a target may have, and has. Each request is counted as observe counts.
func (e *Engine) room(ctx context.Context, id string, t project.Target) (room plan.Room, err error) {
	e.count(ctx, id, t, func(count func()) error {
		room, err = e.Clouds.Room(ctx, t, count)
		return err
	})
	return room, err
}
