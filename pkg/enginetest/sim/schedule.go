package sim

import (
	"context"
	"maps"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ engine.Schedules = (*Schedules)(nil)

// Schedules are engine.Schedules in memory. They start nothing by themselves: a test
// submits the request of a schedule that is due. Use NewSchedules.
type Schedules struct {
	schedules map[string]map[string]project.Schedule // by project and name
}

// NewSchedules returns empty Schedules.
func NewSchedules() *Schedules {
	return &Schedules{schedules: make(map[string]map[string]project.Schedule)}
}

// SetSchedules implements engine.Schedules.
func (s *Schedules) SetSchedules(_ context.Context, id string, wanted map[string]project.Schedule, now time.Time) error {
	stored := make(map[string]project.Schedule)
	for name, w := range wanted {
		if s.schedules[id][name].Equal(w) || !w.Past(now) {
			stored[name] = w
		}
	}
	s.schedules[id] = stored
	return nil
}

// Of lists the schedules of a project.
func (s *Schedules) Of(id string) map[string]project.Schedule { return maps.Clone(s.schedules[id]) }

// crashingSchedules are the schedules that functions use: each call takes time, and may
// fail or crash the function.
type crashingSchedules struct{ backend *Backend }

// SetSchedules implements engine.Schedules.
func (m crashingSchedules) SetSchedules(ctx context.Context, id string, wanted map[string]project.Schedule, now time.Time) error {
	return m.backend.do(ctx, "Schedules.SetSchedules", id, func() error { return m.backend.Schedules.SetSchedules(ctx, id, wanted, now) })
}
