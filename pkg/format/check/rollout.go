package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/format/problem"
	"github.com/stackwright/stackwright/pkg/format/resolve"
	"github.com/stackwright/stackwright/pkg/hook"
	"github.com/stackwright/stackwright/pkg/project"
)

// alarms refuses a rollout with alarms that the project may not reach.
func (c *checker) alarms(s *resolve.Stack) {
	if s.Node.Rollout == nil || c.own.Hooks == nil {
		return
	}
	for _, name := range s.Node.Rollout.Alarms {
		arn := hook.AlarmARN(s.Node.Target, name)
		err := c.own.Hooks.Permit(project.ID(c.Name, c.Environment), arn)
		if err == nil && c.own.Parts != nil {
			err = c.own.Parts.Spare(project.ID(c.Name, c.Environment), arn)
		}
		if err != nil {
			c.Add(s.Settings.Rollout.At, "stack %s: rollout: alarms: %v", s.Node.Name, err)
		}
	}
}

// waves returns the edges that rollouts make, with their positions: each wave is a node between its nodes and those of the next wave
// that has any.
func (c *checker) waves() map[resolve.Edge]problem.Position {
	by := make(map[string]map[int][]*resolve.Stack)
	for _, s := range c.Stacks {
		if r := s.Node.Rollout; r != nil {
			if by[r.Stack] == nil {
				by[r.Stack] = make(map[int][]*resolve.Stack)
			}
			by[r.Stack][r.Wave] = append(by[r.Stack][r.Wave], s)
		}
	}
	all := make(map[resolve.Edge]problem.Position)
	for stack, waves := range by {
		before := ""
		for i, number := range slices.Sorted(maps.Keys(waves)) {
			name := fmt.Sprintf("wave %d of %s", i+1, stack)
			for _, s := range waves[number] {
				all[resolve.Edge{Node: name, Needs: s.Node.Name, Cause: resolve.Rollout}] = s.Settings.Rollout.At
				if before != "" {
					all[resolve.Edge{Node: s.Node.Name, Needs: before, Cause: resolve.Rollout}] = s.Settings.Rollout.At
				}
			}
			before = name
		}
	}
	return all
}
