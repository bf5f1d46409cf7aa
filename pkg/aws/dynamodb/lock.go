package dynamodb

import (
	"context"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// Lock implements engine.Locks.
func (t *Table) Lock(ctx context.Context, project string) (run.Lock, error) {
	i, err := t.get(ctx, lockKey(project))
	if err != nil {
		return run.Lock{}, err
	}
	var l run.Lock
	return l, decode(i, &l)
}

// change returns the write of the next version of a lock, on condition that nobody has
// changed the lock since it was read.
func change(project string, l run.Lock) write {
	w := write{key: lockKey(project), where: "attribute_not_exists(#PK)"}
	if l.Version > 0 {
		w.where, w.with = "#version = :version", values{"version": l.Version}
	}
	l.Version++
	w.put = l
	return w
}

// Enter implements engine.Locks.
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
		generation := old.Generation
		old.ReplaceBy(r, now)
		over := ending(old, time.Now())
		over[0].where, over[0].with = "#generation = :generation AND "+live, alive(values{"generation": generation})
		over[0].set["superseded_by"], over[0].set["commands"] = old.SupersededBy, old.Commands
		writes = append(writes, over...)
	}
	if e.StopOwner != "" {
		owner, err := t.Run(ctx, e.StopOwner)
		if err != nil {
			return err
		}
		generation := owner.Generation
		owner.StopFor(r, now)
		writes = append(writes, give(owner, generation),
			write{key: eventKey(owner.ID, now, nonce()), put: eventItem{Time: now, What: string(run.Supersede), Who: r.By(), From: r.From, Why: "run " + r.ID}})
	}
	changed := fault.New(fault.Stale, "the lock on %s or a run has changed, or run %s is no longer pending with epoch %d", r.Project, r.ID, r.Epoch)
	if err := t.require(ctx, changed, writes...); err != nil {
		return err
	}
	for _, id := range e.Superseded {
		t.forget(ctx, id, time.Now().Add(retention).Unix())
	}
	return nil
}

// Open implements engine.Runs.
func (t *Table) Open(ctx context.Context) ([]string, error) {
	items, err := t.query(ctx, prefixed(openKey("").pk, openKey("").sk))
	return texts(items, "run"), err
}

// RecordCommand implements engine.Executions. The command is stored under the ID of its
// request too, so that it is carried out once.
func (t *Table) RecordCommand(ctx context.Context, id string, c run.GivenCommand) (run.Run, error) {
	once := write{key: commandKey(id, c.ID), put: commandItem(c), where: "attribute_not_exists(#PK)"}
	for {
		r, err := t.Run(ctx, id)
		if err != nil {
			return run.Run{}, err
		}
		generation := r.Generation
		refused := r.Give(c)
		given := give(r, generation)
		if refused != nil { // unless the command is stored already
			given = write{key: runKey(id), where: "attribute_not_exists(#PK)"}
		}
		failed, err := t.write(ctx, once, given)
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

// give returns the write of the commands of r, on condition of the generation that r had
// before.
func give(r run.Run, generation int) write {
	return write{
		key: runKey(r.ID), set: values{
			"command": r.Command, "commands": r.Commands, "forced": r.Forced, "superseded_by": r.SupersededBy, "generation": r.Generation,
		},
		where: "#generation = :generation AND " + live, with: alive(values{"generation": generation}),
	}
}
