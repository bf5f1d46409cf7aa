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
	"github.com/stackwright/stackwright/pkg/project"
	"github.com/stackwright/stackwright/pkg/run"
)

var _ engine.Store = (*Store)(nil)

// A Store is an engine.Store in memory. It shares no memory with its callers.
// Use NewStore.
type Store struct {
	// After, if set, is called after each single write. It may read the store. Set
	// it before the store is used.
	After func(Write)

	// Followed, if set, is called with each run that a function follows.
	Followed func(run.Run)

	followed int                  // how often functions followed a run
	views    map[place][]run.Step // what the processes of functions know
	mu       sync.Mutex
	moved    int // the step of the newest Move
	runs     map[string]*storedRun
	open     map[string]bool
	locks    map[string]run.Lock               // by project
	records  map[string]map[string]plan.Record // by project and node
	owners   map[string]string                 // of adopted stacks, by ID
	lists    map[string][]string               // by project: runs in the order of their requests
	audit    map[string][]Entry                // by run

	lifetimes map[string]project.Lifetime // by project

	released map[string]bool // by run and request: the commands that released a lock
}

// A Write is one atomic write to the store.
type Write struct {
	Op   string // the method that wrote; a Commit is two writes, "Commit steps" and "Commit"
	Run  string // the run that it is about
	Step int    // the step that a Move is about
}

// storedRun is a run in the store. Its steps are visible once it is committed.
type storedRun struct {
	run       run.Run // without steps
	steps     []run.Step
	committed bool
	planner   int             // the number of the planner that wrote the steps
	commands  map[string]bool // IDs of the commands that the run has received
	selected  []int           // numbers of the steps that may have changed, in the order of the calls of Select
}

// An Entry is one entry of a run's audit log: a command, an answer or a new state.
type Entry struct {
	Time  time.Time
	What  string // a command, an answer or a state
	Force bool   // with a command: it was forced
	Who   string // gave the command or the answer; empty for a state
	Why   string
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		runs: make(map[string]*storedRun), open: make(map[string]bool), locks: make(map[string]run.Lock),
		records: make(map[string]map[string]plan.Record), owners: make(map[string]string), lists: make(map[string][]string), audit: make(map[string][]Entry),
		released: make(map[string]bool), lifetimes: make(map[string]project.Lifetime), views: make(map[place][]run.Step),
	}
}

// write does one write and calls After if it wrote.
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

// Lend returns a run without copying it, and its steps if it is committed. Callers must
// neither change nor keep it. It returns the zero Run if there is none.
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

// LendRecords returns the records of a project without copying them. Callers must
// neither change nor keep them.
func (s *Store) LendRecords(project string) map[string]plan.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[project]
}

// Adopted returns the projects that have adopted stacks, by the IDs of these.
func (s *Store) Adopted() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.owners)
}

// SetOutputs replaces the outputs in a record, as a version of Stackwright with a fault
// could have done.
func (s *Store) SetOutputs(project, node string, outputs map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.records[project][node]
	r.Outputs = outputs
	s.records[project][node] = r
}

// find returns the run of the given ID, or an error of kind Missing.
func (s *Store) find(id string) (*storedRun, error) {
	k, ok := s.runs[id]
	if !ok {
		return nil, fault.New(fault.Missing, "there is no run %s", id)
	}
	return k, nil
}

// withEpoch returns the run if it has the given epoch, and an error of kind Stale
// otherwise.
func (s *Store) withEpoch(id string, epoch int) (*storedRun, error) {
	k, err := s.find(id)
	if err == nil && k.run.Epoch != epoch {
		return nil, fault.New(fault.Stale, "run %s has epoch %d, not %d", id, k.run.Epoch, epoch)
	}
	return k, err
}

// CreateRun implements engine.Runs.
func (s *Store) CreateRun(_ context.Context, r run.Run) (out run.Run, fresh bool, err error) {
	err = s.write("CreateRun", r.ID, func() (bool, error) {
		if k, ok := s.runs[r.ID]; ok {
			out = copyRun(k.run)
			return false, nil
		}
		s.create(r)
		out, fresh = copyRun(r), true
		return true, nil
	})
	return out, fresh, err
}

// create stores a new run.
func (s *Store) create(r run.Run) {
	s.runs[r.ID] = &storedRun{run: copyRun(r)}
	s.open[r.ID] = true
	s.lists[r.Project] = append(s.lists[r.Project], r.ID)
}

// Run implements engine.Runs.
func (s *Store) Run(_ context.Context, id string) (run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.find(id)
	if err != nil {
		return run.Run{}, err
	}
	return copyRun(k.run), nil
}

// Load implements engine.Runs.
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

// RaiseEpoch implements engine.Executions.
func (s *Store) RaiseEpoch(_ context.Context, r run.Run) error {
	return s.write("RaiseEpoch", r.ID, func() (bool, error) {
		k, err := s.withEpoch(r.ID, r.Epoch)
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
			return false, fault.New(fault.Stale, "run %s has ended (%s)", r.ID, k.run.State)
		}
		k.run.Epoch, k.run.Token, k.run.PolledUntil, k.run.Events, k.run.Since = r.Epoch+1, "", time.Time{}, 0, time.Time{}
		k.run.Restarts, k.run.RestartedAt, k.run.FinishedAtRestart = r.Restarts, r.RestartedAt, r.FinishedAtRestart
		return true, nil
	})
}

