package sim

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

var _ engine.Store = (*Store)(nil)

// A Store is an engine.Store in memory. It shares no memory with its callers.
// Use NewStore.
type Store struct {
	// After, if set, is called after each single write, with the name of the
	// method that wrote. A Commit is two writes, "Commit steps" and "Commit".
	// It may read the store. Set it before the store is used.
	After func(op string)

	mu      sync.Mutex
	runs    map[string]*kept
	open    map[string]bool
	owners  map[string]string                 // by project
	records map[string]map[string]plan.Record // by project and node
	lists   map[string][]string               // by project: runs in the order in which they were asked for
	audit   map[string][]Entry                // by run
}

// kept is a run as it is kept: its steps are nobody's until it is committed.
type kept struct {
	run       run.Run // without steps
	steps     []run.Step
	committed bool
	planner   int // who wrote the steps
}

// An Entry is a line of a run's audit: what was wished of it, or what it came to.
type Entry struct {
	Time time.Time
	What string // a wish or a state
	Who  string // wished it; empty for what happened by itself
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		runs: make(map[string]*kept), open: make(map[string]bool), owners: make(map[string]string),
		records: make(map[string]map[string]plan.Record), lists: make(map[string][]string), audit: make(map[string][]Entry),
	}
}

// write does one write and, if it wrote, tells whoever wants to know.
func (s *Store) write(op string, do func() (wrote bool, err error)) error {
	s.mu.Lock()
	wrote, err := do()
	s.mu.Unlock()
	if wrote && s.After != nil {
		s.After(op)
	}
	return err
}

// find returns the run of the given ID, or an error of kind Missing.
func (s *Store) find(id string) (*kept, error) {
	k, ok := s.runs[id]
	if !ok {
		return nil, fault.New(fault.Missing, "there is no run %s", id)
	}
	return k, nil
}

// driven returns the run if its drive is the given one, else a Stale error.
func (s *Store) driven(id string, drive int) (*kept, error) {
	k, err := s.find(id)
	if err == nil && k.run.Drive != drive {
		return nil, fault.New(fault.Stale, "run %s has drive %d, not %d", id, k.run.Drive, drive)
	}
	return k, err
}

// Ask is engine.Runs.
func (s *Store) Ask(_ context.Context, r run.Run) (out run.Run, fresh bool, err error) {
	err = s.write("Ask", func() (bool, error) {
		if k, ok := s.runs[r.ID]; ok {
			out = copyRun(k.run)
			return false, nil
		}
		r.Steps = nil
		s.runs[r.ID] = &kept{run: copyRun(r)}
		s.open[r.ID] = true
		s.lists[r.Project] = append(s.lists[r.Project], r.ID)
		out, fresh = copyRun(r), true
		return true, nil
	})
	return out, fresh, err
}

// Run is engine.Runs.
func (s *Store) Run(_ context.Context, id string) (run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.find(id)
	if err != nil {
		return run.Run{}, err
	}
	return copyRun(k.run), nil
}

// Load is engine.Runs.
func (s *Store) Load(_ context.Context, id string) (run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.find(id)
	if err != nil {
		return run.Run{}, err
	}
	r := copyRun(k.run)
	if k.committed {
		r.Steps = copySteps(k.steps)
	}
	return r, nil
}

// Raise is engine.Runs.
func (s *Store) Raise(_ context.Context, id string, from int) error {
	return s.write("Raise", func() (bool, error) {
		k, err := s.driven(id, from)
		if err != nil {
			return false, err
		}
		if k.run.State.Over() {
			return false, fault.New(fault.Stale, "run %s is over (%s)", id, k.run.State)
		}
		k.run.Drive, k.run.Token, k.run.Events = from+1, "", 0
		if k.run.State == run.Parked {
			k.run.State = run.Going
		}
		return true, nil
	})
}

