package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// MarkWaiting implements engine.Executions.
func (t *Table) MarkWaiting(ctx context.Context, r run.Run) error {
	now := time.Now()
	return t.require(ctx, notEnded(r),
		write{
			key: runKey(r.ID), set: values{"state": run.StateWaiting, "observed_generation": r.Generation},
			where: "#epoch = :epoch AND #generation = :generation AND " + live, with: alive(values{"epoch": r.Epoch, "generation": r.Generation}),
		},
		write{key: eventKey(r.ID, now, nonce()), put: eventItem{Time: now, What: string(run.StateWaiting), Epoch: r.Epoch}},
	)
}

// End implements engine.Locks.
func (t *Table) End(ctx context.Context, r run.Run, x run.Exit) error {
	now := time.Now()
	writes := ending(r, now)
	writes[0].set["changes"], writes[0].set["same"] = r.Changes, r.Same
	writes[0].where = "#epoch = :epoch AND #generation = :generation AND #state = :from AND " + live
	writes[0].with = alive(values{"epoch": r.Epoch, "generation": r.Generation, "from": x.From})
	lock := change(r.Project, x.Lock)
	if x.Unchanged {
		lock.put = nil
	}
	writes = append(writes, lock)
	if x.Rollback != nil {
		writes = append(writes, creating(*x.Rollback)...)
	}
	if x.Promotion != nil {
		writes = append(writes, creating(*x.Promotion)...)
	}
	if x.Lifetime != nil {
		writes = append(writes, lifetime(*x.Lifetime))
	}
	if err := t.require(ctx, notEnded(r), writes...); err != nil {
		return err
	}
	t.forget(ctx, r.ID, now.Add(retention).Unix())
	return nil
}

// Release implements engine.Locks. It sets the state of the run whatever else its item holds,
// so that no function takes it for a run in progress.
func (t *Table) Release(ctx context.Context, project, id string, l run.Lock, c run.GivenCommand) error {
	expires := time.Now().Add(retention).Unix()
	given := commandItem(c)
	given.Expires = expires
	writes := []write{
		change(project, l),
		{key: openKey(id), delete: true},
		{key: eventKey(id, c.At, nonce()), put: given},
		{key: commandKey(id, c.ID), put: given},
		{key: expiringKey(id), put: expiringItem{Run: id, Expires: expires}},
	}
	i, err := t.get(ctx, runKey(id))
	if err != nil {
		return err
	}
	if len(i) > 0 {
		writes = append(writes, write{
			key: runKey(id), set: values{"state": run.StateCancelled, "messages": []string{c.Why}, "ended": c.At, "expires": expires}, where: "attribute_exists(#PK)",
		})
	}
	if err := t.require(ctx, fault.New(fault.Stale, "the lock on %s or run %s has changed", project, id), writes...); err != nil {
		return err
	}
	t.forget(ctx, id, expires)
	return nil
}

// Released implements engine.Locks.
func (t *Table) Released(ctx context.Context, id, request string) (bool, error) {
	i, err := t.get(ctx, commandKey(id, request))
	return len(i) > 0, err
}

// forget lets the other items of a run that has ended expire with it. The end is written
// already: if forget fails, or its function crashes, Tidy does the rest.
func (t *Table) forget(ctx context.Context, id string, expires int64) {
	if err := t.expire(ctx, id, expires); err != nil {
		slog.WarnContext(ctx, "the items of a run that has ended do not expire before the next sweep", "run", id, "why", err)
	}
}

// Tidy implements engine.Runs: it lets the items of ended runs expire that have no time
// to expire yet.
func (t *Table) Tidy(ctx context.Context) error {
	items, err := t.query(ctx, prefixed(expiringKey("").pk, expiringKey("").sk))
	if err != nil {
		return err
	}
	var failed []error
	for _, i := range items {
		var e expiringItem
		err := decode(i, &e)
		if err == nil {
			err = t.expire(ctx, e.Run, e.Expires)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// ending returns the writes for the end of a run. The first write is the run itself; the
// caller sets its condition.
func ending(r run.Run, now time.Time) []write {
	expires := now.Add(retention).Unix()
	return []write{
		{key: runKey(r.ID), set: values{"state": r.State, "messages": r.Messages, "ended": r.Ended, "expires": expires}},
		{key: openKey(r.ID), delete: true},
		{key: listKey(r.Project, r.Requested, r.ID), put: listItem{Run: r.ID, Project: r.Project, Operation: r.Operation, Requested: r.Requested, Expires: expires}},
		{key: eventKey(r.ID, now, nonce()), put: eventItem{Time: now, What: string(r.State), Epoch: r.Epoch, Expires: expires}},
		{key: expiringKey(r.ID), put: expiringItem{Run: r.ID, Expires: expires}},
	}
}

// notEnded returns the error of a caller that has read an older version of r or its
// lock.
func notEnded(r run.Run) error {
	return fault.New(fault.Stale, "run %s has ended, has a newer generation or no longer has epoch %d; or the lock or the lifetime of %s has changed", r.ID, r.Epoch, r.Project)
}

// expire makes all other items of a run expire, and then deletes its expiring item.
func (t *Table) expire(ctx context.Context, id string, expires int64) error {
	items, err := t.query(ctx, span{pk: runKey(id).pk, from: "A", to: last, keys: true})
	if err != nil {
		return err
	}
	var writes []write
	for _, i := range items {
		if k := i.key(); k != runKey(id) {
			writes = append(writes, write{key: k, set: values{"expires": expires}})
		}
	}
	for chunk := range slices.Chunk(writes, mostWrites) {
		if failed, err := t.write(ctx, chunk...); err != nil {
			return err
		} else if failed != held {
			return fmt.Errorf("item %s is refused", chunk[failed].key.sk)
		}
	}
	_, err = t.write(ctx, write{key: expiringKey(id), delete: true})
	return err
}
