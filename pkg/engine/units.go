package engine

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// unreachable returns the recorded stacks that no operation can be about, because they are in accounts of organizational units that nobody can use at
// present.
func (e *Engine) unreachable(ctx context.Context, desired project.Project, recorded map[string]plan.Record) (plan.Unreachable, error) {
	closed, err := e.Units.Unreachable(ctx, plan.TargetsLeft(desired, recorded))
	if err != nil {
		return nil, fmt.Errorf("find which accounts can be used: %w", err)
	}
	return plan.UnreachableIn(desired, recorded, closed), nil
}
