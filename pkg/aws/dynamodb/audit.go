package dynamodb

import (
	"context"
	"slices"
	"time"

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
	events, err := decodeAll[eventItem](items)
	var all []run.AuditEntry
	for _, e := range events {
		if e.Who != "" { // the other entries are states that the run has reached
			all = append(all, run.AuditEntry{Run: id, Time: e.Time, What: e.What, Force: e.Force, Who: e.Who, From: e.From, Why: e.Why})
		}
	}
	slices.SortStableFunc(all, func(a, b run.AuditEntry) int { return a.Time.Compare(b.Time) })
	return slices.Compact(all), err
}

// changeKey is that of an entry of the audit log of the installation. The entries sort by time.
func changeKey(at time.Time, id string) key { return key{"AUDIT", stamp(at) + "#" + id} }

// changing writes an entry of the audit log of the installation.
func changing(id string, e run.AuditEntry) write {
	return write{key: changeKey(e.Time, id), put: eventItem{Time: e.Time, What: e.What, Who: e.Who, From: e.From, Why: e.Why}}
}

// RecordChange records a change of the installation once for each ID and time.
func (t *Table) RecordChange(ctx context.Context, id string, e run.AuditEntry) error {
	_, err := t.write(ctx, changing(id, e))
	return err
}

// AuditOfInstallation returns the changes of the installation since a time and before another one, newest first. The zero time is no limit.
func (t *Table) AuditOfInstallation(ctx context.Context, since, before time.Time) ([]run.AuditEntry, error) {
	s := span{pk: changeKey(since, "").pk, from: " ", to: last, newest: true}
	if !since.IsZero() {
		s.from = changeKey(since, "").sk
	}
	if !before.IsZero() {
		s.to = changeKey(before, "").sk
	}
	items, err := t.query(ctx, s)
	if err != nil {
		return nil, err
	}
	events, err := decodeAll[eventItem](items)
	var all []run.AuditEntry
	for _, e := range events {
		all = append(all, run.AuditEntry{Time: e.Time, What: e.What, Who: e.Who, From: e.From, Why: e.Why})
	}
	return all, err
}
