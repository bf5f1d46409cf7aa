package sim

import (
	"context"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Functions have several processes, each with a memory of its own, and new ones begin
// without any.
const (
	processes  = 3  // that follow runs in turn
	newProcess = 11 // one of so many calls is by a new process
)

// A place is a run in the memory of a process.
type place struct {
	process int
	run     string
}

// Follow implements engine.Runs. It reads only the steps that a process has to read again,
// so that a step that was changed without having been selected is noticed.
func (s *Store) Follow(_ context.Context, id string) (run.Run, error) {
	r, err := s.follow(id)
	if err == nil && s.Followed != nil {
		s.Followed(r)
	}
	return r, err
}

func (s *Store) follow(id string) (run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.find(id)
	if err != nil {
		return run.Run{}, err
	}
	r := copyRun(k.run)
	if !k.committed {
		return r, nil
	}
	s.followed++
	at := place{s.followed % processes, id}
	steps := s.views[at]
	if steps == nil || r.State.Over() || s.followed%newProcess == 0 {
		steps = copySteps(k.steps)
		s.views[at] = steps
	}
	for _, n := range k.selected {
		if !steps[n].Over() {
			steps[n] = copySteps(k.steps[n : n+1])[0]
		}
	}
	r.Steps = slices.Clone(steps)
	return r, nil
}

// Select implements engine.Steps.
func (s *Store) Select(_ context.Context, id string, epoch int, steps []int) error {
	return s.write("Select", id, func() (bool, error) {
		k, err := s.withEpoch(id, epoch)
		if err == nil && k.run.State.Over() {
			err = fault.New(fault.Stale, "run %s has ended (%s)", id, k.run.State)
		}
		if err != nil {
			return false, err
		}
		k.selected = append(k.selected, steps...)
		return true, nil
	})
}