// Commit is engine.Runs. Whoever writes the steps last is the one who commits.
func (s *Store) Commit(_ context.Context, r run.Run) error {
	var mine int
	err := s.write("Commit steps", func() (bool, error) {
		k, err := s.planned(r)
		if err != nil {
			return false, err
		}
		k.planner++
		mine, k.steps = k.planner, copySteps(r.Steps)
		return true, nil
	})
	if err != nil {
		return err
	}
	return s.write("Commit", func() (bool, error) {
		k, err := s.planned(r)
		if err != nil {
			return false, err
		}
		if k.planner != mine {
			return false, fault.New(fault.Stale, "run %s is planned by another", r.ID)
		}
		k.committed = true
		k.run.State, k.run.Operation, k.run.Source, k.run.MaxDeletions = r.State, r.Operation, r.Source, r.MaxDeletions
		k.run.Digest, k.run.Unchanged, k.run.Begun = r.Digest, r.Unchanged, r.Begun
		return true, nil
	})
}

// planned returns the run that r is the plan of, if it may still be planned.
func (s *Store) planned(r run.Run) (*kept, error) {
	k, err := s.driven(r.ID, r.Drive)
	if err == nil && k.run.State != run.Asked {
		return nil, fault.New(fault.Stale, "run %s has been planned: it is %s", r.ID, k.run.State)
	}
	return k, err
}

// End is engine.Runs.
func (s *Store) End(_ context.Context, r run.Run) error {
	return s.write("End", func() (bool, error) {
		k, err := s.driven(r.ID, r.Drive)
		switch {
		case err != nil:
			return false, err
		case k.run.State.Over():
			return false, fault.New(fault.Stale, "run %s is over (%s)", r.ID, k.run.State)
		case k.run.News != r.News:
			return false, fault.New(fault.Stale, "run %s has news", r.ID)
		}
		k.run.State, k.run.Messages, k.run.Ended = r.State, slices.Clone(r.Messages), r.Ended
		s.audit[r.ID] = append(s.audit[r.ID], Entry{Time: r.Ended, What: string(r.State)})
		if r.State.Over() {
			delete(s.open, r.ID)
			if s.owners[k.run.Project] == r.ID {
				delete(s.owners, k.run.Project)
			}
		}
		return true, nil
	})
}

// Wish is engine.Runs.
func (s *Store) Wish(_ context.Context, id string, w run.Wish, who string, now time.Time) (out run.Run, err error) {
	err = s.write("Wish", func() (bool, error) {
		k, err := s.find(id)
		if err != nil {
			return false, err
		}
		if k.run.State.Over() {
			return false, fault.New(fault.Refused, "run %s is over (%s)", id, k.run.State)
		}
		k.run.Wish = w
		k.run.News++
		s.audit[id] = append(s.audit[id], Entry{Time: now, What: string(w), Who: who})
		out = copyRun(k.run)
		return true, nil
	})
	return out, err
}

// Register is engine.Runs.
func (s *Store) Register(_ context.Context, id string, drive int, token string, events int) error {
	return s.write("Register", func() (bool, error) {
		k, err := s.driven(id, drive)
		if err != nil {
			return false, err
		}
		k.run.Token = token
		k.run.Events += events
		return true, nil
	})
}

// List is engine.Records.
func (s *Store) List(_ context.Context, project string, most int) ([]run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := make([]run.Run, 0, len(s.lists[project]))
	for _, id := range s.lists[project] {
		runs = append(runs, copyRun(s.runs[id].run))
	}
	slices.SortFunc(runs, func(a, b run.Run) int {
		return cmp.Or(b.Asked.Compare(a.Asked), cmp.Compare(b.ID, a.ID))
	})
	if most > 0 && len(runs) > most {
		runs = runs[:most]
	}
	return runs, nil
}

// Projects lists the projects that were ever asked about, sorted.
func (s *Store) Projects(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.lists)), nil
}

// Owner returns the run that holds a project's lock, or "".
func (s *Store) Owner(project string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[project]
}

// Opens lists the runs that have an open item, sorted.
func (s *Store) Opens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.open))
}

// Audit lists what people wished of a run and what it came to, in order.
func (s *Store) Audit(id string) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.audit[id])
}
