package sim

import (
	"context"
	"maps"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ engine.Schedules = (*Schedules)(nil)

// Schedules are engine.Schedules in memory. They come up when told to. Use
// NewSchedules.
type Schedules struct {
	kept map[string]map[string]project.Schedule // by project and name
}

// NewSchedules returns those of an installation without any.
func NewSchedules() *Schedules {
	return &Schedules{kept: make(map[string]map[string]project.Schedule)}
}

// Arrange is engine.Schedules.
func (s *Schedules) SetSchedules(_ context.Context, id string, wanted map[string]project.Schedule, now time.Time) error {
	kept := make(map[string]project.Schedule)
	for name, w := range wanted {
		if s.kept[id][name] == w || !w.Past(now) {
			kept[name] = w
		}
	}
	s.kept[id] = kept
	return nil
}

// Of lists the schedules of a project.
func (s *Schedules) Of(id string) map[string]project.Schedule { return maps.Clone(s.kept[id]) }

// mortalSchedules are schedules as functions reach them.
type crashingSchedules struct{ world *World }

// Arrange is engine.Schedules.
func (m crashingSchedules) SetSchedules(ctx context.Context, id string, wanted map[string]project.Schedule, now time.Time) error {
	return m.world.do(ctx, "Schedules.SetSchedules", id, func() error { return m.world.Schedules.SetSchedules(ctx, id, wanted, now) })
}
