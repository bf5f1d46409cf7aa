package sim

import (
	"context"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// step returns a step of a committed run, or an error of kind Missing.
func (k *storedRun) step(number int) (*run.Step, error) {
	if !k.committed || number < 0 || number >= len(k.steps) {
		return nil, fault.New(fault.Missing, "run %s has no step %d", k.run.ID, number)
	}
	return &k.steps[number], nil
}

// Move implements engine.Steps.
func (s *Store) Move(_ context.Context, changes ...engine.Change) error {
	for _, c := range changes {
		if err := s.move(c); err != nil {
			return err
		}
	}
	return nil
}

// move writes one change.
func (s *Store) move(c engine.Change) error {
	return s.write("Move", c.Run, func() (bool, error) {
		k, err := s.withEpoch(c.Run, c.Epoch)
		if err != nil {
			return false, err
		}
		if c.Claims() && (k.run.State != run.StateRunning || k.run.Command != run.Continue || k.run.Token != c.Token) {
			return false, fault.New(fault.Stale, "run %s is %s, and is to %s, or has a newer poll", c.Run, k.run.State, k.run.Command)
		}
		was, err := k.step(c.Step.Number)
		if err != nil {
			return false, err
		}
		if was.Status != c.From || was.Attempt != c.Attempt || c.Nonce != "" && was.Nonce != c.Nonce {
			repeated := was.Nonce == c.Step.Nonce && was.Status == c.Step.Status && was.Attempt == c.Step.Attempt
			if repeated {
				return false, nil
			}
			return false, fault.New(fault.Stale, "step %s is %s in attempt %d, not %s in attempt %d", was.ID, was.Status, was.Attempt, c.From, c.Attempt)
		}
		if owner := s.owners[c.Adopts]; c.Adopts != "" && owner != "" && owner != c.Project {
			return false, fault.New(fault.Taken, "stack %s is adopted by %s", c.Adopts, owner)
		}
		next := c.Step
		next.Step, next.Spec, next.Event, next.Reported, next.Answer = was.Step, was.Spec, was.Event, was.Reported, was.Answer // only plans and events write these
		if c.From == run.Pending {
			next.Event, next.Reported = run.Event{}, false
		}
		*was, s.moved = next, c.Step.Number
		if c.Forget {
			delete(s.records[c.Project], c.Step.Node)
		} else if c.Record != nil {
			s.put(c.Project, *c.Record)
		}
		if c.Adopts != "" {
			s.owners[c.Adopts] = c.Project
		}
		if s.owners[c.Frees] == c.Project {
			delete(s.owners, c.Frees)
		}
		return true, nil
	})
}

// Postpone implements engine.Steps.
func (s *Store) Postpone(_ context.Context, id string, epoch int, steps []run.Step) error {
	return s.write("Postpone", id, func() (wrote bool, err error) {
		k, err := s.withEpoch(id, epoch)
		if err != nil {
			return false, err
		}
		for _, next := range steps {
			was, err := k.step(next.Number)
			if err != nil {
				return wrote, err
			}
			if was.Status != run.Running || was.Attempt != next.Attempt {
				continue
			}
			was.Due, was.Why, was.Forced, wrote = next.Due, next.Why, next.Forced, true
			unpolled := was.Event.Status != "" && was.Event.Polls == 0
			observed := next.Event == run.Event{Status: was.Event.Status, Polls: 1}
			if !unpolled || observed {
				was.Event = next.Event
			}
		}
		return wrote, nil
	})
}

// MarkEvent implements engine.Steps.
func (s *Store) MarkEvent(_ context.Context, id string, number, attempt int, status plan.Status) (marked bool, err error) {
	err = s.write("MarkEvent", id, func() (bool, error) {
		k, ok := s.runs[id]
		if !ok {
			return false, nil
		}
		step, err := k.step(number)
		if k.run.State.Over() {
			return false, nil
		}
		marked = err == nil && step.Status == run.Running && step.Attempt == attempt
		if slices.Contains(plan.Starts(), status) {
			if marked {
				step.Reported = true
			}
			return marked, nil
		}
		k.run.Marks++
		if marked {
			step.Event = run.Event{Status: status}
		}
		return true, nil
	})
	return marked, err
}

// Records implements engine.Records.
func (s *Store) Records(_ context.Context, project string) (map[string]plan.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]plan.Record, len(s.records[project]))
	for node, r := range s.records[project] {
		all[node] = copyRecord(r)
	}
	return all, nil
}

// RecordsOf implements engine.Records.
func (s *Store) RecordsOf(_ context.Context, project string, nodes []string) (map[string]plan.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	some := make(map[string]plan.Record, len(nodes))
	for _, node := range nodes {
		if r, ok := s.records[project][node]; ok {
			some[node] = copyRecord(r)
		}
	}
	return some, nil
}

// Rename implements engine.Records.
func (s *Store) Rename(_ context.Context, r run.Run, records []plan.Record) error {
	return s.write("Rename", r.ID, func() (wrote bool, err error) {
		k, err := s.withEpoch(r.ID, r.Epoch)
		if err != nil {
			return false, err
		}
		if k.run.State != r.State {
			return false, fault.New(fault.Stale, "run %s is planned already", r.ID)
		}
		for _, record := range records {
			was, ok := s.records[k.run.Project][record.FormerName]
			if ok && was.Stack == record.Stack && was.StackID == record.StackID {
				delete(s.records[k.run.Project], record.FormerName)
				s.put(k.run.Project, record)
				wrote = true
			}
		}
		return wrote, nil
	})
}

// put stores a record.
func (s *Store) put(project string, r plan.Record) {
	if s.records[project] == nil {
		s.records[project] = make(map[string]plan.Record)
	}
	s.records[project][r.Node] = copyRecord(r)
}

// copyRun returns a run that shares nothing with r, without steps.
func copyRun(r run.Run) run.Run {
	r.Messages, r.Selection, r.Adopt, r.Retain, r.Commands, r.Steps = slices.Clone(r.Messages), r.Selection.Clone(), slices.Clone(r.Adopt), slices.Clone(r.Retain), slices.Clone(r.Commands), nil
	r.MaxParallel, r.MaxFailures = slices.Clone(r.MaxParallel), slices.Clone(r.MaxFailures)
	return r
}

// copySteps returns steps that share nothing with the given ones, in two blocks of
// memory.
func copySteps(steps []run.Step) []run.Step {
	if len(steps) == 0 {
		return nil
	}
	total := 0
	for i := range steps {
		total += len(steps[i].After)
	}
	all := make([]int, 0, total)
	out := slices.Clone(steps)
	for i := range out {
		begin := len(all)
		all = append(all, out[i].After...)
		out[i].After = all[begin:len(all):len(all)]
		if len(all) == begin {
			out[i].After = nil
		}
	}
	return out
}

// copyRecord returns a record that shares nothing with r.
func copyRecord(r plan.Record) plan.Record {
	r.Needs, r.Outputs, r.Durations = slices.Clone(r.Needs), maps.Clone(r.Outputs), maps.Clone(r.Durations)
	return r
}
