package engine

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

// unreachable returns the recorded stacks that no operation can be about, because they are in accounts of organizational units that nobody can use at
// present, and those that cannot be read because that is not known of their accounts.
func (e *Engine) unreachable(ctx context.Context, r run.Run, desired project.Project, recorded map[string]plan.Record) (closed, unread plan.Unreachable, err error) {
	found, err := e.Units.Unreachable(ctx, plan.TargetsLeft(desired, recorded))
	if err != nil {
		return nil, nil, fmt.Errorf("find which accounts can be used: %w", err)
	}
	v := plan.View{Desired: desired, Recorded: recorded, Selection: e.operation(r).Selects(r.Selection)}
	if closed, unread, err = v.Unreached(found, e.operation(r)); err != nil {
		err = fmt.Errorf("find which accounts can be used: %w", err)
	}
	return closed, unread, err
}
