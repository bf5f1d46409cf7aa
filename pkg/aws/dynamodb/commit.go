package dynamodb

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// A transaction holds 100 actions and 4 MB. One action of each is a check.
const (
	mostWrites = 99
	mostBytes  = 3_000_000
)

// writers is how many transactions write the steps of a plan at the same time.
const writers = 8

// Commit implements engine.Executions. If Step Functions has repeated a call that still
// runs, two functions plan one run. The planners of a run have numbers, and the newest
// wins: a step is written only over that of an older planner, and the run is committed
// only by its newest planner, after all its steps. So no function changes the steps of a
// committed plan, and two plans are never mixed. The writes of steps have no common item:
// DynamoDB refuses transactions on one item at the same time.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
func (t *Table) Commit(ctx context.Context, r run.Run) error {
	planner, err := t.raisePlanner(ctx, r)
	if err != nil {
		return err
	}
	commit := whilePlanning(r, planner)
	commit.set = values{
		"state": r.State, "operation": r.Operation, "source": r.Source, "digest": r.Digest, "changes": r.Changes,
		"unchanged": r.Unchanged, "started": r.Started, "deadline": r.Deadline, "steps": len(r.Steps),
		"only": r.Only, "exclude": r.Exclude, "with_dependencies": r.WithDependencies, "with_dependents": r.WithDependents, "changed_since": r.ChangedSince, "adopt": r.Adopt, "retain": r.Retain, "max_deletions": r.MaxDeletions, "rollback": r.Rollback, "schedule": r.Schedule, "messages": r.Messages,
		"while_suspended": r.WhileSuspended, "max_parallel": r.MaxParallel, "max_failures": r.MaxFailures, "kind": r.Kind, "approval": r.Approval, "destroy": r.Destroy, "revision": r.Revision, "snapshot": r.Snapshot, "values": r.Values, "promotion": r.Promotion,
		"from_environment": r.FromEnvironment, "from_revision": r.FromRevision, "skip": r.Skip,
		"snapshot_policy": r.SnapshotPolicy, "no_backups": r.NoBackups, "keep_backups": r.KeepBackups,
		"settings": r.Settings, "authors": r.Authors,
	}
	if err = t.writeSteps(ctx, r, planner); err == nil {
		err = t.require(ctx, notPlanned(r), commit)
	}
	if !fault.Is(err, fault.Stale) {
		return err
	}
	now, unread := t.item(ctx, r.ID)
	switch {
	case unread != nil:
		return unread
	case now.State.Over(): // the steps of this planner may be later than those that expire
		t.forget(ctx, r.ID, now.Expires)
	case now.Planner == planner && now.State != run.StatePending: // the commit succeeded, and its answer was lost
		return nil
	}
	return err
}

// raisePlanner gives the run a new planner and returns its number. If the answer to the
// write was lost, no planner has that number, and raisePlanner takes the next one.
func (t *Table) raisePlanner(ctx context.Context, r run.Run) (int, error) {
	for {
		now, err := t.item(ctx, r.ID)
		if err != nil {
			return 0, err
		}
		if now.Epoch != r.Epoch || now.State != run.StatePending {
			return 0, notPlanned(r)
		}
		raise := whilePlanning(r, now.Planner)
		raise.set = values{"planner_number": now.Planner + 1}
		failed, err := t.write(ctx, raise)
		if err != nil || failed == held {
			return now.Planner + 1, err
		}
	}
}

// whilePlanning returns a write of the run on condition that it has no plan, and that
// planner is the number of its newest planner.
func whilePlanning(r run.Run, planner int) write {
	return write{
		key: runKey(r.ID), where: "(attribute_not_exists(#planner_number) OR #planner_number = :planner) AND #epoch = :epoch AND #state = :pending",
		with: values{"planner": planner, "epoch": r.Epoch, "pending": run.StatePending},
	}
}

// notPlanned returns the error of a function that may not plan r any more.
func notPlanned(r run.Run) error {
	return fault.New(fault.Stale, "run %s is planned already, or epoch %d is no longer its epoch", r.ID, r.Epoch)
}

// writeSteps writes r's steps over those of older planners. Further steps of theirs stay in
// the table: nothing reads them, because the run says how many steps it has.
func (t *Table) writeSteps(ctx context.Context, r run.Run, planner int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	var writes []write
	bytes := 0
	flush := func() {
		some := writes
		writes, bytes = nil, 0
		group.Go(func() error { return t.require(ctx, notPlanned(r), some...) })
	}
	for _, s := range r.Steps {
		if len(writes) == mostWrites || bytes+size(s) > mostBytes && len(writes) > 0 {
			flush()
		}
		i := stepItemOf(s)
		i.Planner = planner
		writes, bytes = append(writes, write{
			key: stepKey(r.ID, s.Number), put: i,
			where: "attribute_not_exists(#PK) OR #planner_number < :planner", with: values{"planner": planner},
		}), bytes+size(s)
	}
	if len(writes) > 0 {
		flush()
	}
	return group.Wait()
}

// size estimates the bytes of a planned step.
func size(s run.Step) int {
	return 1000 + 20*len(s.After)
}
