package dynamodb

import (
	"context"
	"slices"

	"github.com/stackwright/stackwright/pkg/run"
)

// Audit returns what people, schedules and newer uploads have given to a run, in the order of time: each command and each answer. The
// transaction that makes such a change writes its entry: a command under the ID of its request, and what is no command of a
// request as an event. A command that releases a lock is written as both.
func (t *Table) Audit(ctx context.Context, id string) ([]run.AuditEntry, error) {
	items, err := t.query(ctx, span{pk: runKey(id).pk, from: commandPrefix, to: eventPrefix + last})
	if err != nil {
		return nil, err
	}
	var all []run.AuditEntry
	for _, i := range items {
		var e eventItem
		if err := decode(i, &e); err != nil {
			return nil, err
		}
		if e.Who != "" { // the other entries are states that the run has reached
			all = append(all, run.AuditEntry{Run: id, Time: e.Time, What: e.What, Force: e.Force, Who: e.Who, Why: e.Why})
		}
	}
	slices.SortStableFunc(all, func(a, b run.AuditEntry) int { return a.Time.Compare(b.Time) })
	return slices.Compact(all), nil
}
