package fact

import (
	"context"
	"fmt"

	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/project"
)

// Units follows the accounts of targets of organizational units.
type Units interface {
	// Unreachable returns, of some targets in which stacks are recorded, those in accounts of units that nobody can use at present, with why, and those
	// of which that is not known: nothing may be changed there. Whether other targets can be used is not checked.
	Unreachable(ctx context.Context, targets []project.Target) (project.Unreached, error)
}

// unitFact is which accounts of organizational units can be used.
func unitFact(of Units) Fact { return Fact{Before: units{of}.read} }

type units struct {
	accounts Units
}

// read leaves out of a view the recorded stacks that no operation can be about, because they are in accounts of organizational units that nobody can use at
// present, and says which cannot be read because that is not known of their accounts.
func (u units) read(ctx context.Context, e Reading, v *plan.View) error {
	found, err := u.accounts.Unreachable(ctx, plan.TargetsLeft(v.Desired, v.Recorded))
	if err != nil {
		return fmt.Errorf("find which accounts can be used: %w", err)
	}
	o := e.operation(e.Run)
	closed, unread, err := v.Unreached(found, o)
	if err != nil {
		return fmt.Errorf("find which accounts can be used: %w", err)
	}
	*v = v.Leaving(closed, unread, o)
	return nil
}
