package api_test

import (
	"testing"
	"time"

	"github.com/stackwright/stackwright/pkg/entry/report"
	"github.com/stackwright/stackwright/pkg/run"
)

// Snapshots are listed with the revisions that they name, also if the runs of these are not recorded any more, and these revisions are listed too.
func TestSnapshots(t *testing.T) {
	const route = "GET" + ofShop + "/snapshots"
	if got := read[report.SnapshotPage](t, newApp(), route); got.Snapshots == nil || len(got.Snapshots) > 0 {
		t.Errorf("%+v", got)
	}
	h := deployedBefore()
	h.history.Successful = h.history.Successful[:1]
	h.history.Snapshots = []run.Snapshot{
		{Name: "now", Run: newest, Who: "ann", Made: noon, Reason: "a test", Revision: h.runs[1].AsRevision()},
		{Name: "before", Run: newest, Who: "bob", Made: noon.Add(-time.Hour), Revision: old},
	}
	got := read[report.SnapshotPage](t, h, route).Snapshots
	if len(got) != 2 || got[0].Snapshot != "now" || !got[0].Revision.Current || got[0].Reason != "a test" || got[1].Who != "bob" || got[1].Revision.Run != old.Run || got[1].Revision.Current {
		t.Errorf("%+v", got)
	}
	page := read[report.RevisionPage](t, h, "GET"+ofShop+"/revisions")
	if n := len(page.Revisions); n == 0 || page.Revisions[n-1].Run != old.Run {
		t.Errorf("%+v", page.Revisions)
	}
}

// A restore names no files. The same key is the same restore, and not one of another snapshot.
func TestRestoreOfASnapshot(t *testing.T) {
	h := deployedBefore()
	const key = "header.idempotency-key=a"
	r, said := h.ask(t, call(runs, `{"operation":"restore","options":{"snapshot":"monday"}}`, key))
	if r.StatusCode != 202 || len(h.requested) != 1 || h.requested[0].Snapshot != "monday" {
		t.Fatalf("%d %s, %+v", r.StatusCode, r.Body, h.requested)
	}
	if again, same := h.ask(t, call(runs, `{"operation":"restore","options":{"snapshot":"monday"}}`, key)); again.StatusCode != 202 || same.Run != said.Run {
		t.Errorf("%d %s", again.StatusCode, again.Body)
	}
	if other, _ := h.ask(t, call(runs, `{"operation":"restore","options":{"snapshot":"tuesday"}}`, key)); other.StatusCode != 409 {
		t.Errorf("%d %s", other.StatusCode, other.Body)
	}
}
