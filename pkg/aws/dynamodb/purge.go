package dynamodb

import (
	"context"
	"fmt"
	"slices"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// DeleteRun deletes a run that has ended, and then all other items of it: if the function crashes between the two, these expire. What is left of
// a run that was deleted before is deleted, too. The error is Stale if the run has not ended. Entries of histories that name the run expire; until then no history lists them.
func (t *Table) DeleteRun(ctx context.Context, r run.Run) error {
	i, err := t.get(ctx, runKey(r.ID))
	if err != nil {
		return err
	}
	refused := fault.New(fault.Stale, "run %s has not ended", r.ID)
	if len(i) > 0 {
		was, err := decodeRun(r.ID, i)
		if err != nil {
			return err
		}
		if !was.State.Over() {
			return refused
		}
		err = t.require(ctx, refused,
			write{key: runKey(r.ID), delete: true, where: "#state = :state AND #epoch = :epoch", with: values{"state": was.State, "epoch": was.Epoch}},
			write{key: listKey(r.Project, r.Requested, r.ID), delete: true},
		)
		if err != nil {
			return err
		}
	}
	items, err := t.query(ctx, span{pk: runKey(r.ID).pk, from: "A", to: last, keys: true})
	if err != nil {
		return err
	}
	var writes []write
	for _, i := range items {
		writes = append(writes, write{key: i.key(), delete: true})
	}
	for chunk := range slices.Chunk(writes, mostWrites) {
		if failed, err := t.write(ctx, chunk...); err != nil {
			return err
		} else if failed != held {
			return fmt.Errorf("item %s is refused", chunk[failed].key.sk)
		}
	}
	_, err = t.write(ctx, write{key: expiringKey(r.ID), delete: true})
	return err
}
