package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/revision"
	"github.com/stackwright/stackwright/pkg/run"
)

// findFiles gives r the files of the revision that it deploys again or promotes, if its operation does so.
func (e *Engine) findFiles(ctx context.Context, r *run.Run) error {
	if !e.operation(*r).FromRevision {
		return nil
	}
	if err := e.lock(ctx, *r); err != nil {
		return err
	}
	return revision.Finder{
		Store: e.Store, Operations: e.Operations, Alarms: e.Alarms, Permits: e.Permits,
		Deployable: func(ctx context.Context, r *run.Run) error { _, err := e.desired(ctx, r); return err },
	}.Give(ctx, r)
}

// PromotionOf names the promotion that follows a run, if one does.
func PromotionOf(id string) string { return RunID(id, "promote") }

// soaking returns the loop state of a run that may not begin yet: the execution waits until then, and plans it.
func soaking(r run.Run, now time.Time) LoopState {
	t := loopState(r, run.StateSoaking, 0)
	t.Wait = int((r.NotBefore.Sub(now) + time.Second - 1) / time.Second)
	return t
}

// startPromotion starts the execution of a promotion that follows a run. If the function crashes before, the sweep does so.
func (e *Engine) startPromotion(ctx context.Context, p *run.Run) error {
	if p == nil {
		return nil
	}
	if err := e.startExecution(ctx, *p); err != nil {
		return fmt.Errorf("promote the files of run %s: %w", p.Follows, err)
	}
	return nil
}
