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
	// After, if set, is called after each single write. It may read the store. Set
	// it before the store is used.
	After func(Write)

	mu      sync.Mutex
	moved   int // the step of the Move that is being written
	runs    map[string]*kept
	open    map[string]bool
	locks   map[string]run.Lock               // by project
	records map[string]map[string]plan.Record // by project and node
	lists   map[string][]string               // by project: runs in the order in which they were asked for
	audit   map[string][]Entry                // by run
}

// A Write is a change of the store that was made at once.
type Write struct {
	Op   string // the method that wrote; a Commit is two writes, "Commit steps" and "Commit"
	Run  string // that it is about
	Step int    // that it is about, if it is a Move
}

// kept is a run as it is kept: its steps are nobody's until it is committed.
type kept struct {
	run       run.Run // without steps
	steps     []run.Step
	committed bool
	planner   int             // who wrote the steps
	since     time.Time       // when the wait began whose token is the run's
	wishes    map[string]bool // by request: what was carried out
}

// An Entry is a line of a run's audit: what was wished of it, or what it came to.
type Entry struct {
	Time  time.Time
	What  string // a wish or a state
	Force bool   // it was wished with force
	Who   string // wished it; empty for what happened by itself
	Why   string
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		runs: make(map[string]*kept), open: make(map[string]bool), locks: make(map[string]run.Lock),
		records: make(map[string]map[string]plan.Record), lists: make(map[string][]string), audit: make(map[string][]Entry),
	}
}

// write does one write and, if it wrote, tells whoever wants to know.
func (s *Store) write(op, id string, do func() (wrote bool, err error)) error {
	s.mu.Lock()
	wrote, err := do()
	w := Write{Op: op, Run: id, Step: s.moved}
	s.mu.Unlock()
	if wrote && s.After != nil {
		s.After(w)
	}
	return err
}

// Lend returns a run as it is kept, with its steps if it is committed: to be
// looked at, not changed and not kept. It is zero if there is none.
func (s *Store) Lend(id string) run.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.runs[id]
	if !ok {
		return run.Run{}
	}
	r := k.run
	if k.committed {
		r.Steps = k.steps
	}
	return r
}

// LendRecords returns the records of a project as they are kept: to be looked at,
// not changed and not kept.
func (s *Store) LendRecords(project string) map[string]plan.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[project]
}

// find returns the run of the given ID, or an error of kind Missing.
func (s *Store) find(id string) (*kept, error) {
	k, ok := s.runs[id]
	if !ok {
		return nil, fault.New(fault.Missing, "there is no run %s", id)
	}
	return k, nil
}

// driven returns the run if its epoch is the given one, else a Stale error.
func (s *Store) driven(id string, epoch int) (*kept, error) {
	k, err := s.find(id)
	if err == nil && k.run.Epoch != epoch {
		return nil, fault.New(fault.Stale, "run %s has epoch %d, not %d", id, k.run.Epoch, epoch)
	}
	return k, err
}

// Ask is engine.Runs.
func (s *Store) CreateRun(_ context.Context, r run.Run) (out run.Run, fresh bool, err error) {
	err = s.write("CreateRun", r.ID, func() (bool, error) {
		if k, ok := s.runs[r.ID]; ok {
			out = copyRun(k.run)
			return false, nil
		}
		s.ask(r)
		out, fresh = copyRun(r), true
		return true, nil
	})
	return out, fresh, err
}

