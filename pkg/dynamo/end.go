package dynamo

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// End is engine.Runs.
func (t *Table) End(ctx context.Context, r run.Run) error {
	now := time.Now()
	event := eventItem{Time: now, What: string(r.State), Drive: r.Drive}
	ended := write{
		key: runKey(r.ID), set: values{"state": r.State, "messages": r.Messages, "ended": r.Ended},
		where: "#drive = :drive AND #news = :news AND " + live, with: alive(values{"drive": r.Drive, "news": r.News}),
	}
	if !r.State.Over() {
		failed, err := t.write(ctx, ended, write{key: eventKey(r.ID, now, nonce()), put: event})
		if err == nil && failed != held {
			return notEnded(r)
		}
		return err
	}
	expires := now.Add(kept).Unix()
	ended.set["expires"], event.Expires = expires, expires
	line := listItem{Run: r.ID, Project: r.Project, Operation: r.Operation, Asked: r.Asked, Expires: expires}
	err := t.finish(ctx, r,
		ended,
		write{key: openKey(r.ID), delete: true},
		write{key: listKey(r.Project, r.Asked, r.ID), put: line},
		write{key: eventKey(r.ID, now, nonce()), put: event},
	)
	if err != nil {
		return err
	}
	if err := t.expire(ctx, r.ID, expires); err != nil {
		// The run has ended, and that is what was asked. These items are kept for longer than needed.
		slog.WarnContext(ctx, "what belongs to a run that is over will not expire", "run", r.ID, "why", err)
	}
	return nil
}

// finish carries out the writes that end r, and lets go of the lock if it is
// r's: DynamoDB cannot delete "if", so that one of two transactions fits.
func (t *Table) finish(ctx context.Context, r run.Run, writes ...write) error {
	mine := values{"me": r.ID}
	locks := []write{
		{key: lockKey(r.Project), delete: true, where: "attribute_not_exists(#PK) OR #run = :me", with: mine},
		{key: lockKey(r.Project), where: "#run <> :me", with: mine},
	}
	for attempt := range mostAttempts {
		failed, err := t.write(ctx, append(slices.Clone(writes), locks[attempt%2])...)
		switch {
		case err != nil || failed == held:
			return err
		case failed < len(writes):
			return notEnded(r)
		}
	}
	return fault.New(fault.Throttled, "end run %s: the lock on %s changes hands too fast", r.ID, r.Project)
}

// notEnded says that r is not as its driver believes.
func notEnded(r run.Run) error {
	return fault.New(fault.Stale, "run %s is over, has news, or is no longer driven by %d", r.ID, r.Drive)
}

// expire marks what belongs to a run that is over, and changes no more, as
// kept only until then.
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
	return nil
}
