package engine

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// sayLosses adds to r what its plan p deletes, replaces and loses, so that no run does that without a word. The changes
// are those of the plan, or empty if nobody has described them yet. A plan that only creates stacks loses nothing.
func (e *Engine) sayLosses(ctx context.Context, r *run.Run, v plan.View, p plan.Plan, c plan.Changes) {
	if e.operation(*r).Preview || !p.Alters() {
		return
	}
	if c.Format == 0 {
		var err error
		if c, err = e.changes(ctx, *r, v, p); err != nil {
			r.Messages = append(r.Messages, fmt.Sprintf("what the plan loses is not known: %v", err))
			return
		}
	}
	r.Messages = append(r.Messages, c.Losses().All()...)
}