// ask keeps a run that is asked for.
func (s *Store) ask(r run.Run) {
	s.runs[r.ID] = &kept{run: copyRun(r)}
	s.open[r.ID] = true
	s.lists[r.Project] = append(s.lists[r.Project], r.ID)
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

// Raise is engine.Drives.
func (s *Store) RaiseEpoch(_ context.Context, r run.Run) error {
	return s.write("RaiseEpoch", r.ID, func() (bool, error) {
		k, err := s.driven(r.ID, r.Epoch)
		if err != nil {
			return false, err
		}
		switch k.run.State {
		case run.StateWaiting:
			k.run.State = run.StateRunning
		case run.StateQueued:
			k.run.State = run.StatePending
		}
		if k.run.State.Over() {
			return false, fault.New(fault.Stale, "run %s is over (%s)", r.ID, k.run.State)
		}
		k.run.Epoch, k.run.Token, k.run.Events, k.since = r.Epoch+1, "", 0, time.Time{}
		k.run.Restarts, k.run.RestartedAt, k.run.FinishedAtRestart = r.Restarts, r.RestartedAt, r.FinishedAtRestart
		return true, nil
	})
}

// Commit is engine.Drives. Whoever writes the steps last is the one who commits.
func (s *Store) Commit(_ context.Context, r run.Run) error {
	var mine int
	err := s.write("Commit steps", r.ID, func() (bool, error) {
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
	return s.write("Commit", r.ID, func() (bool, error) {
		k, err := s.planned(r)
		if err != nil {
			return false, err
		}
		if k.planner != mine {
			return false, fault.New(fault.Stale, "run %s is planned by another", r.ID)
		}
		k.committed = true
		k.run.State, k.run.Operation, k.run.Source, k.run.MaxDeletions, k.run.Only = r.State, r.Operation, r.Source, r.MaxDeletions, slices.Clone(r.Only)
		k.run.Digest, k.run.Unchanged, k.run.Started, k.run.Rollback = r.Digest, r.Unchanged, r.Started, r.Rollback
		k.run.Deadline, k.run.Schedule = r.Deadline, r.Schedule
		return true, nil
	})
}

// planned returns the run that r is the plan of, if it may still be planned.
func (s *Store) planned(r run.Run) (*kept, error) {
	k, err := s.driven(r.ID, r.Epoch)
	if err == nil && k.run.State != run.StatePending {
		return nil, fault.New(fault.Stale, "run %s has been planned: it is %s", r.ID, k.run.State)
	}
	return k, err
}

// Wish is engine.Drives.
func (s *Store) RecordCommand(_ context.Context, id string, w run.GivenCommand) (out run.Run, err error) {
	err = s.write("RecordCommand", id, func() (bool, error) {
		k, err := s.find(id)
		switch {
		case err != nil:
			return false, err
		case k.wishes[w.ID]:
			out = copyRun(k.run)
			return false, nil
		}
		if err := k.run.Give(w); err != nil {
			return false, err
		}
		if k.wishes == nil {
			k.wishes = make(map[string]bool)
		}
		k.wishes[w.ID] = true
		s.audit[id] = append(s.audit[id], Entry{Time: w.At, What: string(w.Command), Force: w.Force, Who: w.Who, Why: w.Why})
		out = copyRun(k.run)
		return true, nil
	})
	return out, err
}

// Register is engine.Drives.
func (s *Store) Register(_ context.Context, id string, epoch int, w engine.PollInput, events int) (newest bool, err error) {
	err = s.write("Register", id, func() (bool, error) {
		k, err := s.driven(id, epoch)
		if err != nil || w.Entered.Before(k.since) {
			return false, err
		}
		k.run.Token, k.since, newest = w.Token, w.Entered, true
		k.run.Events += events
		return true, nil
	})
	return newest, err
}

// List is engine.Runs.
func (s *Store) List(_ context.Context, project string, most int) ([]run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := make([]run.Run, 0, len(s.lists[project]))
	for _, id := range s.lists[project] {
		runs = append(runs, copyRun(s.runs[id].run))
	}
	slices.SortFunc(runs, func(a, b run.Run) int {
		return cmp.Or(b.Requested.Compare(a.Requested), cmp.Compare(b.ID, a.ID))
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

// Open is engine.Runs.
func (s *Store) Open(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.open)), nil
}

// Audit lists what people wished of a run and what it came to, in order.
func (s *Store) Audit(id string) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.audit[id])
}
