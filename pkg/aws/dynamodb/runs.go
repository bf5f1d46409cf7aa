package dynamodb

import (
	"context"
	"strings"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// CreateRun implements engine.Runs.
func (t *Table) CreateRun(ctx context.Context, r run.Run) (run.Run, bool, error) {
	failed, err := t.write(ctx, creating(r)...)
	if err != nil {
		return run.Run{}, false, err
	}
	stored, err := t.Run(ctx, r.ID)
	return stored, err == nil && failed == held, err
}

// creating returns the writes that create a run, on condition that none has its ID.
func creating(r run.Run) []write {
	line := listItem{Run: r.ID, Project: r.Project, Operation: r.Operation, Requested: r.Requested}
	return []write{
		{key: runKey(r.ID), put: itemOf(r), where: "attribute_not_exists(#PK)"},
		{key: openKey(r.ID), put: line},
		{key: listKey(r.Project, r.Requested, r.ID), put: line},
		{key: projectKey(r.Project), set: values{"requested": r.Requested}},
	}
}

// item returns the item of a run, or an error of kind Missing.
func (t *Table) item(ctx context.Context, id string) (runItem, error) {
	i, err := t.get(ctx, runKey(id))
	if err != nil {
		return runItem{}, err
	}
	return decodeRun(id, i)
}

// Run implements engine.Runs.
func (t *Table) Run(ctx context.Context, id string) (run.Run, error) {
	i, err := t.item(ctx, id)
	if err != nil {
		return run.Run{}, err
	}
	return i.run(), nil
}

// Load implements engine.Runs. A run and its steps have one partition key, so that one
// query reads them.
func (t *Table) Load(ctx context.Context, id string) (run.Run, error) {
	r, _, _, err := t.load(ctx, id)
	return r, err
}

// load returns a run with its steps, and the steps that its log of selected steps has in
// its first entries.
func (t *Table) load(ctx context.Context, id string) (r run.Run, logged int, selected []int, err error) {
	items, err := t.query(ctx, span{pk: runKey(id).pk, from: runKey(id).sk, to: stepPrefix + last})
	if err != nil {
		return run.Run{}, 0, nil, err
	}
	if len(items) == 0 || items[0].text("SK") != runKey(id).sk {
		return run.Run{}, 0, nil, fault.New(fault.Missing, "there is no run %s", id)
	}
	head, err := decodeRun(id, items[0])
	if err != nil {
		return run.Run{}, 0, nil, err
	}
	r = head.run()
	if !head.committed() {
		return r, 0, nil, nil
	}
	items = items[1:]
	for ; len(items) > 0 && strings.HasPrefix(items[0].text("SK"), selectedPrefix); logged++ {
		var entry selectedItem
		if err := decode(items[0], &entry); err != nil {
			return run.Run{}, 0, nil, err
		}
		items, selected = items[1:], append(selected, entry.Steps...)
	}
	r.Steps, err = decodeSteps(id, items, head.Steps)
	return r, logged, selected, err
}

// decodeSteps reads all steps of a run. An older planner may have written further ones.
func decodeSteps(id string, items []item, planned int) ([]run.Step, error) {
	items = items[:min(planned, len(items))]
	steps := make([]run.Step, len(items))
	for n, i := range items {
		var err error
		if steps[n], err = decodeStep(i); err != nil {
			return nil, err
		}
		if steps[n].Number != n {
			return nil, fault.New(fault.Broken, "run %s: step %d is missing from the table", id, n)
		}
	}
	if len(steps) != planned {
		return nil, fault.New(fault.Broken, "run %s: it has %d steps, of which %d are in the table", id, planned, len(steps))
	}
	return steps, nil
}

// RaiseEpoch implements engine.Executions. A new epoch means a new execution: it has no token
// yet, and its history is empty. If the write is refused, the stored nonce shows whether
// an earlier attempt of this call has succeeded and its answer was lost.
func (t *Table) RaiseEpoch(ctx context.Context, r run.Run) error {
	mine := nonce()
	for {
		was, err := t.item(ctx, r.ID)
		switch {
		case err != nil:
			return err
		case was.Epoch == r.Epoch+1 && was.Raiser == mine:
			return nil
		case was.Epoch != r.Epoch:
			return stale(r.ID, r.Epoch)
		case was.State.Over():
			return fault.New(fault.Stale, "run %s has ended (%s)", r.ID, was.State)
		}
		failed, err := t.write(ctx, write{
			key: runKey(r.ID), set: values{
				"epoch": r.Epoch + 1, "state": awake(was.State), "token": "", "since": stamp(time.Time{}), "polled_until": time.Time{}, "events": 0, "raiser": mine,
				"restarts": r.Restarts, "restarted_at": r.RestartedAt, "finished_at_restart": r.FinishedAtRestart,
			},
			where: "#epoch = :from AND #state = :was", with: values{"from": r.Epoch, "was": was.State},
		})
		if err != nil || failed == held {
			return err
		}
	}
}

// awake returns the state that a run has once it gets a new execution.
func awake(s run.State) run.State {
	switch s {
	case run.StateWaiting:
		return run.StateRunning
	case run.StateQueued:
		return run.StatePending
	}
	return s
}

// Register implements engine.Executions.
func (t *Table) Register(ctx context.Context, id string, epoch int, w engine.PollInput, events int, until time.Time) (bool, error) {
	since := stamp(w.Entered)
	failed, err := t.write(ctx, write{
		key: runKey(id), set: values{"token": w.Token, "since": since, "polled_until": until}, add: values{"events": events},
		where: "#epoch = :epoch AND #since <= :entered", with: values{"epoch": epoch, "entered": since},
	})
	if err != nil || failed == held {
		return err == nil, err
	}
	r, err := t.Run(ctx, id)
	if fault.Is(err, fault.Missing) || err == nil && r.Epoch != epoch {
		err = stale(id, epoch)
	}
	return false, err
}

// EndPoll implements engine.Executions.
func (t *Table) EndPoll(ctx context.Context, r run.Run) error {
	return t.require(ctx, fault.New(fault.Stale, "run %s has changed since it was loaded", r.ID), write{
		key: runKey(r.ID), set: values{"polled_until": time.Time{}, "due": r.Due},
		where: "#epoch = :epoch AND #token = :token AND #generation = :generation AND #marks = :marks",
		with:  values{"epoch": r.Epoch, "token": r.Token, "generation": r.Generation, "marks": r.Marks},
	})
}

// MarkTidied implements engine.Executions.
func (t *Table) MarkTidied(ctx context.Context, r run.Run) error {
	return t.require(ctx, fault.New(fault.Stale, "run %s has changed since it was loaded", r.ID), write{
		key: runKey(r.ID), set: values{"tidied": r.Tidied, "messages": r.Messages},
		where: "#epoch = :epoch AND #token = :token AND " + live, with: alive(values{"epoch": r.Epoch, "token": r.Token}),
	})
}

// stale returns the error of a caller whose epoch is no longer the run's.
func stale(id string, epoch int) error {
	return fault.New(fault.Stale, "run %s no longer has epoch %d", id, epoch)
}
