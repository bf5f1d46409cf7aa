package dynamodb

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/fault"
	"github.com/stackwright/stackwright/pkg/run"
)

// A run that has ended is deleted with all its items, also if an earlier attempt has deleted the run alone; nothing lists it then. A run that has not ended
// stays.
func TestDeleteRun(t *testing.T) {
	table := open(t, &wire{page: 7})
	r := planned(t, table, 230)
	if err := table.DeleteRun(t.Context(), r); !fault.Is(err, fault.Stale) {
		t.Errorf("a run that has not ended: %v", err)
	}
	if again, err := table.Load(t.Context(), r.ID); err != nil || len(again.Steps) != 230 {
		t.Fatalf("it has %d steps, %v", len(again.Steps), err)
	}
	r.State, r.Ended = run.StateSucceeded, time.Now()
	must(t, table.End(t.Context(), r, run.Exit{From: run.StateRunning, Unchanged: true}))
	must(t, table.DeleteRun(t.Context(), r))
	left, err := table.query(t.Context(), span{pk: runKey(r.ID).pk, from: "A", to: last})
	if err != nil || len(left) > 0 {
		t.Errorf("%d items are left, %v", len(left), err)
	}
	if _, err := table.Run(t.Context(), r.ID); !fault.Is(err, fault.Missing) {
		t.Errorf("the run: %v", err)
	}
	items, err := table.query(t.Context(), prefixed("PROJECT#"+r.Project, "RUN#"))
	if err != nil || len(items) > 0 {
		t.Errorf("the list of the project has %d items, %v", len(items), err)
	}
	if _, err := table.write(t.Context(), write{key: stepKey(r.ID, 3), put: stepItemOf(run.Step{Number: 3})}); err != nil {
		t.Fatal(err)
	}
	must(t, table.DeleteRun(t.Context(), r))
	if left, err := table.query(t.Context(), span{pk: runKey(r.ID).pk, from: "A", to: last}); err != nil || len(left) > 0 {
		t.Errorf("after an attempt that was interrupted, %d items are left, %v", len(left), err)
	}
}