// Commit implements engine.Executions. If two functions plan a run, the one that wrote
// its steps last commits.
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
			return false, fault.New(fault.Stale, "run %s was planned by another function", r.ID)
		}
		k.committed = true
		k.run.State, k.run.Operation, k.run.Source, k.run.MaxDeletions, k.run.Selection, k.run.Adopt = r.State, r.Operation, r.Source, r.MaxDeletions, r.Selection.Clone(), slices.Clone(r.Adopt)
		k.run.Retain, k.run.Skip, k.run.WhileSuspended = slices.Clone(r.Retain), slices.Clone(r.Skip), r.WhileSuspended
		k.run.Digest, k.run.Unchanged, k.run.Started, k.run.Rollback = r.Digest, r.Unchanged, r.Started, r.Rollback
		k.run.Deadline, k.run.Schedule, k.run.Messages = r.Deadline, r.Schedule, slices.Clone(r.Messages)
		k.run.MaxParallel, k.run.MaxFailures, k.run.Changes = slices.Clone(r.MaxParallel), slices.Clone(r.MaxFailures), r.Changes
		k.run.Kind, k.run.Approval, k.run.Destroy, k.run.Revision, k.run.Values, k.run.Snapshot = r.Kind, r.Approval, r.Destroy, r.Revision, r.Values, r.Snapshot
		k.run.Settings = r.Settings
		k.run.SnapshotPolicy, k.run.NoBackups, k.run.KeepBackups = r.SnapshotPolicy, r.NoBackups, r.KeepBackups
		k.run.Authors = r.Authors
		k.run.FromEnvironment, k.run.FromRevision, k.run.Promotion = r.FromEnvironment, r.FromRevision, r.Promotion
		return true, nil
	})
}

// planned returns the stored run of r, if it is not planned yet.
func (s *Store) planned(r run.Run) (*storedRun, error) {
	k, err := s.withEpoch(r.ID, r.Epoch)
	if err == nil && k.run.State != run.StatePending {
		return nil, fault.New(fault.Stale, "run %s has been planned: it is %s", r.ID, k.run.State)
	}
	return k, err
}

// RecordCommand implements engine.Executions.
func (s *Store) RecordCommand(_ context.Context, id string, c run.GivenCommand) (out run.Run, err error) {
	err = s.write("RecordCommand", id, func() (bool, error) {
		k, err := s.find(id)
		switch {
		case err != nil:
			return false, err
		case k.commands[c.ID]:
			out = copyRun(k.run)
			return false, nil
		}
		if err := k.run.Give(c); err != nil {
			return false, err
		}
		if k.commands == nil {
			k.commands = make(map[string]bool)
		}
		k.commands[c.ID] = true
		s.audit[id] = append(s.audit[id], Entry{Time: c.At, What: string(c.Command), Force: c.Force, Who: c.Who, Why: c.Why})
		out = copyRun(k.run)
		return true, nil
	})
	return out, err
}

// Register implements engine.Executions.
func (s *Store) Register(_ context.Context, id string, epoch int, in engine.PollInput, events int, until time.Time) (newest bool, err error) {
	err = s.write("Register", id, func() (bool, error) {
		k, err := s.withEpoch(id, epoch)
		if err != nil || in.Entered.Before(k.run.Since) {
			return false, err
		}
		k.run.Token, k.run.PolledUntil, k.run.Since, newest = in.Token, until, in.Entered, true
		k.run.Events += events
		return true, nil
	})
	return newest, err
}

// EndPoll implements engine.Executions.
func (s *Store) EndPoll(_ context.Context, r run.Run) error {
	return s.write("EndPoll", r.ID, func() (bool, error) {
		k, err := s.withEpoch(r.ID, r.Epoch)
		if err != nil {
			return false, err
		}
		if k.run.Token != r.Token || k.run.Generation != r.Generation || k.run.Marks != r.Marks {
			return false, fault.New(fault.Stale, "run %s has changed since it was loaded", r.ID)
		}
		k.run.PolledUntil, k.run.Due = time.Time{}, r.Due
		return true, nil
	})
}

// MarkTidied implements engine.Executions.
func (s *Store) MarkTidied(_ context.Context, r run.Run) error {
	return s.write("MarkTidied", r.ID, func() (bool, error) {
		k, err := s.withEpoch(r.ID, r.Epoch)
		if err != nil {
			return false, err
		}
		if k.run.Token != r.Token || k.run.State.Over() {
			return false, fault.New(fault.Stale, "run %s has changed since it was loaded", r.ID)
		}
		k.run.Tidied, k.run.Messages = r.Tidied, slices.Clone(r.Messages)
		return true, nil
	})
}

// List implements engine.Runs.
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

// Projects implements engine.Records.
func (s *Store) Projects(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.lists)), nil
}

// Open implements engine.Runs.
func (s *Store) Open(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.open)), nil
}

// Audit returns the audit log of a run, oldest entry first.
func (s *Store) Audit(id string) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.audit[id])
}
