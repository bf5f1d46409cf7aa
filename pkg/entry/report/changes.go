package report

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Plans reads what plans change, and what change sets say. Their errors are of kind Missing if it is no longer stored.
type Plans interface {
	Changes(ctx context.Context, reference string) ([]byte, error)
	Proposal(ctx context.Context, reference string) (plan.Proposal, error)
}

// Changes returns what the plan of r changes, as JSON of plan.Changes: of stacks whose change sets wait for approval or were
// executed, what these say.
func Changes(ctx context.Context, from Plans, r run.Run) ([]byte, error) {
	text, err := from.Changes(ctx, r.Changes)
	if fault.Is(err, fault.Missing) {
		return nil, fault.New(fault.Missing, "what the plan of run %s changes is no longer stored: plan again", r.ID)
	}
	references := r.Proposals()
	if err != nil || len(references) == 0 {
		return text, err
	}
	var c plan.Changes
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fault.New(fault.Broken, "what the plan of run %s changes cannot be read: %w", r.ID, err)
	}
	proposals := make(map[string]plan.Proposal, len(references))
	for node, reference := range references {
		if proposals[node], err = from.Proposal(ctx, reference); err != nil {
			return nil, fmt.Errorf("read the change set of stack %s: %w", node, err)
		}
	}
	if c, err = c.Exact(proposals).Fit(plan.MaxChanges); err != nil {
		return nil, err
	}
	return json.Marshal(c)
}
