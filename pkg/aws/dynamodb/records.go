package dynamodb

import (
	"context"
	"maps"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/plan"
	"github.com/stackwright/stackwright/pkg/run"
)

// Records implements engine.Records.
func (t *Table) Records(ctx context.Context, project string) (map[string]plan.Record, error) {
	items, err := t.query(ctx, prefixed(recordKey(project, "").pk, recordPrefix))
	if err != nil {
		return nil, err
	}
	return t.decodeRecords(ctx, slices.Values(items))
}

// Stacks returns how many records a project has.
func (t *Table) Stacks(ctx context.Context, project string) (int, error) {
	of := prefixed(recordKey(project, "").pk, recordPrefix)
	of.keys = true
	items, err := t.query(ctx, of)
	return len(items), err
}

// RecordsOf implements engine.Records.
func (t *Table) RecordsOf(ctx context.Context, project string, nodes []string) (map[string]plan.Record, error) {
	keys := make([]key, len(nodes))
	for i, node := range nodes {
		keys[i] = recordKey(project, node)
	}
	items, err := t.all(ctx, keys)
	if err != nil {
		return nil, err
	}
	records, err := t.decodeRecords(ctx, maps.Values(items))
	if fault.Is(err, fault.Broken) {
		return nil, fault.As(fault.Unavailable, err) // no step fails: functions of the right version will read it
	}
	return records, err
}

// Rename implements engine.Records.
func (t *Table) Rename(ctx context.Context, r run.Run, records []plan.Record) error {
	for len(records) > 0 {
		n, actions, bytes := 0, 0, 0
		for _, record := range records {
			actions += 2 * len(splitNeeds(record.Needs))
			bytes += bytesOf(&record)
			if n > 0 && (actions > mostWrites || bytes > mostBytes) {
				break
			}
			n++
		}
		if err := t.renameSome(ctx, r, slices.Clone(records[:n])); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// renameSome renames as many records as one transaction can hold. If a record no longer
// exists, or is about another stack by now, it tries again without that record.
func (t *Table) renameSome(ctx context.Context, r run.Run, records []plan.Record) error {
	for len(records) > 0 {
		writes := []write{{
			key: runKey(r.ID), where: "#epoch = :epoch AND #state = :before", with: values{"epoch": r.Epoch, "before": r.State},
		}}
		for _, record := range records {
			writes = append(writes, leave(recordKey(r.Project, record.FormerName), record))
		}
		for _, record := range records {
			put := storing(recordKey(r.Project, record.Node), record, 0)
			put[0].where = "" // the name is free
			writes = append(writes, put...)
			writes = append(writes, deletingParts(recordKey(r.Project, record.FormerName), 0, len(put)-1)...)
		}
		failed, err := t.write(ctx, writes...)
		switch {
		case err != nil || failed == held:
			return err
		case failed == 0:
			return notPlanned(r)
		}
		records = slices.Delete(records, failed-1, failed)
	}
	return nil
}

// leave returns the deletion of a record from its old key, on condition that it is still
// about the same stack.
func leave(old key, r plan.Record) write {
	w := write{key: old, delete: true, where: "#stack = :stack AND attribute_not_exists(#stack_id)", with: values{"stack": r.Stack}}
	if r.StackID != "" {
		w.where, w.with = "#stack = :stack AND #stack_id = :id", values{"stack": r.Stack, "id": r.StackID}
	}
	return w
}

// List implements engine.Runs.
func (t *Table) List(ctx context.Context, project string, most int) ([]run.Run, error) {
	lines := prefixed("PROJECT#"+project, "RUN#")
	lines.newest, lines.most = true, most
	return t.listed(ctx, lines)
}

// Before lists runs as List does, but only runs of r's project that are older than r.
func (t *Table) Before(ctx context.Context, r run.Run, most int) ([]run.Run, error) {
	lines := prefixed("PROJECT#"+r.Project, "RUN#")
	lines.to, lines.newest = listKey(r.Project, r.Requested, r.ID).sk, true
	if most > 0 {
		lines.most = most + 1
	}
	runs, err := t.listed(ctx, lines)
	if len(runs) > 0 && runs[0].ID == r.ID {
		runs = runs[1:]
	}
	if most > 0 && len(runs) > most {
		runs = runs[:most] // r has expired meanwhile
	}
	return runs, err
}

// listed returns the runs of the given entries of a list.
func (t *Table) listed(ctx context.Context, lines span) ([]run.Run, error) {
	items, err := t.query(ctx, lines)
	if err != nil {
		return nil, err
	}
	keys := make([]key, len(items))
	for n, i := range items {
		keys[n] = runKey(i.text("run"))
	}
	got, err := t.all(ctx, keys)
	if err != nil {
		return nil, err
	}
	runs := make([]run.Run, 0, len(items))
	for n, i := range items {
		r, err := decodeRun(i.text("run"), got[keys[n]])
		if fault.Is(err, fault.Missing) {
			continue // the run has expired
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r.run())
	}
	return runs, nil
}

// Exists reports whether a project has had a run.
func (t *Table) Exists(ctx context.Context, project string) (bool, error) {
	i, err := t.get(ctx, projectKey(project))
	return len(i) > 0, err
}

// Projects implements engine.Records.
func (t *Table) Projects(ctx context.Context) ([]string, error) {
	items, err := t.query(ctx, span{pk: projectKey("").pk, from: " ", to: last})
	return texts(items, "SK"), err
}
