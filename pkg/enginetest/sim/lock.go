package sim

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Lock implements engine.Locks.
func (s *Store) Lock(_ context.Context, project string) (run.Lock, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copyLock(s.locks[project]), nil
}

// Enter implements engine.Locks.
func (s *Store) Enter(_ context.Context, r run.Run, e run.Entry, now time.Time) error {
	return s.write("Enter", r.ID, func() (bool, error) {
		k, err := s.planned(r)
		if err != nil {
			return false, err
		}
		if err := s.same(r.Project, e.Lock); err != nil {
			return false, err
		}
		for _, id := range append(slices.Clone(e.Superseded), e.StopOwner) {
			if other, ok := s.runs[id]; id != "" && (!ok || other.run.State.Over()) {
				return false, fault.New(fault.Stale, "run %s is over", id)
			}
		}
		s.change(r.Project, e.Lock)
		if !e.Owns {
			k.run.State = run.StateQueued
		}
		for _, id := range e.Superseded {
			old := s.runs[id]
			old.run.ReplaceBy(k.run, now)
			s.audit[id] = append(s.audit[id], Entry{Time: now, What: string(run.StateSuperseded)})
			delete(s.open, id)
		}
		if owner, ok := s.runs[e.StopOwner]; ok {
			owner.run.StopFor(k.run, now)
			s.audit[e.StopOwner] = append(s.audit[e.StopOwner], Entry{Time: now, What: string(run.Supersede), Who: k.run.By()})
		}
		return true, nil
	})
}

// MarkWaiting implements engine.Executions.
func (s *Store) MarkWaiting(_ context.Context, r run.Run) error {
	return s.write("MarkWaiting", r.ID, func() (bool, error) {
		k, err := s.ending(r)
		if err != nil {
			return false, err
		}
		k.run.State, k.run.ObservedGeneration = run.StateWaiting, r.Generation
		s.audit[r.ID] = append(s.audit[r.ID], Entry{What: string(run.StateWaiting)})
		return true, nil
	})
}

// End implements engine.Locks.
func (s *Store) End(_ context.Context, r run.Run, x run.Exit) error {
	return s.write("End", r.ID, func() (bool, error) {
		k, err := s.ending(r)
		if err != nil {
			return false, err
		}
		if k.run.State != x.From {
			return false, fault.New(fault.Stale, "run %s is %s, not %s", r.ID, k.run.State, x.From)
		}
		if err := s.same(r.Project, x.Lock); err != nil {
			return false, err
		}
		if x.Lifetime != nil {
			if err := s.sameLifetime(*x.Lifetime); err != nil {
				return false, err
			}
			s.setLifetime(*x.Lifetime)
		}
		if !x.Unchanged {
			s.change(r.Project, x.Lock)
		}
		k.run.State, k.run.Messages, k.run.Ended = r.State, slices.Clone(r.Messages), r.Ended
		k.run.Changes, k.run.Same = r.Changes, r.Same
		s.audit[r.ID] = append(s.audit[r.ID], Entry{Time: r.Ended, What: string(r.State)})
		delete(s.open, r.ID)
		if x.Rollback != nil {
			s.create(*x.Rollback)
		}
		if x.Promotion != nil {
			s.create(*x.Promotion)
		}
		return true, nil
	})
}

// Release implements engine.Locks.
func (s *Store) Release(_ context.Context, project, id string, l run.Lock, c run.GivenCommand) error {
	return s.write("Release", id, func() (bool, error) {
		if err := s.same(project, l); err != nil {
			return false, err
		}
		s.change(project, l)
		s.released[id+" "+c.ID] = true
		delete(s.open, id)
		s.audit[id] = append(s.audit[id], Entry{Time: c.At, What: string(c.Command), Who: c.Who})
		if k, ok := s.runs[id]; ok {
			k.run.State, k.run.Messages, k.run.Ended = run.StateCancelled, []string{c.Why}, c.At
		}
		return true, nil
	})
}

// Released implements engine.Locks.
func (s *Store) Released(_ context.Context, id, request string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released[id+" "+request], nil
}

// Tidy implements engine.Runs. In memory, nothing is left undone.
func (s *Store) Tidy(context.Context) error { return nil }

// Lose deletes a run, as somebody might who edits the table by hand. All else that
// is stored about the run stays.
func (s *Store) Lose(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, id)
}

// ending returns the stored run of r, if the run may end or wait: since r was read, it
// has neither ended nor received a command.
func (s *Store) ending(r run.Run) (*storedRun, error) {
	k, err := s.withEpoch(r.ID, r.Epoch)
	switch {
	case err != nil:
		return nil, err
	case k.run.State.Over():
		return nil, fault.New(fault.Stale, "run %s has ended (%s)", r.ID, k.run.State)
	case k.run.Generation != r.Generation:
		return nil, fault.New(fault.Stale, "run %s has a newer generation", r.ID)
	}
	return k, nil
}

// same returns an error of kind Stale if the lock has changed since l was read.
func (s *Store) same(project string, l run.Lock) error {
	if v := s.locks[project].Version; v != l.Version {
		return fault.New(fault.Stale, "the lock on %s has changed: it is version %d, not %d", project, v, l.Version)
	}
	return nil
}

// change writes the next version of a lock.
func (s *Store) change(project string, l run.Lock) {
	l = copyLock(l)
	l.Version++
	s.locks[project] = l
}

// copyLock returns a lock that shares nothing with l.
func copyLock(l run.Lock) run.Lock {
	l.Waiting, l.Uploads = slices.Clone(l.Waiting), maps.Clone(l.Uploads)
	return l
}
