package dynamodb

import (
	"context"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// A transaction holds 100 actions and 4 MB. One action of each is a check.
const (
	mostWrites = 99
	mostBytes  = 3_000_000
)

// Commit implements engine.Executions. If Step Functions has repeated a call that still
// runs, two functions plan one run. The one that starts writing last wins: it writes its
// nonce into the run, and every write of steps has that nonce as condition. So no
// function changes the steps of a committed plan, and two plans are never mixed.
func (t *Table) Commit(ctx context.Context, r run.Run) error {
	mine := nonce()
	begin := write{
		key: runKey(r.ID), set: values{"planner": mine},
		where: "#epoch = :epoch AND #state = :pending", with: values{"epoch": r.Epoch, "pending": run.StatePending},
	}
	if err := t.require(ctx, notPlanned(r), begin); err != nil {
		return err
	}
	check := write{
		key: runKey(r.ID), where: "#planner = :mine AND #epoch = :epoch AND #state = :pending",
		with: values{"mine": mine, "epoch": r.Epoch, "pending": run.StatePending},
	}
	if err := t.writeSteps(ctx, check, r); err != nil {
		return err
	}
	commit := check
	commit.set = values{
		"state": r.State, "operation": r.Operation, "source": r.Source, "digest": r.Digest,
		"unchanged": r.Unchanged, "started": r.Started, "deadline": r.Deadline, "steps": len(r.Steps),
		"only": r.Only, "max_deletions": r.MaxDeletions, "rollback": r.Rollback, "schedule": r.Schedule, "messages": r.Messages,
		"max_parallel": r.MaxParallel,
	}
	failed, err := t.write(ctx, commit)
	if err != nil || failed == held {
		return err
	}
	now, err := t.item(ctx, r.ID)
	if err == nil && (now.Planner != mine || now.State == run.StatePending) {
		return notPlanned(r)
	}
	return err // the commit succeeded, and its answer was lost
}

// notPlanned returns the error of a function that may not plan r any more.
func notPlanned(r run.Run) error {
	return fault.New(fault.Stale, "run %s is planned already, or epoch %d is no longer its epoch", r.ID, r.Epoch)
}

// writeSteps writes r's steps, and deletes further steps that another planner has
// written, on the condition check.
func (t *Table) writeSteps(ctx context.Context, check write, r run.Run) error {
	left, err := t.query(ctx, span{pk: check.key.pk, from: stepKey(r.ID, len(r.Steps)).sk, to: stepPrefix + last, keys: true})
	if err != nil {
		return err
	}
	var writes []write
	bytes := 0
	flush := func() error {
		err := t.require(ctx, notPlanned(r), append([]write{check}, writes...)...)
		writes, bytes = writes[:0], 0
		return err
	}
	add := func(w write, size int) error {
		if len(writes) == mostWrites || bytes+size > mostBytes && len(writes) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		writes, bytes = append(writes, w), bytes+size
		return nil
	}
	for _, s := range r.Steps {
		if err := add(write{key: stepKey(r.ID, s.Number), put: stepItemOf(s)}, size(s)); err != nil {
			return err
		}
	}
	for _, i := range left {
		if err := add(write{key: i.key(), delete: true}, 0); err != nil {
			return err
		}
	}
	if len(writes) == 0 {
		return nil
	}
	return flush()
}

// size estimates the bytes of a planned step.
func size(s run.Step) int {
	return 1000 + 20*len(s.After)
}
