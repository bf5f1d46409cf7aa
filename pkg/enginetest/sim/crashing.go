package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/stackwright/stackwright/pkg/action"
	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// crashingCloud is the cloud as functions reach it: calls take time and fail, and the
// function may crash.
type crashingCloud struct{ *World }

// got returns the answer of a call, if there is one.
func got[T any](w *World, ctx context.Context, call, about string, do func() (T, error)) (out T, err error) {
	err = w.do(ctx, call, about, func() error {
		v, err := do()
		if err == nil {
			out = v
		}
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// Live is the part of action.Cloud.
func (m crashingCloud) Live(ctx context.Context, p plan.Location) (plan.Live, error) {
	return got(m.World, ctx, "Cloud.Live", p.Stack, func() (plan.Live, error) {
		if err := m.Cloud.Limit.admit(m.Now(), 1, 0); err != nil {
			return plan.Live{}, err
		}
		return m.Cloud.Live(ctx, p)
	})
}

// Begin is the part of action.Cloud.
func (m crashingCloud) Begin(ctx context.Context, t action.Task) (plan.Receipt, error) {
	return got(m.World, ctx, "Cloud.Begin", about(t), func() (plan.Receipt, error) {
		reads := 1
		if t.Step.Verb == plan.Create {
			reads = 0
		}
		if err := m.Cloud.Limit.admit(m.Now(), reads, 1); err != nil {
			return plan.Receipt{}, err
		}
		return m.Cloud.Begin(ctx, t)
	})
}

// Cancel is the part of action.Cloud.
func (m crashingCloud) Cancel(ctx context.Context, t action.Task) error {
	return m.do(ctx, "Cloud.Cancel", about(t), func() error {
		if err := m.Cloud.Limit.admit(m.Now(), 0, 1); err != nil {
			return err
		}
		return m.Cloud.Cancel(ctx, t)
	})
}

// Events is the part of action.Cloud.
func (m crashingCloud) Events(ctx context.Context, t action.Task) (action.Operation, error) {
	return got(m.World, ctx, "Cloud.Events", about(t), func() (action.Operation, error) { return m.Cloud.Events(ctx, t) })
}

// Observe is the part of engine.Clouds.
func (m crashingCloud) Observe(ctx context.Context, places []plan.Location) (map[string]plan.Live, error) {
	return got(m.World, ctx, "Clouds.Observe", "", func() (map[string]plan.Live, error) {
		if err := m.Cloud.Limit.admit(m.Now(), 1, 0); err != nil {
			return nil, err
		}
		return m.Cloud.Observe(ctx, places)
	})
}

// crashingStore is the store as functions reach it.
type crashingStore struct {
	world *World
	store engine.Store
}

// CreateRun is the part of engine.Runs.
func (m crashingStore) CreateRun(ctx context.Context, r run.Run) (stored run.Run, fresh bool, err error) {
	err = m.world.do(ctx, "Store.CreateRun", r.ID, func() error {
		stored, fresh, err = m.store.CreateRun(ctx, r)
		return err
	})
	return stored, fresh, err
}

// Run is the part of engine.Runs.
func (m crashingStore) Run(ctx context.Context, id string) (run.Run, error) {
	return got(m.world, ctx, "Store.Run", id, func() (run.Run, error) { return m.store.Run(ctx, id) })
}

// Load is the part of engine.Runs.
func (m crashingStore) Load(ctx context.Context, id string) (run.Run, error) {
	return got(m.world, ctx, "Store.Load", id, func() (run.Run, error) { return m.store.Load(ctx, id) })
}

// RaiseEpoch is the part of engine.Executions.
func (m crashingStore) RaiseEpoch(ctx context.Context, r run.Run) error {
	return m.world.do(ctx, "Store.RaiseEpoch", r.ID, func() error { return m.store.RaiseEpoch(ctx, r) })
}

// Commit is the part of engine.Executions.
func (m crashingStore) Commit(ctx context.Context, r run.Run) error {
	return m.world.do(ctx, "Store.Commit", r.ID, func() error { return m.store.Commit(ctx, r) })
}

// Lock is the part of engine.Locks.
func (m crashingStore) Lock(ctx context.Context, project string) (run.Lock, error) {
	return got(m.world, ctx, "Store.Lock", project, func() (run.Lock, error) { return m.store.Lock(ctx, project) })
}

// Enter is the part of engine.Locks.
func (m crashingStore) Enter(ctx context.Context, r run.Run, e run.Entry, now time.Time) error {
	return m.world.do(ctx, "Store.Enter", r.ID, func() error { return m.store.Enter(ctx, r, e, now) })
}

// MarkWaiting is the part of engine.Executions.
func (m crashingStore) MarkWaiting(ctx context.Context, r run.Run) error {
	return m.world.do(ctx, "Store.MarkWaiting", r.ID, func() error { return m.store.MarkWaiting(ctx, r) })
}

// End is the part of engine.Locks.
func (m crashingStore) End(ctx context.Context, r run.Run, x run.Exit) error {
	return m.world.do(ctx, "Store.End", r.ID, func() error { return m.store.End(ctx, r, x) })
}

// RecordCommand is the part of engine.Executions.
func (m crashingStore) RecordCommand(ctx context.Context, id string, w run.GivenCommand) (run.Run, error) {
	return got(m.world, ctx, "Store.RecordCommand", id, func() (run.Run, error) { return m.store.RecordCommand(ctx, id, w) })
}

// Open is the part of engine.Runs.
func (m crashingStore) Open(ctx context.Context) ([]string, error) {
	return got(m.world, ctx, "Store.Open", "", func() ([]string, error) { return m.store.Open(ctx) })
}

// Register is the part of engine.Executions.
func (m crashingStore) Register(ctx context.Context, id string, epoch int, w engine.PollInput, events int) (bool, error) {
	return got(m.world, ctx, "Store.Register", id, func() (bool, error) { return m.store.Register(ctx, id, epoch, w, events) })
}

// Step is the part of engine.Steps.
func (m crashingStore) Step(ctx context.Context, id string, number int) (r run.Run, s run.Step, err error) {
	err = m.world.do(ctx, "Store.Step", fmt.Sprint(number), func() error {
		r, s, err = m.store.Step(ctx, id, number)
		return err
	})
	return r, s, err
}

// Move is the part of engine.Steps.
func (m crashingStore) Move(ctx context.Context, c engine.Change) error {
	about := fmt.Sprintf("%s %s→%s", c.Step.ID, c.From, c.Step.Status)
	return m.world.do(ctx, "Store.Move", about, func() error { return m.store.Move(ctx, c) })
}

// Postpone is the part of engine.Steps.
func (m crashingStore) Postpone(ctx context.Context, id string, epoch int, steps []run.Step) error {
	return m.world.do(ctx, "Store.Postpone", id, func() error { return m.store.Postpone(ctx, id, epoch, steps) })
}

// MarkEvent is the part of engine.Steps.
func (m crashingStore) MarkEvent(ctx context.Context, id string, number, attempt int, s plan.Status) (bool, error) {
	return got(m.world, ctx, "Store.MarkEvent", id, func() (bool, error) { return m.store.MarkEvent(ctx, id, number, attempt, s) })
}

// RecordAnswer is the part of engine.Answers.
func (m crashingStore) RecordAnswer(ctx context.Context, id string, number int, a run.Answer) (run.Run, error) {
	return got(m.world, ctx, "Store.RecordAnswer", id, func() (run.Run, error) { return m.store.RecordAnswer(ctx, id, number, a) })
}

// Records is the part of engine.Records.
func (m crashingStore) Records(ctx context.Context, project string) (map[string]plan.Record, error) {
	return got(m.world, ctx, "Store.Records", project, func() (map[string]plan.Record, error) { return m.store.Records(ctx, project) })
}

// RecordsOf is the part of engine.Records.
func (m crashingStore) RecordsOf(ctx context.Context, project string, nodes []string) (map[string]plan.Record, error) {
	return got(m.world, ctx, "Store.RecordsOf", project, func() (map[string]plan.Record, error) { return m.store.RecordsOf(ctx, project, nodes) })
}

// Rename is the part of engine.Records.
func (m crashingStore) Rename(ctx context.Context, r run.Run, records []plan.Record) error {
	return m.world.do(ctx, "Store.Rename", r.ID, func() error { return m.store.Rename(ctx, r, records) })
}

// List is the part of engine.Runs.
func (m crashingStore) List(ctx context.Context, project string, most int) ([]run.Run, error) {
	return got(m.world, ctx, "Store.List", project, func() ([]run.Run, error) { return m.store.List(ctx, project, most) })
}
