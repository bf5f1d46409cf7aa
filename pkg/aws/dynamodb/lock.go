package dynamodb

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/engine"
	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Lock is engine.Locks.
func (t *Table) Lock(ctx context.Context, project string) (run.Lock, error) {
	i, err := t.get(ctx, lockKey(project))
	if err != nil {
		return run.Lock{}, err
	}
	var l run.Lock
	return l, decode(i, &l)
}

// change writes the next version of a lock, on condition that it is the one that
// was read.
func change(project string, l run.Lock) write {
	w := write{key: lockKey(project), where: "attribute_not_exists(#PK)"}
	if l.Version > 0 {
		w.where, w.with = "#version = :version", values{"version": l.Version}
	}
	l.Version++
	w.put = l
	return w
}

// Enter is engine.Locks.
func (t *Table) Enter(ctx context.Context, r run.Run, e run.Entry, now time.Time) error {
	state := run.StateQueued
	if e.Owns {
		state = run.StatePending
	}
	writes := []write{change(r.Project, e.Lock), {
		key: runKey(r.ID), set: values{"state": state},
		where: "#epoch = :epoch AND #state = :pending", with: values{"epoch": r.Epoch, "pending": run.StatePending},
	}}
	for _, id := range e.Superseded {
		old, err := t.Run(ctx, id)
		if err != nil {
			return err
		}
		old.State, old.By, old.Ended = run.StateSuperseded, r.ID, now
		over := ending(old, time.Now())
		over[0].where, over[0].with = live, alive(nil)
		over[0].set["by"] = r.ID
		writes = append(writes, over...)
	}
	if e.StopOwner != "" {
		writes = append(writes,
			write{key: runKey(e.StopOwner), set: values{"command": run.Supersede, "by": r.ID}, add: values{"generation": 1}, where: live, with: alive(nil)},
			write{key: eventKey(e.StopOwner, now, nonce()), put: eventItem{Time: now, What: string(run.Supersede), Who: r.ID}},
		)
	}
	failed, err := t.write(ctx, writes...)
	switch {
	case err != nil:
		return err
	case failed != held:
		return fault.New(fault.Stale, "the lock on %s has changed, or run %s is no longer planned by %d", r.Project, r.ID, r.Epoch)
	}
	for _, id := range e.Superseded {
		t.forget(ctx, id, time.Now())
	}
	return nil
}

// Open is engine.Runs.
func (t *Table) Open(ctx context.Context) ([]string, error) {
	items, err := t.query(ctx, prefixed(openKey("").pk, openKey("").sk))
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(items))
	for n, i := range items {
		ids[n] = i.text("run")
	}
	return ids, nil
}

// Wish is engine.Drives. What is wished is kept under the request that wished
// it, so that it is carried out once.
func (t *Table) RecordCommand(ctx context.Context, id string, w engine.CommandRecord) (run.Run, error) {
	once := write{key: commandKey(id, w.ID), put: eventItem{Time: w.At, What: string(w.Command), Force: w.Force, Who: w.Who, Why: w.Why}, where: "attribute_not_exists(#PK)"}
	for {
		was, err := t.Run(ctx, id)
		if err != nil {
			return run.Run{}, err
		}
		wish, refused := was.Obey(w.Command)
		wished := write{
			key: runKey(id), set: values{"command": wish, "forced": w.Force || was.Forced}, add: values{"generation": 1},
			where: live + " AND #command = :was AND #generation = :generation", with: alive(values{"was": was.Command, "generation": was.Generation}),
		}
		if refused != nil { // unless it was obeyed before
			wished = write{key: runKey(id), where: "attribute_not_exists(#PK)"}
		}
		failed, err := t.write(ctx, once, wished)
		switch {
		case err != nil:
			return run.Run{}, err
		case failed != 1:
			return t.Run(ctx, id)
		case refused != nil:
			return run.Run{}, refused
		}
	}
}
