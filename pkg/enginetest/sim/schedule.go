package sim

import (
	"context"
	"maps"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ engine.Schedules = (*Schedules)(nil)

// Schedules are engine.Schedules in memory. A test says when one comes due. Use
// NewSchedules.
type Schedules struct {
	schedules map[string]map[string]project.Schedule // by project and name
}

// NewSchedules returns no schedules.
func NewSchedules() *Schedules {
	return &Schedules{schedules: make(map[string]map[string]project.Schedule)}
}

// SetSchedules is engine.Schedules.
func (s *Schedules) SetSchedules(_ context.Context, id string, wanted map[string]project.Schedule, now time.Time) error {
	stored := make(map[string]project.Schedule)
	for name, w := range wanted {
		if s.schedules[id][name] == w || !w.Past(now) {
			stored[name] = w
		}
	}
	s.schedules[id] = stored
	return nil
}

// Of lists the schedules of a project.
func (s *Schedules) Of(id string) map[string]project.Schedule { return maps.Clone(s.schedules[id]) }

// crashingSchedules are schedules as functions reach them.
type crashingSchedules struct{ world *World }

// SetSchedules is engine.Schedules.
func (m crashingSchedules) SetSchedules(ctx context.Context, id string, wanted map[string]project.Schedule, now time.Time) error {
	return m.world.do(ctx, "Schedules.SetSchedules", id, func() error { return m.world.Schedules.SetSchedules(ctx, id, wanted, now) })
}
