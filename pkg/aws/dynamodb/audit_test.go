package dynamodb

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stackwright/stackwright/pkg/run"
)

// The audit log of a run has each command once, though the run keeps only the newest, and no state that the run has reached by itself.
func TestAudit(t *testing.T) {
	table := open(t, &wire{page: 3})
	r := planned(t, table, 1)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var want []run.AuditEntry
	for i := range 30 {
		c := run.GivenCommand{ID: string(rune('a' + i)), Command: run.Pause, Who: "ann", Why: "a check", At: noon.Add(time.Duration(i) * time.Minute)}
		for range 2 { // the request is delivered twice
			_, err := table.RecordCommand(t.Context(), r.ID, c)
			must(t, err)
		}
		want = append(want, run.AuditEntry{Run: r.ID, Time: c.At, What: "pause", Who: "ann", Why: "a check"})
	}
	now, err := table.Run(t.Context(), r.ID)
	must(t, err)
	now.State = run.StateWaiting
	must(t, table.MarkWaiting(t.Context(), now))
	got, err := table.Audit(t.Context(), r.ID)
	must(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A lock that is released though its run cannot be read is one entry.
func TestAuditOfRelease(t *testing.T) {
	table := open(t, &wire{})
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	must(t, table.Release(t.Context(), "shop@prod", "lost", run.Lock{}, run.GivenCommand{ID: "request", Command: run.Cancel, Who: "ann", Why: "it is lost", At: noon}))
	got, err := table.Audit(t.Context(), "lost")
	must(t, err)
	if d := cmp.Diff([]run.AuditEntry{{Run: "lost", Time: noon, What: "cancel", Who: "ann", Why: "it is lost"}}, got); d != "" {
		t.Error(d)
	}
}
