package sim

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/project"
)

var _ engine.Schedules = (*Schedules)(nil)

// Schedules are engine.Schedules in memory. They start nothing by themselves: a test
// submits the request of a schedule that is due. Use NewSchedules.
type Schedules struct {
	schedules map[string]map[string]scheduled // by project and name
}

// A scheduled is a schedule and its call.
type scheduled struct {
	project.Schedule
	call project.Call
}

// NewSchedules returns empty Schedules.
func NewSchedules() *Schedules {
	return &Schedules{schedules: make(map[string]map[string]scheduled)}
}

// SetSchedules implements engine.Schedules.
func (s *Schedules) SetSchedules(_ context.Context, id string, wanted map[string]project.Schedule, authors []string, now time.Time) error {
	stored := make(map[string]scheduled)
	for name, w := range wanted {
		there := s.schedules[id][name]
		switch same := there.Equal(w); {
		case same && len(there.call.Authors) > 0:
			stored[name] = there
		case same || !w.Past(now):
			stored[name] = scheduled{w, w.Call(id, name, authors)}
		}
	}
	s.schedules[id] = stored
	return nil
}

// Of lists the schedules of a project.
func (s *Schedules) Of(id string) map[string]project.Schedule {
	all := make(map[string]project.Schedule)
	for name, one := range s.schedules[id] {
		all[name] = one.Schedule
	}
	return all
}

// Authors lists the authors of the schedules of a project, by their names.
func (s *Schedules) Authors(id string) map[string][]string {
	all := make(map[string][]string)
	for name, one := range s.schedules[id] {
		all[name] = one.call.Authors
	}
	return all
}

// crashingSchedules are the schedules that functions use: each call takes time, and may
// fail or crash the function.
type crashingSchedules struct{ backend *Backend }

// SetSchedules implements engine.Schedules.
func (m crashingSchedules) SetSchedules(ctx context.Context, id string, wanted map[string]project.Schedule, authors []string, now time.Time) error {
	return m.backend.do(ctx, "Schedules.SetSchedules", id, func() error { return m.backend.Schedules.SetSchedules(ctx, id, wanted, authors, now) })
}
