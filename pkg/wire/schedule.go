package wire

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// unscheduled is an installation without a schedule group.
type unscheduled struct{}

// Arrange is engine.Schedules.
func (unscheduled) Arrange(_ context.Context, id string, wanted map[string]project.Schedule, _ time.Time) error {
	if len(wanted) == 0 {
		return nil
	}
	return fault.New(fault.Refused, "this installation has no schedule group: remove schedules: from %s", id)
}
