package sim

import (
	"context"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/project"
)

// Lifetime implements engine.Lifetimes.
func (s *Store) Lifetime(_ context.Context, id string) (project.Lifetime, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lifetimes[id], nil
}

// Lifetimes implements engine.Lifetimes.
func (s *Store) Lifetimes(context.Context) ([]project.Lifetime, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []project.Lifetime
	for _, id := range slices.Sorted(maps.Keys(s.lifetimes)) {
		all = append(all, s.lifetimes[id])
	}
	return all, nil
}

// SetLifetime implements engine.Lifetimes.
func (s *Store) SetLifetime(_ context.Context, l project.Lifetime) error {
	return s.write("SetLifetime", l.Project, func() (bool, error) {
		if err := s.sameLifetime(l); err != nil {
			return false, err
		}
		s.setLifetime(l)
		return true, nil
	})
}

// sameLifetime returns an error of kind Stale if a lifetime has changed since l was read.
func (s *Store) sameLifetime(l project.Lifetime) error {
	if v := s.lifetimes[l.Project].Version; v != l.Version {
		return fault.New(fault.Stale, "the lifetime of %s has changed: it is version %d, not %d", l.Project, v, l.Version)
	}
	return nil
}

// setLifetime writes the next version of a lifetime, or deletes one without an end.
func (s *Store) setLifetime(l project.Lifetime) {
	if !l.Known() {
		delete(s.lifetimes, l.Project)
		return
	}
	s.lifetimes[l.Project] = l.Raised()
}

// Lifetime implements engine.Lifetimes.
func (m crashingStore) Lifetime(ctx context.Context, id string) (project.Lifetime, error) {
	return got(m.backend, ctx, "Store.Lifetime", id, func() (project.Lifetime, error) { return m.store.Lifetime(ctx, id) })
}

// Lifetimes implements engine.Lifetimes.
func (m crashingStore) Lifetimes(ctx context.Context) ([]project.Lifetime, error) {
	return got(m.backend, ctx, "Store.Lifetimes", "", func() ([]project.Lifetime, error) { return m.store.Lifetimes(ctx) })
}

// SetLifetime implements engine.Lifetimes.
func (m crashingStore) SetLifetime(ctx context.Context, l project.Lifetime) error {
	return m.backend.do(ctx, "Store.SetLifetime", l.Project, func() error { return m.store.SetLifetime(ctx, l) })
}
