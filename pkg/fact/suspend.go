package fact

import (
	"context"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// suspendFact is whether the project may be suspended, and whether the request is for suspended stacks too.
func suspendFact(allowed project.Grants) Fact {
	return Fact{Before: func(_ context.Context, e Reading, v *plan.View) error {
		v.Suspendable, v.WhileSuspended = allowed.Allow(e.Run.Project), e.Run.WhileSuspended
		return nil
	}}
}
