package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// refuseEmpty refuses r if it is about recorded stacks, and none is recorded: its success would say that all stacks
// are well, although the request probably names another environment than its user means. Runs of schedules and of the
// end of a lifetime are not refused, and neither is a destroy of what was deployed before: there is nothing left, as
// requested.
func (e *Engine) refuseEmpty(ctx context.Context, r run.Run, v plan.View) error {
	o := e.operation(r)
	if !v.Empty() || !o.OfRecorded() || r.Schedule != "" || !r.Expiry.IsZero() {
		return nil
	}
	if e.Operations.Of(strings.TrimPrefix(o.Name, plan.PlanPrefix)).DeletesAll {
		l, err := e.Store.Lock(ctx, r.Project)
		if err != nil || l.LastAttempted.Run != "" {
			return err
		}
	}
	others, err := e.recordedBeside(ctx, r.Project)
	if err != nil {
		return fmt.Errorf("list the environments of %s: %w", r.Project, err)
	}
	return plan.NothingRecorded(r.Project, others)
}

// recordedBeside lists the other environments of a project that have records, as "shop@prod", sorted.
func (e *Engine) recordedBeside(ctx context.Context, project string) ([]string, error) {
	all, err := e.Store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(project, "@")
	var beside, recorded []string
	for _, id := range all {
		if id != project && strings.HasPrefix(id, name+"@") {
			beside = append(beside, id)
		}
	}
	has := make([]bool, len(beside))
	err = e.Parallel(ctx, len(beside), func(ctx context.Context, i int) error {
		records, err := e.Store.Records(ctx, beside[i])
		has[i] = len(records) > 0
		return err
	})
	for i, id := range beside {
		if has[i] {
			recorded = append(recorded, id)
		}
	}
	return recorded, err
}
